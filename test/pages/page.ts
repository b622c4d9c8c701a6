// Helpers that request pages over HTTP and read them with an HTML parser.
import { DomUtils, parseDocument } from "htmlparser2";
import { call, type TestResponse, type Call } from "../support/world.ts";

type Node = Parameters<typeof DomUtils.textContent>[0];
export type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

export interface ReadPage extends TestResponse {
  readonly document: ReturnType<typeof parseDocument>;
}

export const read = async (path: string, init: RequestInit = {}, by: Call = call): Promise<ReadPage> => {
  const answer = await by(path, init);
  return { ...answer, document: parseDocument(answer.text) };
};

/** The user agent of a real browser. */
export const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36";

export const open = (certId: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<ReadPage> =>
  read(`/c/${certId}`, { ...init, headers: { "user-agent": browser, ...headers } });

export const textOf = (node: Node): string => DomUtils.textContent(node);

const inLine: ReadonlySet<string> = new Set(["a", "bdi", "code", "span", "time", "wbr"]);

/** Returns the visible text, with blocks separated and whitespace collapsed. */
export const words = (node: Node): string => {
  const spaced = (part: Node): string => {
    if (Array.isArray(part)) return part.map(spaced).join("");
    if (!("children" in part)) return textOf(part);
    const text = DomUtils.getChildren(part).map(spaced).join("");
    return "name" in part && inLine.has(part.name) ? text : ` ${text} `;
  };
  return spaced(node).replaceAll(/\s+/g, " ").trim();
};

type Root = Parameters<typeof DomUtils.getElementsByTagName>[1];
export const elementsIn = (root: Root): Element[] => DomUtils.getElementsByTagName("*", root, true);
export const named = (root: Root, name: string): Element[] => DomUtils.getElementsByTagName(name, root, true);
export const withAttribute = (root: Root, name: string, value: string): Element[] =>
  elementsIn(root).filter((element) => element.attribs[name] === value);

/** Returns the text of every element that shows this member of the record. */
export const bound = (page: ReadPage, member: string): string[] => withAttribute(page.document, "data-bound", member).map(textOf);

export const withClass = (root: Root, name: string): Element[] =>
  elementsIn(root).filter((element) => element.attribs.class?.split(" ").includes(name));

export const section = (page: ReadPage, name: string): Element => {
  const found = named(page.document, "section").find((element) => element.attribs["aria-labelledby"] === `${name}-heading`);
  if (found === undefined) throw new Error(`the page has no section ${name}`);
  return found;
};
