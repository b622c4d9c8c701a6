// Renders the documentation pages that the service serves at /docs/<name>. They are rendered at build time and stored as static assets, so
// the Worker contains neither their text nor a Markdown renderer. Links between served pages stay links; links to other repository files
// become plain text.
import { readFileSync } from "node:fs";
import { basename, posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "../core/mail/message.ts";
import { splitCode } from "../workers/pages/shared/code-tokens.ts";

/** The served pages, each with its folder in docs/. workers/pages/docs/routes.tsx determines their order. */
const servedFolders = {
  "first-hour": "guides",
  widget: "guides",
  sharing: "guides",
  webhooks: "guides",
  sandbox: "guides",
  kit: "guides",
  portal: "guides",
  "integration-helper": "guides",
  withdrawal: "guides",
  errors: "reference",
  events: "reference",
  limits: "reference",
  "page-script": "reference",
  "evidence-pack": "reference",
  fingerprints: "reference",
  policies: "reference",
  ledger: "reference",
  agents: "guides",
} as const;

type ServedGuide = keyof typeof servedFolders;

export const servedGuides = Object.keys(servedFolders) as readonly ServedGuide[];

export const guidePath = (name: ServedGuide): string => `docs/${servedFolders[name]}/${name}.md`;

const readGuide = (name: ServedGuide): string => readFileSync(guidePath(name), "utf8");

export const listGuideImages = (): string[] => [
  ...new Set(
    servedGuides.flatMap((name) =>
      [...readGuide(name).matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path]) =>
        posix.join(posix.dirname(guidePath(name)), path as string),
      ),
    ),
  ),
];

/** Generates heading IDs as GitHub does, so that links to headings work on GitHub and at /docs. */
const toSlug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
    .replaceAll(" ", "-");

/**
 * Shortens the first sentence of a guide for lists of guides: "This page shows how to record a withdrawal." becomes "Record a withdrawal."
 * Throws if the guide does not start with such a sentence.
 */
