// Which text may be sealed (CONTRACT 18). A certificate is read by people, so a name must look like what it is: nothing
// invisible, nothing that reorders the line it stands in. Refused, never repaired: repairing would seal something else.
import { ok, refuse, type Result } from "./result.ts";

const whiteSpacePattern = /\p{White_Space}/u;

/**
 * Ends trimmed of Unicode White_Space only. U+FEFF is not white space: it stays, and is then refused as invisible.
 * Character by character, not by a pattern: `\s+$` tries anew at every space of a long inner run, which is a minute of
 * work for a body of 256 KiB.
 */
export const trimWhiteSpace = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && whiteSpacePattern.test(text[start] as string)) start += 1;
  while (end > start && whiteSpacePattern.test(text[end - 1] as string)) end -= 1;
  return text.slice(start, end);
};

const controlPattern = /[\u0000-\u001f\u007f-\u009f]/;
const controlExceptLineBreakPattern = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const lineSeparatorPattern = /[\u2028\u2029]/;
const bidiControlPattern = /[\u202a-\u202e\u2066-\u2069]/;
const bidiOverridePattern = /[\u202d\u202e]/;
const noncharacterPattern = /\p{Noncharacter_Code_Point}/u;
// Everything that draws nothing, except variation selectors (they choose how the character before them looks) and the
// two joiners, which real names need: Persian and Indic words, and emoji made of several.
const invisiblePattern = /[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]]/v;
const looseJoinerPattern = /(?:^|[\p{White_Space}\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?:$|\p{White_Space})/u;
const visiblePattern = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Mark}\p{Cc}\u2800\ufff9-\ufffb]/u;

/** True when at least one character draws something. */
export const hasVisibleCharacter = (text: string): boolean => visiblePattern.test(text);

/** Names, purposes and field values: one line of visible text. Null, or the rule that is broken, in constant words. */
export const validateLine = (text: string): string | null => {
  if (controlPattern.test(text)) return "must not hold control characters";
  if (lineSeparatorPattern.test(text)) return "must be one line";
  if (bidiControlPattern.test(text)) return "must not hold characters that change the direction of text";
  if (noncharacterPattern.test(text)) return "must not hold noncharacters";
  if (invisiblePattern.test(text) || looseJoinerPattern.test(text)) return "must not hold invisible characters";
  if (text !== "" && !hasVisibleCharacter(text)) return "must hold something visible";
  return null;
};

/** A line as it was meant, without what stands around it; null for an empty one. Refuses by the name of the input. */
export const parseLine = (input: string, text: string | null, maxLength: number): Result<string | null, "invalid_request"> => {
  const line = trimWhiteSpace(text ?? "");
  const fault = line.length > maxLength ? `must be at most ${maxLength} characters` : validateLine(line);
  return fault === null ? ok(line || null) : refuse("invalid_request", `${input}: ${fault}.`);
};

/** Likewise, of a name that has to be there. */
export const parseName = (text: string, maxLength: number): Result<string, "invalid_request"> => {
  const name = parseLine("name", text, maxLength);
  if (!name.ok) return name;
  return name.value === null ? refuse("invalid_request", "name: must hold something visible.") : ok(name.value);
};

/** A disclosure is kept byte for byte, with its line breaks and tabs; only what would falsify the display is refused. */
export const validateMultilineText = (text: string): string | null => {
  if (controlExceptLineBreakPattern.test(text)) return "must not hold control characters other than tab and line breaks";
  if (bidiOverridePattern.test(text)) return "must not hold direction overrides";
  if (!hasVisibleCharacter(text)) return "must hold something visible";
  return null;
};
