// Removes characters that the API refuses or replaces.

// The invisible characters that the API refuses in names and replaces in field values. Joiners and variation selectors are part of some
// scripts and of emoji, so they stay.
const invisibleCharacters = /(?!\p{Join_C}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\p{DI}\ufff9-\ufffb]/gu;

/** Removes invisible characters, such as the direction marks in phone numbers that were copied from contact apps. */
export function removeInvisible(text: string): string {
  return text.replace(invisibleCharacters, "");
}

/**
 * Returns the text as one line without characters that the API refuses. An attribute that spans several lines of HTML has line breaks, and
 * a pasted name can have a soft hyphen.
 */
export function toLine(text: string): string {
  return removeInvisible(text.replace(/\s*[\t-\r\u2028\u2029]\s*/g, " "))
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .trim();
}
