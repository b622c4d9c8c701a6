// Shortens text that is too long. This is separate from text.ts, because the verifiers that run in browsers include text.ts, and old
// browsers lack `Intl.Segmenter`.
import { once } from "./once.ts";

const getSegmenter = once(() => new Intl.Segmenter(undefined, { granularity: "grapheme" }));

/**
 * Returns the start of `text`, at most `maxLength` UTF-16 code units long. Never splits what a reader sees as one character (such as an
 * emoji, a flag or a letter with its accents), unless that character alone is longer than the limit. The result contains no lone
 * surrogates, even if `text` does.
 */
export const cutText = (text: string, maxLength: number): string => {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length <= maxLength) return wellFormed;
  const end = getSegmenter().segment(wellFormed).containing(maxLength)?.index ?? maxLength;
  if (end > 0) return wellFormed.slice(0, end);
  // The first character alone is longer than the limit, for example a letter with a hundred accents.
  const isInsidePair = (wellFormed.codePointAt(maxLength - 1) ?? 0) > 0xffff;
  return wellFormed.slice(0, isInsidePair ? maxLength - 1 : maxLength);
};
