// Generates variants of a text in which one byte is changed.
import { encodeUtf8 } from "../../core/bytes.ts";

const masks = [0x01, 0x20, 0x80]; // the lowest bit, the bit that changes a letter's case, and the bit that ASCII never sets

/** Yields three variants of the text for each of its bytes, or null for a variant that is not valid UTF-8. */
export function* generateFlippedTexts(text: string): Generator<string | null> {
  const bytes = encodeUtf8(text);
  for (let at = 0; at < bytes.length; at += 1) {
    for (const mask of masks) {
      const changed = bytes.slice();
      changed[at] = (changed[at] as number) ^ mask;
      try {
        yield new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(changed);
      } catch {
        yield null;
      }
    }
  }
}
