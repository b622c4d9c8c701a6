// A business's page and, on another site, a fake service. The service consists of the widget, a consent sheet and an API that redeems
// codes. The sheet exchanges the same messages as the real sheet, and shares or declines when a button is clicked. Every request is
// recorded.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWidget } from "../../widget/build.mjs";

const persona = {
  email: "pat@example.com",
  phone: "+12025550123",
  first_name: "Pat",
  last_name: "Sample",
  city: null,
  country: "US",
} as const;

export interface SheetRequest {
  readonly query: URLSearchParams;
  readonly referer: string | undefined;
}

export interface Redemption {
  readonly body: Readonly<Record<string, string>>;
  readonly key: string;
  readonly origin: string;
  readonly status: number;
}

/** The behavior of the page, the sheet and the API. Tests change it between requests. */
export interface FakeServiceSettings {
  html: string;
  /** HTML of /page-inner, which the page can embed in a frame. */
  inner: string;
  /** Response headers of the business site. */
  headers: Record<string, string>;
  sheetHeaders: Record<string, string>;
  /** The service sends the sheet only after this promise resolves. */
  sheetGate: Promise<unknown>;
  /** Serves the sheet without its script, so that only its links work. */
  withoutScript: boolean;
  /** If set, the sheet's URL redirects once with these headers before the sheet is served. */
  hop: Record<string, string> | undefined;
  /**
   * Returns the planned response to the nth redemption, or undefined for the normal response. `lost` uses the code and then breaks the
   * connection. `silent` only breaks the connection.
   */
  redeem: (n: number) => "lost" | "silent" | { status: number; body: unknown } | undefined;
}

export interface FakeService {
  readonly site: string;
  readonly service: string;
  readonly settings: FakeServiceSettings;
  readonly sheetRequests: SheetRequest[];
  readonly redemptions: Redemption[];
  /** The `state` of each request for which a code was created. */
  readonly grants: string[];
  /** The path of each request to the service. */
  readonly loaded: string[];
  readonly reset: () => void;
  readonly stop: () => void;
}

