// JSON for a reader that is a model: whatever draws nothing, or changes the order in which a line is read, is written as its number.
// The value is the same; what others wrote into it can hide nothing from whoever looks at the text.

// Controls, direction marks, default-ignorables with variation selectors and tag characters, separators, noncharacters. All of them can
// stand only inside strings.
const invisibleCharacters =
  /[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}]/gu;

const escapeCharacter = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

export const toVisibleJson = (value: object): string => JSON.stringify(value).replaceAll(invisibleCharacters, escapeCharacter);

const replaceInvisibleIn = (value: unknown, isForeign: boolean, foreign: ReadonlySet<string>): unknown => {
  if (typeof value === "string")
    return isForeign ? value.replaceAll(invisibleCharacters, (hidden) => "\ufffd".repeat(hidden.length)) : value;
  if (Array.isArray(value)) return value.map((one) => replaceInvisibleIn(one, isForeign, foreign));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, replaceInvisibleIn(inner, isForeign || foreign.has(key), foreign)]),
  );
};

/** The same value for programs: in what others wrote, under these names, a replacement character stands for what draws nothing. */
export const toVisibleValue = (value: object, foreign: ReadonlySet<string>): object => replaceInvisibleIn(value, false, foreign) as object;