const summarize = (name: ServedGuide, paragraph: string): string => {
  const text = paragraph.replaceAll("\n", " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const [, subject] = /^This page (?:shows how to|describes|lists) (.+?\.)(?: |$)/.exec(text) ?? [];
  if (subject === undefined) throw new Error(`guides: ${name} does not start with "This page shows how to", "describes" or "lists"`);
  return `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`;
};

interface GuideInfo {
  readonly name: ServedGuide;
  readonly title: string;
  /** What the reader finds in the guide: one sentence in Markdown. */
  readonly summary: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
}

interface Guide extends GuideInfo {
  readonly html: string;
}

const resolveLink = (target: string): string | null => {
  if (/^https:|^#/.test(target)) return target;
  const [, name, fragment = ""] = /^(?:\.\.\/(?:guides|reference)\/)?([a-z-]+)\.md(#.*)?$/.exec(target) ?? [];
  return (servedGuides as readonly (string | undefined)[]).includes(name) ? `/docs/${name}${fragment}` : null;
};

const maxColumnsOfSmallTable = 4; // a table with more columns stacks its cells even on wider screens

/** Captions of code blocks by their language in Markdown. */
const languageNames: Readonly<Record<string, string>> = {
  sh: "Shell",
  console: "Shell",
  html: "HTML",
  js: "JavaScript",
  json: "JSON",
  go: "Go",
  php: "PHP",
  python: "Python",
  toml: "TOML",
};

const renderCodeTokens = (code: string, language: string): string =>
  splitCode(code, language)
    .map(({ kind, text }) => (kind === null ? escapeHtml(text) : `<span class="${kind}">${escapeHtml(text)}</span>`))
    .join("");

const renderCode = (text: string, language: string, id: string): string => {
  const name = languageNames[language] ?? "Example";
  const button = `<button type="button" class="btn bare sm copy" hidden data-copy="${id}" data-copied="Copied" aria-label="Copy ${name}"><svg class="icon" aria-hidden="true"><use href="#i-copy"></use></svg><span>Copy</span></button>`;
  return `<figure class="code"><figcaption>${name} ${button}</figcaption><pre tabindex="0" role="group" aria-label="${name}" translate="no"><code id="${id}">${renderCodeTokens(text, language)}</code></pre></figure>\n`;
};

/** Renders the number of a heading such as "4. Receive withdrawals" in a separate element, so that it can be styled. */
const renderHeadingText = (html: string): string => {
  const [, number, title] = /^(\d+)\. (.*)$/s.exec(html) ?? [];
  if (number === undefined || title === undefined) return html;
  return `<span class="step-no">${number}</span> ${title}`;
};

const renderGuide = (name: ServedGuide, addresses: Readonly<Record<string, string>>): Guide => {
  const sections: { id: string; title: string }[] = [];
  let title = "";
  let summary = "";
  let codeCount = 0;
  let isFirstParagraph = true;
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = toSlug(text);
        if (depth === 1) title = text;
        if (depth === 2) sections.push({ id, title: text.replaceAll("`", "") });
        return depth === 1 ? "" : `<h${depth} id="${id}" tabindex="-1">${renderHeadingText(this.parser.parseInline(tokens))}</h${depth}>\n`;
      },
      paragraph({ tokens, text }: Tokens.Paragraph) {
        const classes = isFirstParagraph ? ' class="lede"' : "";
        if (isFirstParagraph) summary = summarize(name, text);
        isFirstParagraph = false;
        return `<p${classes}>${this.parser.parseInline(tokens)}</p>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const address = resolveLink(href);
        const inner = this.parser.parseInline(tokens);
        return address === null ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const address = addresses[basename(href)];
        if (address === undefined) throw new Error(`guides: ${name} uses the image ${href}, which is not served`);
        // The image links to its own file, because its labels are too small to read in the page on a phone.
        return `<a href="${address}"><img src="${address}" alt="${escapeHtml(text)}" loading="lazy"></a>`;
      },
      code({ text, lang = "" }: Tokens.Code) {
        codeCount += 1;
        return renderCode(text, lang, `code-${codeCount}`);
      },
      // Each cell repeats its column title, because narrow screens stack the cells. The roles are explicit, because browsers drop a table's
      // implicit roles when it is displayed as blocks.
      table({ header, rows }: Tokens.Table) {
        const inline = ({ tokens }: Tokens.TableCell): string => this.parser.parseInline(tokens);
        const head = header.map((cell) =>
          cell.text === "" ? '<td role="cell"></td>' : `<th role="columnheader" scope="col">${inline(cell)}</th>`,
        );
        const body = rows.map((row) => {
          const cells = row.map((cell, at) =>
            at === 0
              ? `<th role="rowheader" scope="row">${inline(cell)}</th>`
              : `<td role="cell" data-label="${escapeHtml(header[at]?.text ?? "")}">${inline(cell)}</td>`,
          );
          return `<tr role="row">${cells.join("")}</tr>`;
        });
        const classes = header.length <= maxColumnsOfSmallTable ? "table few" : "table";
        return `<table class="${classes}" role="table"><thead role="rowgroup"><tr role="row">${head.join("")}</tr></thead><tbody role="rowgroup">${body.join("\n")}</tbody></table>\n`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return escapeHtml(text);
      },
    },
  });
  const html = marked.parse(readGuide(name), { async: false });
  return { name, html, title, summary, sections };
};

/** Renders all guides. `addresses` maps image file names to their served paths. Throws if an image is missing from it. */
export const renderGuides = (addresses: Readonly<Record<string, string>>): readonly Guide[] =>
  servedGuides.map((name) => renderGuide(name, addresses));

/** Returns the source of workers/pages/guides.gen.ts. `path` is the path of the guide's HTML among the static assets. */
export const renderGuidesModule = (guides: readonly (GuideInfo & { readonly path: string })[]): string =>
  [
    "// Written by scripts/build.ts: the guides in docs/, without their HTML, which is a static asset.",
    "export const guides: Readonly<",
    "  Record<",
    "    string,",
    "    {",
    "      readonly title: string;",
    "      readonly summary: string;",
    "      readonly sections: readonly { readonly id: string; readonly title: string }[];",
    "      readonly path: string;",
    "    }",
    "  >",
    `> = ${JSON.stringify(Object.fromEntries(guides.map(({ name, ...guide }) => [name, guide])), null, 2)};`,
    "",
  ].join("\n");
