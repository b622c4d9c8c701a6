// What is pasted into the page. Put together here and nowhere else, from the mapping alone: every value is an attribute's, and every
// character that could end it is escaped.

const attributeEscapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Whatever the text holds, it stays the value of its attribute. Line breaks and other controls become references too. */
const escapeAttribute = (text: string): string =>
  text
    .replace(/[&<>"'`]/g, (character) => attributeEscapes[character] as string)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => `&#${character.charCodeAt(0)};`);

/** One attribute a line, in the given order; those without a value are left out. */
export const renderScriptTag = (address: string, attributes: Readonly<Record<string, string | null>>): string => {
  const lines = Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [`  ${name}="${escapeAttribute(value)}"`]));
  return `${[`<script async src="${escapeAttribute(address)}"`, ...lines].join("\n")}></script>`;
};

/** As `data-entities` is read: bars separate; a single name with a comma ends in one, so that it is not taken for two. */
export const formatEntitiesAttribute = (entities: readonly string[]): string =>
  entities.length === 1 && entities[0]?.includes(",") ? `${entities[0]}|` : entities.join("|");
