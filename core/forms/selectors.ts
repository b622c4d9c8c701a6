// CSS selectors out of names that strangers chose. Every character that means something in CSS is written as an escape, so a name
// can match its own element and nothing more.

const plainIdentifierPattern = /^[A-Za-z_-][A-Za-z0-9_-]*$/;
const maxSelectorNameLength = 200; // a name longer than that is no name; a selector of it would only be a burden

/** A name as an identifier (CSSOM, serialize an identifier). */
const escapeIdentifier = (name: string): string => {
  if (plainIdentifierPattern.test(name) && !/^-?$|^-[0-9]|^--$/.test(name)) return name;
  return [...name]
    .map((character, at) => {
      const mustEscape = /[0-9]/.test(character) && (at === 0 || (at === 1 && name.startsWith("-")));
      if (/[A-Za-z0-9_-]/.test(character) && !mustEscape && !(name === "-")) return character;
      const code = character.codePointAt(0) as number;
      return code >= 0x80 ? character : `\\${code.toString(16)} `;
    })
    .join("");
};

/** A value between double quotes. */
const quoteValue = (value: string): string =>
  `"${[...value]
    .map((character) => {
      const code = character.codePointAt(0) as number;
      return character === '"' || character === "\\"
        ? `\\${character}`
        : code < 0x20 || code === 0x7f
          ? `\\${code.toString(16)} `
          : character;
    })
    .join("")}"`;

const isUsableName = (name: string): boolean =>
  name !== "" && name.length <= maxSelectorNameLength && name.isWellFormed() && !name.includes("\u0000");

/** Null for a name that no selector should be made of. */
export const buildIdSelector = (id: string): string | null => (isUsableName(id) ? `#${escapeIdentifier(id)}` : null);

export const buildAttributeSelector = (tag: string, attribute: string, value: string): string | null =>
  isUsableName(value) ? `${tag}[${attribute}=${quoteValue(value)}]` : null;

export const buildNthSelector = (tag: string, at: number): string => `${tag}:nth-of-type(${at})`;
