// A person's pages in tests, as a browser without script uses them: pages are read, forms are sent with everything that stands in them.
import { DomUtils, parseDocument } from "htmlparser2";
import { read, textOf, type ReadPage } from "../pages/page.ts";
import { call, type TestResponse, type Call } from "./world.ts";

export interface BrowserSession {
  readonly open: (path: string) => Promise<ReadPage>;
  /** Sends the form of a page that goes to `action`, with its hidden fields, and what is filled in besides. */
  readonly send: (page: ReadPage, action: string, fields?: Readonly<Record<string, string>>) => Promise<TestResponse>;
  readonly post: (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TestResponse>;
  /** The cookies that the browser holds. */
  readonly jar: Map<string, string>;
}

const saveCookies = (jar: Map<string, string>, { headers }: TestResponse): void => {
  for (const line of headers.getSetCookie()) {
    const [pair = ""] = line.split(";");
    const at = pair.indexOf("=");
    if (/max-age=0/i.test(line)) jar.delete(pair.slice(0, at));
    else jar.set(pair.slice(0, at), pair.slice(at + 1));
  }
};

/** A browser, with the cookies it comes with. */
export const createBrowserSession = (cookie = "", by: Call = call, headers: Readonly<Record<string, string>> = {}): BrowserSession => {
  const jar = new Map(
    cookie
      .split("; ")
      .filter((pair) => pair !== "")
      .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
  const cookies = (): { readonly cookie?: string } =>
    jar.size === 0 ? {} : { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
  const post: BrowserSession["post"] = async (path, fields, more = {}) => {
    const answer = await by(path, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
        ...headers,
        ...cookies(),
        ...more,
      },
      body: new URLSearchParams(fields).toString(),
      redirect: "manual",
    });
    saveCookies(jar, answer);
    return answer;
  };
  return {
    jar,
    post,
    open: async (path) => {
      const page = await read(path, { headers: { ...headers, ...cookies() }, redirect: "manual" }, by);
      saveCookies(jar, page);
      return page;
    },
    send: (page, action, fields = {}) => post(action, { ...parseFormFields(page, action), ...fields }),
  };
};

/** What the browser would send of a form by itself: hidden fields, ticked boxes, what is filled in. */
export const parseFormFields = ({ document, text }: ReadPage, action: string): Readonly<Record<string, string>> => {
  const form = DomUtils.getElementsByTagName("form", document).find(({ attribs }) => attribs.action === action);
  if (form === undefined) throw new Error(`no form to ${action} in: ${text.slice(0, 2_000)}`);
  return Object.fromEntries(
    DomUtils.getElementsByTagName("input", form)
      .filter(({ attribs }) => !["checkbox", "radio"].includes(attribs.type ?? "") || attribs.checked !== undefined)
      .map(({ attribs }) => [attribs.name as string, attribs.value ?? ""]),
  );
};

/** The page that a form was answered with. */
export const parsePage = (answer: TestResponse): ReadPage => ({ ...answer, document: parseDocument(answer.text) });

export const getPageText = ({ document }: ReadPage): string => textOf(document).replaceAll(/\s+/g, " ");
export const describeRedirect = ({ status, headers }: TestResponse): string => `${status} ${headers.get("location") ?? ""}`.trim();
