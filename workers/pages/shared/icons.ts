// Renders the sprite at the end of a page. It contains the shapes of the icons on the page, so browsers load no files for them.
import { iconNames } from "./icon-names.ts";
import { iconShapes } from "./icons.gen.ts";

const names: ReadonlySet<string> = new Set(iconNames);

/** Returns the `href` of an icon for a `use` element. The prefix keeps the ID different from the IDs of headings. */
export const iconHref = (name: string): string => `#i-${name}`;

/** Returns an `svg` element with one `symbol` for each icon that `html` refers to, or an empty string if there are none. */
export const renderSprite = (html: string): string => {
  const used = new Set([...html.matchAll(/<use href="#i-([a-z0-9-]+)"/g)].map(([, name = ""]) => name).filter((name) => names.has(name)));
  if (used.size === 0) return "";
  const symbols = [...used].sort().map((name) => {
    const shapes = iconShapes[name as keyof typeof iconShapes];
    return `<symbol id="i-${name}" viewBox="0 0 24 24">${shapes}</symbol>`;
  });
  return `<svg class="sprite" aria-hidden="true">${symbols.join("")}</svg>`;
};
