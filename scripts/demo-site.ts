// The demo business's website, which has its own origin: a form with the page script, a server that receives the form, and policies to
// capture. The webhook receivers of the demo data and the payment provider mock listen on the same port.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { handleProviderRequest, type PaymentProviderMock } from "./demo-site/payment-provider-mock.ts";
import * as pages from "./demo-site/pages.ts";
import type { DemoSite } from "./demo-site/pages.ts";

export type { DemoSite };

/** Paths of the webhook endpoints in the demo data (demo-month/receiver.ts). */
const receiverPaths: readonly string[] = ["/webhooks/crm", "/webhooks/dialer"];

const maxBytes = 64 * 1_024; // the demo forms send far less than this

/** Parses the form entries. Returns null if the body exceeds the limit. */
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

/**
 * Builds a strict Content Security Policy that requires trusted types. `scripts` are the allowed script sources, by default the origin of
 * the page script.
 */
const buildCsp = (site: DemoSite, scripts = site.cdnOrigin): string =>
  `default-src 'none'; style-src 'self'; img-src data:; script-src ${scripts}; connect-src ${site.cdnOrigin}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;

const openerPolicies = ["same-origin", "same-origin-allow-popups", "noopener-allow-popups"];

/**
 * Returns the response headers that the query selects, as in `/share?opener=same-origin&referrer=none`, `?frame=own` and `?trust=nonce`.
 * They simulate sites with other policies.
 */
const selectHeaders = (site: DemoSite, query: URLSearchParams, nonce: string): Readonly<Record<string, string>> => {
  const opener = query.get("opener") ?? "";
  return {
    ...(openerPolicies.includes(opener) && { "cross-origin-opener-policy": opener }),
    ...(query.get("referrer") === "none" && { "referrer-policy": "no-referrer" }),
    ...(query.get("frame") === "own" && { "content-security-policy": buildCsp(site).replace("ancestors 'none'", "ancestors 'self'") }),
    ...(query.get("trust") === "nonce" && { "content-security-policy": buildCsp(site, `'nonce-${nonce}' 'strict-dynamic'`) }),
  };
};

const handleRequest = async (
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
  if (request.method === "POST" && receiverPaths.includes(pathname)) {
    request.resume(); // this receiver ignores the event's body
    response.writeHead(200, { "content-type": "application/json" }).end('{"received":true}');
  } else if (request.method === "POST" && pathname === "/thanks") {
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
      // A request usually fails because the visitor disconnected before sending the whole form.
      handleRequest(site, provider, request, response).catch(() => response.destroy());
    });
    server.once("error", reject);
    server.listen(site.port, "127.0.0.1", () => resolve(server));
  });
