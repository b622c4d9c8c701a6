// Finds text that can mislead readers: invisible characters, and letters of one alphabet that look like those of another. Names and
// disclosure texts come from third parties and are shown exactly as they were signed, so pages warn about misleading text. A warning does
// not mean that the text is malicious, because most text with these characters is legitimate.

/** `code` is written like `U+200B`. */
export interface InvisibleCharacter {
  readonly code: string;
  readonly count: number;
}

export interface TextAppearance {
  readonly invisibleCharacters: readonly InvisibleCharacter[];
  /** Unicode names of the alphabets that are mixed within a word or imitate Latin. Empty if there are none. */
  readonly alphabets: readonly string[];
}

// U+2800 is the braille pattern without dots, which is blank.
const invisiblePattern = /[\p{Default_Ignorable_Code_Point}\u2800]/u;
// Scripts whose ordinary spelling uses zero-width joiners or non-joiners.
const joiningScriptPattern =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u;
const emojiPattern = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}/u;
// Digits count as emoji here, because a keycap emoji is a digit followed by a variation selector.
const selectorBasePattern = /\p{Emoji}|\p{Script=Han}|\p{Script=Mongolian}/u;
const isJoiner = (character: string): boolean => character === "\u200c" || character === "\u200d";
const variationSelectorPattern = /\p{Variation_Selector}/u;

const isOrdinarySpelling = (character: string, before: string): boolean =>
  isJoiner(character)
    ? joiningScriptPattern.test(before) || emojiPattern.test(before)
    : variationSelectorPattern.test(character) && selectorBasePattern.test(before);

const listInvisibleCharacters = (text: string): InvisibleCharacter[] => {
  const counts = new Map<string, number>();
  let before = "";
  for (const character of text) {
    if (invisiblePattern.test(character)) {
      // Keep `before` on the last visible character, because a selector and a joiner can both follow one emoji.
      if (isOrdinarySpelling(character, before)) continue;
      const code = `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;
      counts.set(code, (counts.get(code) ?? 0) + 1);
    }
    before = character;
  }
  return [...counts].map(([code, count]) => ({ code, count }));
};

// Alphabets that have letters with similar shapes. Letters of other scripts (Arabic, Han, Thai) cannot be mistaken for Latin letters.
const alphabetPatterns = [
  ["Latin", /\p{Script=Latin}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Coptic", /\p{Script=Coptic}/u],
  ["Lisu", /\p{Script=Lisu}/u],
] as const;

// Letters of the other alphabets that look exactly like a Latin letter in most fonts.
const latinLookAlikePattern =
  /^[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bd\u03bf\u03f2\u03f3\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0422\u0425\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d\u0555\u0578\u057d\u0585]+$/u;

const wordPattern = /[\p{Letter}\p{Mark}]+/gu;

/** Skips single letters, because many languages have words of one letter. */
const looksLatin = (word: string): boolean => word.length > 1 && latinLookAlikePattern.test(word);

const listMixedAlphabets = (text: string): string[] => {
  const mixed = new Set<string>();
  const amongLatin = /\p{Script=Latin}/u.test(text);
  for (const [word] of text.matchAll(wordPattern)) {
    const used = alphabetPatterns.filter(([, pattern]) => pattern.test(word)).map(([name]) => name);
    if (used.length > 1 || (amongLatin && looksLatin(word))) for (const name of used) mixed.add(name);
  }
  if (mixed.size === 1) mixed.add("Latin");
  return [...mixed].sort();
};

export const analyzeAppearance = (text: string): TextAppearance => ({
  invisibleCharacters: listInvisibleCharacters(text),
  alphabets: listMixedAlphabets(text),
});