const listen = async (
  host: string,
  handleRequest: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> => {
  const server = createServer((request, response) => {
    handleRequest(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const escapeAttribute = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/**
 * Sends the result to the opener as a message, as the real sheet does. If the opener does not respond, redirects to the page, but only if
 * the referrer proves the page's origin.
 */
const sheetScript = `
const { state, origin, links } = document.body.dataset, found = JSON.parse(links);
let isHeard = false, isReceived = false;
const say = (type, more) => opener && opener.postMessage({ type, state, ...more }, origin);
addEventListener("message", (event) => {
  if (event.origin !== origin || event.data.state !== state) return;
  if (event.data.type === "svc:hello") isHeard = true, document.body.dataset.heard = "yes";
  if (event.data.type === "svc:received") isReceived = true, close();
});
say("svc:ready");
const back = (link) => { if (found[link]) location.href = found[link]; else document.body.append("go back and press the button again"); };
share.onclick = async () => {
  const code = await (await fetch("/decide?" + new URLSearchParams({ state }), { method: "POST" })).text();
  if (!isHeard) return back("code", code);
  say("svc:code", { code });
  setTimeout(() => { if (!isReceived) back("code"); }, 1000);
};
no.onclick = () => { if (isHeard) { say("svc:closed"); close(); } else back("no"); };
`;

export const startFakeService = async (): Promise<FakeService> => {
  const outDir = mkdtempSync(join(tmpdir(), "svc-share-"));
  await buildWidget({ outDir });
  const scripts = new Map(readdirSync(join(outDir, "v1")).map((name) => [`/v1/${name}`, readFileSync(join(outDir, "v1", name))]));
  rmSync(outDir, { recursive: true });

  const buildDefaults = (): FakeServiceSettings => ({
    html: "",
    inner: "",
    headers: {},
    sheetHeaders: {},
    sheetGate: Promise.resolve(),
    withoutScript: false,
    hop: undefined,
    redeem: () => undefined,
  });
  const settings = buildDefaults();
  const sheetRequests: SheetRequest[] = [];
  const redemptions: Redemption[] = [];
  const grants: string[] = [];
  const loaded: string[] = [];
  const codes = new Map<string, { challenge: string; clientId: string; origin: string; scope: string; usedWith?: string }>();

  const site = await listen("localhost", async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    for (const [name, value] of Object.entries(settings.headers)) response.setHeader(name, value);
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      pathname === "/page-inner"
        ? settings.inner
        : pathname.startsWith("/page")
          ? settings.html
          : "<!doctype html><title>Elsewhere</title>",
    );
  });

  const createCode = (query: URLSearchParams): string => {
    const code = `ac_00${createHash("sha256")
      .update(String(query.get("state")))
      .digest("base64url")}`;
    if (!codes.has(code)) {
      const [challenge, clientId, origin, scope] = ["code_challenge", "client_id", "origin", "scope"].map((name) => query.get(name) ?? "");
      codes.set(code, { challenge: challenge!, clientId: clientId!, origin: origin!, scope: scope! });
      grants.push(String(query.get("state")));
    }
    return code;
  };

  const renderSheet = (query: URLSearchParams, referer: string | undefined): string => {
    const [state, origin, returnUrl] = ["state", "origin", "return_url"].map((name) => query.get(name) ?? "");
    const hasEvidence = referer?.startsWith(`${origin}/`) === true && returnUrl !== "" && new URL(returnUrl!).origin === origin;
    const buildReturnUrl = (more: Record<string, string>): string => {
      const url = new URL(returnUrl!);
      for (const [name, value] of Object.entries(more)) url.searchParams.set(name, value);
      return url.href;
    };
    const links = hasEvidence
      ? { code: `/return?${new URLSearchParams({ state: state! })}`, no: buildReturnUrl({ svc_error: "access_denied", svc_state: state! }) }
      : {};
    return `<!doctype html><html lang="en"><title>Sheet</title><body data-state="${escapeAttribute(state!)}" data-origin="${escapeAttribute(origin!)}" data-links="${escapeAttribute(JSON.stringify(links))}">
<button id="share">Share these</button><button id="no">Not now</button>
${Object.entries(links)
  .map(([name, href]) => `<a id="link-${name}" href="${escapeAttribute(href)}">${name}</a>`)
  .join(" ")}
${settings.withoutScript ? "" : `<script>${sheetScript}</script>`}`;
  };

  const requests = new Map<string, URLSearchParams>();
  const service = await listen("127.0.0.1", async (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    loaded.push(url.pathname);
    const sendHtml = (text: string): void => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(text);
    };
    const script = scripts.get(url.pathname);
    if (script !== undefined) {
      response.setHeader("access-control-allow-origin", "*");
      response.setHeader("content-type", "text/javascript; charset=utf-8");
      response.end(script);
    } else if (url.pathname === "/authorize" && settings.hop !== undefined && !url.searchParams.has("hopped")) {
      response.writeHead(302, { ...settings.hop, location: `${url.pathname}${url.search}&hopped=1` }).end();
    } else if (url.pathname === "/authorize") {
      requests.set(url.searchParams.get("state") ?? "", url.searchParams);
      sheetRequests.push({ query: url.searchParams, referer: request.headers.referer });
      await settings.sheetGate;
      for (const [name, value] of Object.entries(settings.sheetHeaders)) response.setHeader(name, value);
      sendHtml(renderSheet(url.searchParams, request.headers.referer));
    } else if (url.pathname === "/decide") {
      sendHtml(createCode(requests.get(url.searchParams.get("state") ?? "")!));
    } else if (url.pathname === "/return") {
      const query = requests.get(url.searchParams.get("state") ?? "")!;
      const back = new URL(query.get("return_url")!);
      back.searchParams.set("svc_code", createCode(query));
      back.searchParams.set("svc_state", query.get("state")!);
      response.writeHead(303, { location: back.href, "referrer-policy": "no-referrer" }).end();
    } else if (url.pathname === "/v1/share/redeem") {
      await redeem(request, response);
    } else response.writeHead(404).end();
  });

  const redeem = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const origin = request.headers.origin ?? "";
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-allow-headers", "content-type, idempotency-key");
    if (request.method === "OPTIONS") {
      response.writeHead(204).end();
      return;
    }
    const body = JSON.parse(await readBody(request)) as Record<string, string>;
    const key = String(request.headers["idempotency-key"]);
    const sendResponse = (status: number, content: unknown): void => {
      redemptions.push({ body, key, origin, status });
      response.statusCode = status;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(content));
    };
    const refuse = (status: number, code: string): void =>
      sendResponse(status, { ok: false, error: { code, message: code }, request_id: "req_1" });
    const planned = settings.redeem(redemptions.length + 1);
    if (planned === "silent" || planned === "lost") {
      const known = codes.get(body.code ?? "");
      if (planned === "lost" && known) known.usedWith = key;
      redemptions.push({ body, key, origin, status: 0 });
      request.socket.resetAndDestroy();
      return;
    }
    if (planned !== undefined) {
      sendResponse(planned.status, planned.body);
      return;
    }
    const code = codes.get(body.code ?? "");
    if (code === undefined || code.clientId !== body.client_id) refuse(400, "code_invalid");
    else if (code.origin !== origin) refuse(403, "origin_mismatch");
    else if (
      createHash("sha256")
        .update(body.code_verifier ?? "")
        .digest("base64url") !== code.challenge
    )
      refuse(400, "pkce_mismatch");
    else if (code.usedWith !== undefined && code.usedWith !== key) refuse(409, "code_used");
    else {
      code.usedWith = key;
      sendResponse(200, {
        ok: true,
        data: {
          share_id: `shr_00${body.code?.slice(5, 29).toLowerCase()}`,
          fingerprint: "ab".repeat(32),
          status: "active",
          scope: code.scope.split(" "),
          fields: persona,
          purpose: "quote",
          granted_at: "2026-11-20T10:05:00.000Z",
          expires_at: "2027-11-20T10:05:00.000Z",
          business_id: "biz_1",
        },
        request_id: "req_1",
      });
    }
  };

  const getPort = (server: Server): number => (server.address() as AddressInfo).port;
  return {
    site: `http://localhost:${getPort(site)}`,
    service: `http://127.0.0.1:${getPort(service)}`,
    settings,
    sheetRequests,
    redemptions,
    grants,
    loaded,
    reset: () => {
      Object.assign(settings, buildDefaults());
      for (const list of [sheetRequests, redemptions, grants, loaded]) list.length = 0;
    },
    stop: () => {
      for (const server of [site, service]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
};
