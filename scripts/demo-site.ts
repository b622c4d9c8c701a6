// A small business site on another origin, so that the main job can be tried in a browser with one click. It stands for
// any business: a form, a server that receives it, policies to be captured, and the page script beside the form. Behind the same
// port the payment provider has its stand-in.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { handleProviderRequest, type PaymentProviderMock } from "./demo-site/payment-provider-mock.ts";
import * as pages from "./demo-site/pages.ts";
import type { DemoSite } from "./demo-site/pages.ts";

export type { DemoSite };

const maxBytes = 64 * 1_024; // a form of a few fields; more is not this form

/** Null when the body is larger than any form here. */
const parseFormEntries = async (request: IncomingMessage): Promise<[string, string][] | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return [...new URLSearchParams(Buffer.concat(chunks).toString("utf8"))];
};

/** What a careful business sends: its own files, the two addresses that the page script needs, and no markup made by scripts. */
const buildCsp = (site: DemoSite, scripts = site.cdnOrigin): string =>
  `default-src 'none'; style-src 'self'; img-src data:; script-src ${scripts}; connect-src ${site.cdnOrigin}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;

const openerPolicies = ["same-origin", "same-origin-allow-popups", "noopener-allow-popups"];

/** `/share?opener=same-origin&referrer=none`, `?frame=own` and `?trust=nonce`: the same page of a business that sends other headers. */
const selectHeaders = (site: DemoSite, query: URLSearchParams, nonce: string): Readonly<Record<string, string>> => {
  const opener = query.get("opener") ?? "";
  return {
    ...(openerPolicies.includes(opener) && { "cross-origin-opener-policy": opener }),
    ...(query.get("referrer") === "none" && { "referrer-policy": "no-referrer" }),
    ...(query.get("frame") === "own" && { "content-security-policy": buildCsp(site).replace("ancestors 'none'", "ancestors 'self'") }),
    ...(query.get("trust") === "nonce" && { "content-security-policy": buildCsp(site, `'nonce-${nonce}' 'strict-dynamic'`) }),
  };
};

const respond = async (
  site: DemoSite,
  provider: PaymentProviderMock,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  if (await handleProviderRequest(provider, request, response, () => parseFormEntries(request))) return;
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const html = (text: string, status = 200, more: Readonly<Record<string, string>> = {}): void => {
    const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": buildCsp(site), ...more };
    response.writeHead(status, headers).end(text);
  };
  if (request.method === "POST" && pathname === "/thanks") {
    const received = await parseFormEntries(request);
    if (received === null) response.writeHead(413, { connection: "close" }).end();
    else html(pages.renderThanksPage(site, received));
  } else if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
  } else if (pathname === "/site.css") {
    response
      .writeHead(200, { "content-type": "text/css; charset=utf-8" })
      .end(readFileSync(new URL("./demo-site/site.css", import.meta.url)));
  } else if (pathname === "/") html(pages.renderFormPage(site));
  else if (pathname === "/per-recipient") html(pages.renderPerRecipientPage(site));
  else if (pathname === "/share") {
    const nonce = randomUUID();
    html(pages.renderSharePage(site, nonce), 200, selectHeaders(site, searchParams, nonce));
  } else if (pathname === "/thanks") html(pages.renderNothingSentPage());
  else if (pathname === "/privacy") html(pages.renderPrivacyPage());
  else if (pathname === "/terms") html(pages.renderTermsPage());
  else html(pages.renderNotFoundPage(), 404);
};

export const startDemoSite = (site: DemoSite, provider: PaymentProviderMock): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      respond(site, provider, request, response).catch(() => response.destroy()); // the visitor went away in the middle of a form
    });
    server.once("error", reject);
    server.listen(site.port, "127.0.0.1", () => resolve(server));
  });
