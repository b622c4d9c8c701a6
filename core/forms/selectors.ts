// Builds CSS selectors from untrusted names. Escapes every character that has a special meaning in CSS, so that a selector matches only
// elements with exactly that name.

const plainIdentifierPattern = /^[A-Za-z_-][A-Za-z0-9_-]*$/;
const maxSelectorNameLength = 200;

/**
 * Escapes a name so that it is one identifier in a selector. Escapes at least the characters that CSSOM escapes ("serialize an
 * identifier").
 */
const escapeIdentifier = (name: string): string => {
  if (plainIdentifierPattern.test(name) && !/^-?$|^-[0-9]|^--$/.test(name)) return name;
  return [...name]
    .map((character, at) => {
      const mustEscape = /[0-9]/.test(character) && (at === 0 || (at === 1 && name.startsWith("-")));
      if (/[A-Za-z0-9_-]/.test(character) && !mustEscape && name !== "-") return character;
      const code = character.codePointAt(0) as number;
      return code >= 0x80 ? character : `\\${code.toString(16)} `;
    })
    .join("");
};

/** Quotes and escapes an attribute value for a selector. */
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

/** Builds a selector for an ID. Returns null if the ID cannot be used in one. */
export const buildIdSelector = (id: string): string | null => (isUsableName(id) ? `#${escapeIdentifier(id)}` : null);

export const buildAttributeSelector = (tag: string, attribute: string, value: string): string | null =>
  isUsableName(value) ? `${tag}[${attribute}=${quoteValue(value)}]` : null;

export const buildNthSelector = (tag: string, at: number): string => `${tag}:nth-of-type(${at})`;
