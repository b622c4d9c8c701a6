// The guides of docs/ as the service serves them at /docs/<name>: rendered once, when the pages are built, so that the Worker carries
// text and no renderer. A link between guides stays a link; what is only in the repository is named and not linked.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Marked, type Tokens } from "marked";
import { escaped } from "../core/mail/message.ts";

/** Served in this order. A guide more is one line. */
export const served = [
  "first-hour",
  "widget",
  "sharing",
  "webhooks",
  "sandbox",
  "kit",
  "withdrawal",
  "evidence-pack",
  "fingerprints",
  "policies",
  "agents",
] as const;

const sourceOf = (name: string): string => readFileSync(`docs/${name}.md`, "utf8");

/** The images that guides show, for the build to serve. */
export const guideImages = (): string[] => [
  ...new Set(served.flatMap((name) => [...sourceOf(name).matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, path]) => `docs/${path}`))),
];

/** As GitHub names a heading, so that a link to one works in both places. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
    .replaceAll(" ", "-");

interface Guide {
  readonly title: string;
  readonly sections: readonly { readonly id: string; readonly title: string }[];
  readonly html: string;
}

const addressOf = (target: string): string | null => {
  if (/^https:|^#/.test(target)) return target;
  const [, name, fragment = ""] = /^([a-z-]+)\.md(#.*)?$/.exec(target) ?? [];
  return (served as readonly (string | undefined)[]).includes(name) ? `/docs/${name}${fragment}` : null;
};

/** `addresses`: where an image is served, by its file name. */
const guideOf = (name: string, addresses: Readonly<Record<string, string>>): Guide => {
  const sections: { id: string; title: string }[] = [];
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = slugOf(text);
        if (depth === 1) title = text;
        if (depth === 2) sections.push({ id, title: text.replaceAll("`", "") });
        return depth === 1 ? "" : `<h${depth} id="${id}" tabindex="-1">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const address = addressOf(href);
        const inner = this.parser.parseInline(tokens);
        return address === null ? inner : `<a href="${escaped(address)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const address = addresses[basename(href)];
        if (address === undefined) throw new Error(`guides: ${name} shows ${href}, which is not served`);
        return `<img src="${address}" alt="${escaped(text)}" loading="lazy">`;
      },
      code({ text }: Tokens.Code) {
        return `<pre translate="no"><code>${escaped(text)}</code></pre>\n`;
      },
      // Each cell knows its column, for screens on which cells stand one under the other.
      table({ header, rows }: Tokens.Table) {
        const inline = ({ tokens }: Tokens.TableCell): string => this.parser.parseInline(tokens);
        const head = header.map((cell) => (cell.text === "" ? "<td></td>" : `<th scope="col">${inline(cell)}</th>`)).join("");
        const body = rows.map(
          (row) =>
            `<tr>${row.map((cell, at) => `<td data-column="${escaped(header[at]?.text ?? "")}">${inline(cell)}</td>`).join("")}</tr>`,
        );
        return `<div class="rows"><table><thead><tr>${head}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>\n`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return escaped(text);
      },
    },
  });
  return { html: marked.parse(sourceOf(name), { async: false }), title, sections };
};

export const guidesModule = (addresses: Readonly<Record<string, string>>): string =>
  [
    "// Written by scripts/build.ts: the guides of docs/, rendered by scripts/guides.ts.",
    "export const guides: Readonly<",
    "  Record<string, { readonly title: string; readonly sections: readonly { readonly id: string; readonly title: string }[]; readonly html: string }>",
    `> = ${JSON.stringify(Object.fromEntries(served.map((name) => [name, guideOf(name, addresses)])), null, 2)};`,
    "",
  ].join("\n");
