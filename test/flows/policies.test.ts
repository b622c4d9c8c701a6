// Tests policy capture over real sockets, from a site on this machine (allowed by DEV_FETCH_ALLOW). The site compresses pages, redirects to
// other spellings of its address, and responds slowly or not at all.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createGzip, gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";

type Page = (request: IncomingMessage, response: ServerResponse) => void;

let site: Server;
let service: LocalService;
let port = 0;
let pages: Record<string, Page> = {};
let seen: { readonly host: string; readonly path: string; readonly headers: IncomingMessage["headers"]; closedAfterMs: number | null }[] =
  [];

const createHtmlPage =
  (body: string, headers: Record<string, string> = {}): Page =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(body);
  };

beforeAll(async () => {
  site = createServer((request, response) => {
    const arrived = Date.now();
    const visit = {
      host: request.headers.host ?? "",
      path: request.url ?? "",
      headers: request.headers,
      closedAfterMs: null as number | null,
    };
    seen.push(visit);
    response.on("close", () => {
      visit.closedAfterMs = Date.now() - arrived;
    });
    const page = pages[visit.path];
    if (page === undefined) response.writeHead(404, { "content-type": "text/html" }).end("nothing here");
    else page(request, response);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  port = (site.address() as AddressInfo).port;
  service = await startLocalService({ DEV_FETCH_ALLOW: `localhost:${port}` });
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await service.stop();
});
beforeEach(async () => {
  seen = [];
  pages = {
    "/quote": createHtmlPage('<a href="/privacy">Privacy policy</a> <a href="/terms">Terms of service</a>'),
    "/terms": createHtmlPage("Terms"),
  };
  // Makes earlier captures look old, so that the next certificate triggers a new capture.
  await service.database.batch([
    service.database.prepare("UPDATE policy_captures SET captured_at = 0"),
    service.database.prepare("UPDATE certificates SET policy_page_id = NULL"),
    service.database.prepare("DELETE FROM policy_pages"),
  ]);
});

/** Issues a certificate for a page on the site `at`. Returns the certificate's ID and the time that the request took. */
const issue = async (at = `http://localhost:${port}`): Promise<{ readonly certId: string; readonly ms: number }> => {
  const start = performance.now();
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "text/plain", origin: at },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: { email: "pat@example.com" },
      disclosure_text: "By clicking Send I agree.",
      entities: ["Acme Solar LLC"],
      purpose: "solar quote follow-up",
      page_url: `${at}/quote?email=pat@example.com`,
    }),
  });
  const body = (await response.json()) as { data: { cert_id: string } };
  expect(response.status).toBe(201);
  return { certId: body.data.cert_id, ms: performance.now() - start };
};

