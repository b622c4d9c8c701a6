// A simulated browser without JavaScript: it keeps cookies and submits forms.
import { DomUtils, parseDocument } from "htmlparser2";
import { read, extractText, type ReadPage } from "../pages/page.ts";
import { call, type TestResponse, type Call } from "./world.ts";

export interface BrowserSession {
  readonly open: (path: string, headers?: Readonly<Record<string, string>>) => Promise<ReadPage>;
  /** Submits the form on the page with this action. `fields` override the form's own values. */
  readonly send: (page: ReadPage, action: string, fields?: Readonly<Record<string, string>>) => Promise<TestResponse>;
  readonly post: (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TestResponse>;
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

export const createBrowserSession = (cookie = "", send: Call = call, headers: Readonly<Record<string, string>> = {}): BrowserSession => {
  const jar = new Map(
    cookie
      .split("; ")
      .filter((pair) => pair !== "")
      .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
  const buildCookieHeader = (): { readonly cookie?: string } =>
    jar.size === 0 ? {} : { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
  const post: BrowserSession["post"] = async (path, fields, more = {}) => {
    const response = await send(path, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin",
        ...headers,
        ...buildCookieHeader(),
        ...more,
      },
      body: new URLSearchParams(fields).toString(),
      redirect: "manual",
    });
    saveCookies(jar, response);
    return response;
  };
  return {
    jar,
    post,
    open: async (path, more = {}) => {
      const page = await read(path, { headers: { ...headers, ...buildCookieHeader(), ...more }, redirect: "manual" }, send);
      saveCookies(jar, page);
      return page;
    },
    send: (page, action, fields = {}) => post(action, { ...parseFormFields(page, action), ...fields }),
  };
};

/** Returns the input values that a browser would submit for the form with this action. */
export const parseFormFields = ({ document, text }: ReadPage, action: string): Readonly<Record<string, string>> => {
  const form = DomUtils.getElementsByTagName("form", document).find(({ attribs }) => attribs.action === action);
  if (form === undefined) throw new Error(`no form to ${action} in: ${text.slice(0, 2_000)}`);
  return Object.fromEntries(
    DomUtils.getElementsByTagName("input", form)
      .filter(({ attribs }) => !["checkbox", "radio"].includes(attribs.type ?? "") || attribs.checked !== undefined)
      .map(({ attribs }) => [attribs.name as string, attribs.value ?? ""]),
  );
};

export const parsePage = (response: TestResponse): ReadPage => ({ ...response, document: parseDocument(response.text) });

export const getPageText = ({ document }: ReadPage): string => extractText(document).replaceAll(/\s+/g, " ");
export const describeRedirect = ({ status, headers }: TestResponse): string => `${status} ${headers.get("location") ?? ""}`.trim();
