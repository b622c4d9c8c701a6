// JSON for a reader that is a model: whatever draws nothing, or changes the order in which a line is read, is written as its number.
// The value is the same; what others wrote into it can hide nothing from whoever looks at the text.

// Controls, direction marks, default-ignorables with variation selectors and tag characters, separators, noncharacters. All of them can
// stand only inside strings.
const unseen =
  /[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

export const visibleJson = (value: object): string => JSON.stringify(value).replaceAll(unseen, escaped);