interface Policies {
  readonly policies_status: string;
  readonly policies: readonly {
    readonly kind: string;
    readonly source_url: string;
    readonly content_hash: string;
    readonly text: string;
  }[];
}
const read = async (certId: string): Promise<Policies> => {
  const headers = { authorization: `Bearer ${service.world.acme.keys.live}` };
  return ((await (await fetch(`${service.origin}/v1/certs/${certId}`, { headers })).json()) as { data: Policies }).data;
};
const waitForPolicies = async (certId: string, withinMs = 20_000): Promise<Policies> => {
  for (const start = Date.now(); Date.now() - start < withinMs; ) {
    const detail = await read(certId);
    if (detail.policies_status !== "pending") return detail;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("still pending");
};
const listPaths = (): string[] => seen.map(({ path }) => path);

describe("a site on this machine", () => {
  test("is captured, compressed or not, without sending anything about the visitor", async () => {
    const privacy = "<!doctype html><title>Privacy</title><h1>Datenschutz</h1><p>Wir speichern wenig &amp; kurz.</p>";
    pages["/privacy"] = (_, response) => {
      response
        .writeHead(200, { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip", "set-cookie": "id=1" })
        .end(gzipSync(privacy));
    };
    const { certId } = await issue();
    const { policies_status, policies } = await waitForPolicies(certId);
    expect(policies_status).toBe("captured");
    expect(policies.map(({ kind, source_url, text }) => ({ kind, source_url, text }))).toEqual([
      { kind: "privacy", source_url: `http://localhost:${port}/privacy`, text: "Privacy\nDatenschutz\nWir speichern wenig & kurz." },
      { kind: "terms", source_url: `http://localhost:${port}/terms`, text: "Terms" },
    ]);
    for (const { content_hash, text } of policies) expect(content_hash).toBe(sha256Hex(text));
    expect(listPaths()).toEqual(["/", "/quote", "/privacy", "/terms"]);
    for (const { headers } of seen) {
      expect(headers["user-agent"]).toBe("Svc-Policies/1");
      expect([headers.cookie, headers.referer, headers.authorization, headers.origin]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    }
  });

  test.each([
    (at: number) => `http://127.0.0.1:${at}/other`,
    (at: number) => `http://LOCALHOST:${at}/other`,
    (at: number) => `http://2130706433:${at}/other`,
    (at: number) => `//0x7f.1:${at}/other`,
    (at: number) => `http://[::ffff:127.0.0.1]:${at}/other`,
    (at: number) => `http://user@localhost:${at}/other`,
    (at: number) => `http://localhost.:${at}/other`,
  ])("is not reached through a redirect to another spelling of itself (%#)", async (location) => {
    pages["/privacy"] = (_, response) => {
      response.writeHead(302, { location: location(port) }).end();
    };
    pages["/other"] = createHtmlPage("Privacy, reached around the corner");
    const { certId } = await issue();
    expect((await waitForPolicies(certId)).policies.map(({ kind }) => kind)).toEqual(["terms"]);
    expect(listPaths()).not.toContain("/other");
  });

  test("cannot exhaust the memory with a page that decompresses to 200 MB", async () => {
    pages["/privacy"] = (_, response) => {
      response.writeHead(200, { "content-type": "text/html", "content-encoding": "gzip" });
      const gzip = createGzip();
      gzip.pipe(response);
      const block = Buffer.alloc(1 << 20, "x");
      let blocks = 0;
      const writeMore = (): void => {
        while (!response.destroyed && blocks < 200) {
          blocks += 1;
          if (!gzip.write(block)) {
            gzip.once("drain", writeMore);
            return;
          }
        }
        gzip.end();
      };
      response.on("close", () => gzip.destroy());
      writeMore();
    };
    const { certId } = await issue();
    expect((await waitForPolicies(certId)).policies.map(({ kind }) => kind)).toEqual(["terms"]);
  });

  test("is abandoned after ten seconds if it responds slowly, without delaying visitors", async () => {
    const drips: NodeJS.Timeout[] = [];
    const dripPage: Page = (_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      drips.push(setInterval(() => response.write("x"), 200));
    };
    pages["/quote"] = dripPage;
    pages["/"] = (_, response) => {
      response.writeHead(503).end();
    };
    const { certId, ms } = await issue();
    const times = [ms];
    for (let n = 0; n < 10; n += 1) times.push((await issue()).ms);
    expect(Math.max(...times)).toBeLessThan(9_000); // if submissions waited for the capture, one would take ten seconds
    expect((await read(certId)).policies_status).toBe("pending");
    const findDripped = () => seen.find(({ path }) => path === "/quote");
    for (const start = Date.now(); (findDripped()?.closedAfterMs ?? null) === null && Date.now() - start < 40_000; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    drips.forEach(clearInterval);
    expect(findDripped()?.closedAfterMs).toBeGreaterThan(9_000);
    expect(findDripped()?.closedAfterMs).toBeLessThan(20_000);
    expect((await read(certId)).policies_status).toBe("pending"); // the capture is retried later
    expect(listPaths().filter((path) => path === "/quote")).toHaveLength(1); // only one request for all eleven certificates
  });
});

test("captures the policies of the demo site", async () => {
  const { certId } = await issue(service.demoOrigin);
  const { policies } = await waitForPolicies(certId);
  expect(policies.map(({ kind, source_url }) => [kind, source_url])).toEqual([
    ["privacy", `${service.demoOrigin}/privacy`],
    ["terms", `${service.demoOrigin}/terms`],
  ]);
  expect(policies[0]?.text).toContain("Privacy policy");
});
