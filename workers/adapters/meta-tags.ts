// Reads meta tags for domain verification. Only tags in the page's head count, because visitors may have written parts of the body.
import { Parser } from "htmlparser2";

const headElements: ReadonlySet<string> = new Set([
  ...["html", "head", "title", "meta", "link", "script", "style", "base", "noscript", "template"],
]);
const maxHeadLength = 262_144;
const chunkLength = 16_384;
const maxDepth = 100; // limits the work, because the parser's work per tag grows with the number of open elements
const maxContents = 100;

/**
 * Lists the trimmed contents of `<meta name="…">` or `<meta http-equiv="…">` in the page's head. The head ends at `</head>` or at the first
 * element that cannot be part of it.
 */
export const listMetaContents = (html: string, name: string, attribute: "name" | "http-equiv" = "name"): readonly string[] => {
  const contents: string[] = [];
  let depth = 0;
  let unread = 0;
  let isOver = false;
  const parser = new Parser({
    onopentag: (tag, attributes) => {
      depth += 1;
      if (tag === "noscript" || tag === "template") unread += 1;
      isOver ||= depth > maxDepth || (unread === 0 && !headElements.has(tag));
      if (isOver || unread > 0 || tag !== "meta" || attributes[attribute]?.toLowerCase() !== name) return;
      if (attributes.content !== undefined && contents.length < maxContents) contents.push(attributes.content.trim());
    },
    onclosetag: (tag) => {
      depth -= 1;
      if (tag === "noscript" || tag === "template") unread -= 1;
      isOver ||= tag === "head";
    },
  });
  for (let at = 0; at < Math.min(html.length, maxHeadLength) && !isOver; at += chunkLength) parser.write(html.slice(at, at + chunkLength));
  return contents;
};
