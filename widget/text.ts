// Removes characters that the API refuses or replaces.

// The invisible characters that the API refuses in names and replaces in field values, except for joiners and variation selectors, which
// some scripts and emoji need.
const invisibleCharacters = /(?!\p{Join_C}|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\p{DI}\ufff9-\ufffb]/gu;

/** Removes invisible characters, such as the direction marks in phone numbers that were copied from contact apps. */
export function removeInvisible(text: string): string {
  return text.replace(invisibleCharacters, "");
}

/**
 * Returns the text as one line without the characters that the API refuses. For example, an attribute that spans several lines of HTML
 * contains line breaks, and a pasted name can contain a soft hyphen.
 */
export function toLine(text: string): string {
  return removeInvisible(text.replace(/\s*[\t-\r\u2028\u2029]\s*/g, " "))
    .replace(/[\p{Cc}\p{Cs}]/gu, "")
    .trim();
}
