// Validates text before it is sealed in a record. Refuses text with invisible characters, or with characters that change the order of the
// line, because they could make one name look like another. In form fields, each refused character becomes U+FFFD instead, so that one
// wrong character does not prevent the certificate from being issued.
import { ok, refuse, type Result } from "./result.ts";

const whiteSpacePattern = /\p{White_Space}/u;

/**
 * Trims Unicode White_Space from both ends. Keeps U+FEFF, which is not white space, so that validation refuses it as invisible. Checks one
 * character at a time, because the pattern `\s+$` restarts at every space in a long run of spaces, which takes more than 45 seconds for a
 * body of 256 KiB.
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
// Matches characters that are invisible, with two exceptions: variation selectors, which change how the preceding character looks, and the
// two joiners, which Persian and Indic words and some emoji need.
const invisiblePattern = /[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]]/v;
const looseJoinerPattern = /(?:^|[\p{White_Space}\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?:$|\p{White_Space})/u;
const visiblePattern = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Mark}\p{Cc}\u2800\ufff9-\ufffb]/u;

/** Returns whether at least one character is visible. */
export const hasVisibleCharacter = (text: string): boolean => visiblePattern.test(text);

/**
 * Validates names, purposes and field values, which must be one line of visible text. Returns null or, as constant text, the rule that the
 * text breaks.
 */
export const validateLine = (text: string): string | null => {
  if (controlPattern.test(text)) return "must not contain control characters";
  if (lineSeparatorPattern.test(text)) return "must be a single line";
  if (bidiControlPattern.test(text)) return "must not contain characters that change the direction of text";
  if (noncharacterPattern.test(text)) return "must not contain noncharacters";
  if (invisiblePattern.test(text) || looseJoinerPattern.test(text)) return "must not contain invisible characters";
  if (text !== "" && !hasVisibleCharacter(text)) return "must contain a visible character";
  return null;
};

// Matches each character that `validateLine` refuses. The last two alternatives match a joiner that has no character on one side.
const refusedCharacters =
  /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\p{Noncharacter_Code_Point}]|[[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]]|(?<=^|[\p{White_Space}\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?=$|\p{White_Space})/gv;
const replacement = "\ufffd";

/**
 * Replaces every character that `validateLine` refuses, and every lone surrogate, with U+FFFD. If no character is visible, replaces
 * everything except white space. The result passes `validateLine`. Text that already passes it is returned unchanged.
 */
export const replaceRefusedCharacters = (text: string): string => {
  const replaced = text.toWellFormed().replace(refusedCharacters, replacement);
  return replaced === "" || hasVisibleCharacter(replaced) ? replaced : replaced.replace(/[^\p{White_Space}]/gu, replacement);
};

/**
 * Returns the trimmed line, or null if it is empty. Refuses a line that is too long or that breaks a rule of `validateLine`. `input` is the
 * name of the field in the refusal.
 */
export const parseLine = (input: string, text: string | null, maxLength: number): Result<string | null, "invalid_request"> => {
  const line = trimWhiteSpace(text ?? "");
  const fault = line.length > maxLength ? `must be at most ${maxLength} characters` : validateLine(line);
  return fault === null ? ok(line || null) : refuse("invalid_request", `${input}: ${fault}.`);
};

/** Like `parseLine`, but also refuses an empty name. */
export const parseName = (text: string, maxLength: number): Result<string, "invalid_request"> => {
  const name = parseLine("name", text, maxLength);
  if (!name.ok) return name;
  return name.value === null ? refuse("invalid_request", "name: must not be empty.") : ok(name.value);
};

/**
 * Validates disclosures, which may contain line breaks and tabs, and are stored byte for byte. Refuses only control characters, direction
 * overrides, and text without a visible character. Returns the rule that the text breaks, or null.
 */
export const validateMultilineText = (text: string): string | null => {
  if (controlExceptLineBreakPattern.test(text)) return "must not contain control characters other than tabs and line breaks";
  if (bidiOverridePattern.test(text)) return "must not contain direction overrides";
  if (!hasVisibleCharacter(text)) return "must contain a visible character";
  return null;
};
