// Renders the script tag that a business pastes into its page. Every value is rendered as an escaped attribute value.

const attributeEscapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Escapes control characters and every character that could end an attribute value. `kept` is a quote that does not need escaping. */
const escapeAttribute = (text: string, kept = ""): string =>
  text
    .replace(/[&<>"'`]/g, (character) => (character === kept ? character : (attributeEscapes[character] as string)))
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Renders an attribute. A value that contains double quotes, such as JSON, is enclosed in single quotes to keep it readable. */
const renderAttribute = (name: string, value: string): string =>
  value.includes('"') && !value.includes("'") ? `${name}='${escapeAttribute(value, '"')}'` : `${name}="${escapeAttribute(value)}"`;

/** Renders the tag with one attribute per line, in order. Omits attributes whose value is null. */
export const renderScriptTag = (address: string, attributes: Readonly<Record<string, string | null>>): string => {
  const lines = Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [`  ${renderAttribute(name, value)}`]));
  return `${[`<script async ${renderAttribute("src", address)}`, ...lines].join("\n")}></script>`;
};

/**
 * Joins names with vertical bars. If a single name contains a comma, adds a bar at the end, because the page script would otherwise split
 * the name.
 */
export const formatEntitiesAttribute = (entities: readonly string[]): string =>
  entities.length === 1 && entities[0]?.includes(",") ? `${entities[0]}|` : entities.join("|");
