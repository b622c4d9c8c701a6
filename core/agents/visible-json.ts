// JSON for language models. Characters that are invisible or reorder a line are escaped or replaced, so that untrusted text cannot hide
// anything from a reader.

// JSON.stringify writes these characters only inside strings, where a `\u` escape is valid.
const invisibleCharacters =
  /[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}]/gu;

const escapeCharacter = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** Serializes a value with every invisible character as a `\u` escape. */
export const toVisibleJson = (value: object): string => JSON.stringify(value).replaceAll(invisibleCharacters, escapeCharacter);

const replaceInvisibleIn = (value: unknown, isForeign: boolean, foreign: ReadonlySet<string>): unknown => {
  if (typeof value === "string")
    return isForeign ? value.replaceAll(invisibleCharacters, (hidden) => "\ufffd".repeat(hidden.length)) : value;
  if (Array.isArray(value)) return value.map((item) => replaceInvisibleIn(item, isForeign, foreign));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, replaceInvisibleIn(inner, isForeign || foreign.has(key), foreign)]),
  );
};

/**
 * Returns the value with every invisible character replaced by U+FFFD in the properties listed in `foreign` and in everything they contain.
 * Other properties stay unchanged.
 */
export const toVisibleValue = (value: object, foreign: ReadonlySet<string>): object => replaceInvisibleIn(value, false, foreign) as object;
