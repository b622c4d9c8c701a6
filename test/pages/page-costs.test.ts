// Tests limits on the cost of each page, in database calls and bytes.
import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { buildApp } from "../../workers/app.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { signInCast, mockOutsideWorld, createAcmeRecords, type PortalCast, type Records } from "../support/portal-cast.ts";
import { countDatabaseCalls, type CallCount } from "../support/counted-database.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { createVerifier, grantShare, signInPerson } from "../support/sharing.ts";
import { call, issueCertificate, createServiceCall, origin, world, worldInSecondShard, type Call } from "../support/world.ts";

/**
 * A page makes one call for the session and two for data: either to two shards, or to one shard with a second query that needs the first
 * one's result.
 */
const maxCalls = 3;
/**
 * The history page makes one call for the session, reads the entries from both shards, and then queries both shards for the entries'
 * payloads and for pending entries.
 */
const maxCallsOfHistory = 5;
const maxPortalBytes = 9_000;
const maxBytes = 12_000;

const count: CallCount = { calls: 0 };

let service: Call;
let cast: PortalCast;
let records: Records;
let ownShare: { readonly headers: Record<string, string>; readonly shareId: string };
beforeAll(async () => {
  mockOutsideWorld();
  cast = await signInCast();
  records = await createAcmeRecords(cast);
  const pat = await signInPerson();
  ownShare = { headers: pat.headers, shareId: (await grantShare(pat)).share.id };
  const { DB, DB_01 } = env;
  service = createServiceCall({
    DB: countDatabaseCalls(DB, count),
    DB_01: countDatabaseCalls(DB_01, count),
    LIMIT_SESSION: "100000/60", // high enough to open each page twice
  });
});

const recordOf: Readonly<Record<string, () => string | undefined>> = {
  "/portal/certificates/:id": () => records.cert_id,
  "/portal/deadlines/:id": () => records.cert_id,
  "/portal/shares/:id": () => records.share_id,
  "/portal/domains/:id": () => records.domain_id,
  "/portal/domains/:id/remove": () => records.domain_id,
  "/portal/keys/:id/remove": () => records.key_id,
  "/portal/clients/:id": () => records.client_id,
  "/portal/team/:id/remove": () => records.member_id,
  "/portal/webhooks/:id": () => records.webhook_id,
  "/portal/webhooks/:id/edit": () => records.webhook_id,
  "/portal/webhooks/:id/recover": () => records.webhook_id,
  "/portal/webhooks/:id/rotate": () => records.webhook_id,
  "/portal/webhooks/:id/remove": () => records.webhook_id,
  "/portal/webhooks/:id/deliveries/:delivery": () => records.webhook_id,
  "/portal/events/:seq": () => records.seq,
  "/portal/requests/:id": () => records.request_id,
  "/app/shares/:id": () => ownShare.shareId,
  "/app/shares/:id/renew": () => ownShare.shareId,
  "/app/shares/:id/stop": () => ownShare.shareId,
  "/c/:id": () => records.cert_id,
};

const countGzippedBytes = async (text: string): Promise<number> => {
  const packed = new Response(text).body?.pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
};

/** Opens the page twice. The first request fills caches and records that the session was used on that day. */
const measureOpening = async (address: string, headers: Record<string, string>) => {
  await service(address, { headers });
  await waitUntilSettled();
  count.calls = 0;
  const response = await service(address, { headers });
  const callCount = count.calls;
  await waitUntilSettled();
  return { response, callCount };
};

test("queries a database at most three times per page and stays below the size limit", async () => {
  await issueCertificate();
  const { routes } = buildApp(await getPlatform(env));
  const paths = new Set(
    routes.flatMap(({ method, path }) => (method === "GET" && /^\/(?:$|portal|app|c\/|withdraw$|docs)/.test(path) ? [path] : [])),
  );
  const shown: string[] = [];
  const over: string[] = [];
  for (const path of paths) {
    const id = recordOf[path]?.();
    const address = (id === undefined ? path : path.replace(/:\w+/, id)).replace(":delivery", records.delivery_id ?? "");
    if (/[:*]/.test(address)) continue;
    const headers = { ...(path.startsWith("/app") ? ownShare.headers : { cookie: cast.owner.cookie }), accept: "text/html" };
    const { response, callCount } = await measureOpening(address, headers);
    if (response.status !== 200) continue;
    shown.push(path);
    const bytes = await countGzippedBytes(response.text);
    if (callCount > maxCalls || bytes > (path.startsWith("/portal") ? maxPortalBytes : maxBytes))
      over.push(`${path}: ${callCount} calls, ${bytes} bytes`);
  }
  expect(over).toEqual([]);
  expect(shown).toEqual(expect.arrayContaining(["/", "/docs", "/app", "/portal", ...Object.keys(recordOf)]));
  expect(shown.length).toBeGreaterThan(40);
}, 60_000);

test("keeps every page of the documentation below the size limit", async () => {
  const listLinkedPaths = async (address: string): Promise<readonly string[]> =>
    [...(await call(address)).text.matchAll(/href="(\/docs\/[^"#]+)"/g)].map(([, path]) => path as string);
  const fromOverview = await listLinkedPaths("/docs");
  const groups = fromOverview.filter((path) => /^\/docs\/api\/[^/]+$/.test(path));
  const paths = new Set(["/docs", ...fromOverview, ...(await Promise.all([...new Set(groups)].map(listLinkedPaths))).flat()]);
  const sizes = await Promise.all([...paths].map(async (path) => ({ path, bytes: await countGzippedBytes((await call(path)).text) })));
  expect(sizes.filter(({ bytes }) => bytes > maxBytes)).toEqual([]);
  expect(sizes.length).toBeGreaterThan(90);
}, 60_000);

test("keeps the consent sheet below the size limit if it asks for every detail", async () => {
  const query = new URLSearchParams({
    client_id: world.acme.clients.live,
    origin,
    scope: "email name phone address",
    purpose: "Send you a solar estimate",
    code_challenge: computeCodeChallenge(createVerifier()),
    code_challenge_method: "S256",
    return_url: `${origin}/quote`,
  });
  const { headers } = await signInPerson();
  const { text } = await call(`/authorize?${query}&edit=1`, { headers: { ...headers, referer: `${origin}/`, accept: "text/html" } });
  expect(text).toContain('<select id="field-country" name="field.country"');
  expect(await countGzippedBytes(text)).toBeLessThan(maxBytes);
});

test("queries a database at most three times for an audit log with all filters", async () => {
  const address = `/portal/audit?actor=person&type=certificate.revoked&id=${records.cert_id}`;
  const { response, callCount } = await measureOpening(address, { cookie: cast.owner.cookie });
  expect(response.status).toBe(200);
  expect(callCount).toBeLessThanOrEqual(maxCalls);
});

test("queries a second shard with shares of the person once, and twice for the history", async () => {
  const pat = await signInPerson();
  await grantShare(pat);
  await grantShare(pat, {}, worldInSecondShard.acme);
  const callCount: Record<string, number> = {};
  for (const path of ["/app", "/app/details", "/app/account", "/app/delete", "/app/history"])
    callCount[path] = (await measureOpening(path, { ...pat.headers, accept: "text/html" })).callCount;
  const { "/app/history": history, ...others } = callCount;
  expect(Math.max(...Object.values(others))).toBe(maxCalls);
  expect(history).toBe(maxCallsOfHistory);
}, 60_000);
