// Extracts a page's text and links from its markup. Does not try to separate the main content from menus and footers, because anyone must
// be able to reproduce the text of a policy snapshot (docs/reference/policies.md).
import { cutText } from "../../core/cut-text.ts";
import { Parser } from "htmlparser2";
import type { FetchedPage } from "../../core/access/outbound-page.ts";
import { isTooLongReference, resolveReference } from "../../core/access/outbound-url.ts";
import type { PageLink } from "../../core/policies/discovery.ts";
import { normalizePolicyText } from "../../core/policies/snapshot.ts";

export interface PageContent {
  /** The page's text in normalized form. */
  readonly text: string;
  readonly links: readonly PageLink[];
}

const ignoredElements: ReadonlySet<string> = new Set(["script", "style", "noscript", "template"]);
// Tags that can appear within a line of text (HTML phrasing content). Every other tag ends the current line.
const inlineElements: ReadonlySet<string> = new Set([
  ...["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label"],
  "mark",
  ...["q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"],
]);
const linkElements: ReadonlySet<string> = new Set(["a", "area", "link"]);
const maxLinks = 10_000;
// The parser's work per tag grows with the number of open elements. Real pages have fewer than 100 of them at a time. Without a limit, 1
// MiB of opening tags would take ten seconds.
const maxDepth = 1_000;
const chunkLength = 16_384; // a chunk has at most about 5,000 tags, and the depth is checked after each chunk
const maxLinkTextLength = 300; // longer than the text of any link to a policy

/**
 * Resolves a link's URL. Returns null if the link is invalid, points to a fragment of this page, or is relative and the base URL is null.
 */
const resolveLinkTarget = (reference: string, base: string | null, pageUrl: string): string | null => {
  if (base === null && !URL.canParse(reference)) return null;
  const address = resolveReference(reference, base ?? pageUrl);
  return reference.includes("#") && address === resolveReference(pageUrl, pageUrl) ? null : address;
};

const emptyPageContent: PageContent = { text: "", links: [] };

const parseHtml = (page: FetchedPage): PageContent => {
  const pieces: string[] = [];
  const links: PageLink[] = [];
  let unread = 0;
  let depth = 0;
  /**
   * Null if the URL in the page's `<base>` element is too long. Relative links are then ignored, because resolving them against the page's
   * URL would give wrong links.
   */
  let base: string | null = page.url;
  let baseSeen = false;
  let open: { address: string; rel: readonly string[]; text: string; label: string } | null = null;

  const closeLink = (): void => {
    if (open === null) return;
    const text = normalizePolicyText(open.text).replaceAll("\n", " ");
    links.push({ url: open.address, rel: open.rel, text: text === "" ? open.label : text });
    open = null;
  };

  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (ignoredElements.has(name)) unread += 1;
      if (!inlineElements.has(name)) pieces.push("\n");
      if (unread > 0) return;
      if (name === "base" && !baseSeen && attributes.href !== undefined) {
        baseSeen = true;
        base = isTooLongReference(attributes.href, page.url) ? null : (resolveReference(attributes.href, page.url) ?? base);
      }
      if (!linkElements.has(name) || attributes.href === undefined) return;
      closeLink();
      if (links.length === maxLinks) return;
      const address = resolveLinkTarget(attributes.href, base, page.url);
      if (address === null) return;
      const rel = (attributes.rel ?? "")
        .toLowerCase()
        .split(/\s+/)
        .filter((token) => token !== "");
      open = { address, rel, text: "", label: cutText(attributes["aria-label"] ?? attributes.title ?? "", maxLinkTextLength) };
      if (name !== "a") closeLink();
    },
    ontext: (text) => {
      if (unread > 0) return;
      pieces.push(text);
      if (open !== null && open.text.length < maxLinkTextLength) open.text += text;
    },
    onclosetag: (name) => {
      depth -= 1;
      if (ignoredElements.has(name)) unread -= 1;
      if (!inlineElements.has(name)) pieces.push("\n");
      if (name === "a") closeLink();
    },
  });
  for (let at = 0; at < page.body.length; at += chunkLength) {
    parser.write(page.body.slice(at, at + chunkLength));
    if (depth > maxDepth) return emptyPageContent; // return nothing, because truncated text would not match the page
  }
  parser.end();
  closeLink();
  return { text: normalizePolicyText(pieces.join("")), links };
};

export type ParsePage = (page: FetchedPage) => PageContent;

/** Returns the text and links of an HTML page. Plain text has no links. */
export const parsePage: ParsePage = (page) =>
  page.type === "text/html" ? parseHtml(page) : { text: normalizePolicyText(page.body), links: [] };
