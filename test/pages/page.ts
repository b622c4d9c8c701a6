// Helpers that request pages over HTTP and read them with an HTML parser.
import { DomUtils, parseDocument } from "htmlparser2";
import { call, type TestResponse, type Call } from "../support/world.ts";

type Node = Parameters<typeof DomUtils.textContent>[0];
export type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

export interface ReadPage extends TestResponse {
  readonly document: ReturnType<typeof parseDocument>;
}

export const read = async (path: string, init: RequestInit = {}, callPage: Call = call): Promise<ReadPage> => {
  const response = await callPage(path, init);
  return { ...response, document: parseDocument(response.text) };
};

export const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Safari/537.36";

export const open = (certId: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<ReadPage> =>
  read(`/c/${certId}`, { ...init, headers: { "user-agent": browser, ...headers } });

export const extractText = (node: Node): string => DomUtils.textContent(node);

const inLine: ReadonlySet<string> = new Set(["a", "bdi", "code", "span", "time", "wbr"]);

/** Returns the visible text, with blocks separated and whitespace collapsed. */
export const extractWords = (node: Node): string => {
  const joinWords = (part: Node): string => {
    if (Array.isArray(part)) return part.map(joinWords).join("");
    if (!("children" in part)) return extractText(part);
    const text = DomUtils.getChildren(part).map(joinWords).join("");
    return "name" in part && inLine.has(part.name) ? text : ` ${text} `;
  };
  return joinWords(node).replaceAll(/\s+/g, " ").trim();
};

type Root = Parameters<typeof DomUtils.getElementsByTagName>[1];
export const listElements = (root: Root): Element[] => DomUtils.getElementsByTagName("*", root, true);
export const findByTagName = (root: Root, name: string): Element[] => DomUtils.getElementsByTagName(name, root, true);
export const withAttribute = (root: Root, name: string, value: string): Element[] =>
  listElements(root).filter((element) => element.attribs[name] === value);

/** Returns the text of every element that shows this member of the evidence record. */
export const listBoundTexts = (page: ReadPage, member: string): string[] =>
  withAttribute(page.document, "data-bound", member).map(extractText);

export const withClass = (root: Root, name: string): Element[] =>
  listElements(root).filter((element) => element.attribs.class?.split(" ").includes(name));

export const findSection = (page: ReadPage, name: string): Element => {
  const found = findByTagName(page.document, "section").find((element) => element.attribs["aria-labelledby"] === `${name}-heading`);
  if (found === undefined) throw new Error(`the page has no section ${name}`);
  return found;
};
