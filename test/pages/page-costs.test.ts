// What a page costs at most: how often it asks a database, and how many bytes of text it is.
import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { getPlatform } from "../../workers/services.ts";
import { signInCast, mockOutsideWorld, createAcmeRecords, type PortalCast, type Records } from "../support/portal-cast.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson } from "../support/sharing.ts";
import { issueCertificate, createServiceCall, worldInSecondShard, type Call } from "../support/world.ts";

/** Who is signed in, then what the page shows of one home, once more where that says what else to ask; or once of each of two homes. */
const maxCalls = 3;
/** The history asks both homes again once the log says which entries are shown: what they committed to, and what still waits. */
const maxCallsOfHistory = 5;
const maxPortalBytes = 15_000; // of 25,000: style and scripts come with it, once
const maxBytes = 45_000; // of 60,000 likewise

let calls = 0;
const counted = <T>(call: () => Promise<T>): Promise<T> => {
  calls += 1;
  return call();
};

const originals = new WeakMap<object, D1PreparedStatement>();
const watchedStatement = (statement: D1PreparedStatement): D1PreparedStatement => {
  const ask =
    (name: "first" | "run" | "all" | "raw") =>
    (...given: never[]): Promise<unknown> =>
      counted(() => (statement[name] as (...args: never[]) => Promise<unknown>)(...given));
  const watched = {
    bind: (...values: unknown[]) => watchedStatement(statement.bind(...values)),
    ...{ first: ask("first"), run: ask("run"), all: ask("all"), raw: ask("raw") },
  } as unknown as D1PreparedStatement;
  originals.set(watched, statement);
  return watched;
};
const watched = (of: D1Database | D1DatabaseSession): D1Database =>
  ({
    prepare: (sql: string) => watchedStatement(of.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) =>
      counted(() => of.batch(statements.map((one) => originals.get(one) as D1PreparedStatement))),
    withSession: (constraint: D1SessionConstraint) => watched((of as D1Database).withSession(constraint)),
  }) as unknown as D1Database;

let service: Call;
let cast: PortalCast;
let records: Records;
let own: { readonly headers: Record<string, string>; readonly shareId: string };
beforeAll(async () => {
  mockOutsideWorld();
  cast = await signInCast();
  records = await createAcmeRecords(cast);
  const pat = await signInPerson();
  own = { headers: pat.headers, shareId: (await grantShare(pat)).share.id };
  const { DB, DB_01 } = env as unknown as { readonly DB: D1Database; readonly DB_01: D1Database };
  service = createServiceCall({ DB: watched(DB), DB_01: watched(DB_01) });
});

/** Pages of one record, and what stands for it in their address. */
const recordOf: Readonly<Record<string, () => string | undefined>> = {
  "/portal/certificates/:id": () => records.cert_id,
  "/portal/deadlines/:id": () => records.cert_id,
  "/portal/shares/:id": () => records.share_id,
  "/portal/domains/:id": () => records.domain_id,
  "/portal/webhooks/:id": () => records.webhook_id,
  "/portal/events/:seq": () => records.seq,
  "/portal/requests/:id": () => records.request_id,
  "/app/shares/:id": () => own.shareId,
  "/app/shares/:id/renew": () => own.shareId,
  "/app/shares/:id/stop": () => own.shareId,
  "/c/:id": () => records.cert_id,
};

const gzipped = async (text: string): Promise<number> => {
  const packed = new Response(text).body?.pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
};

/** A page that was opened before: what is remembered is remembered, and the use of the day is noted. */
const opened = async (address: string, headers: Record<string, string>) => {
  await service(address, { headers });
  await waitUntilSettled();
  calls = 0;
  const answer = await service(address, { headers });
  const asked = calls;
  await waitUntilSettled();
  return { answer, asked };
};

test("a page asks a database three times at most, and none is heavier than a phone likes", async () => {
  await issueCertificate();
  const { routes } = buildApp(await getPlatform(env as unknown as Env));
  const paths = new Set(
    routes.flatMap(({ method, path }) => (method === "GET" && /^\/(?:$|portal|app|c\/|withdraw$|docs)/.test(path) ? [path] : [])),
  );
  const shown: string[] = [];
  const over: string[] = [];
  for (const path of paths) {
    const id = recordOf[path]?.();
    const address = id === undefined ? path : path.replace(/:\w+/, id);
    if (/[:*]/.test(address)) continue;
    const headers = { ...(path.startsWith("/app") ? own.headers : { cookie: cast.owner.cookie }), accept: "text/html" };
    const { answer, asked } = await opened(address, headers);
    if (answer.status !== 200) continue;
    shown.push(path);
    const bytes = await gzipped(answer.text);
    if (asked > maxCalls || bytes > (path.startsWith("/portal") ? maxPortalBytes : maxBytes))
      over.push(`${path}: ${asked} calls, ${bytes} bytes`);
  }
  expect(over).toEqual([]);
  expect(shown).toEqual(expect.arrayContaining(["/", "/docs", "/app", "/portal", ...Object.keys(recordOf)]));
  expect(shown.length).toBeGreaterThan(40);
}, 60_000);

test("a second home where somebody has shares is asked once, and twice by the history", async () => {
  const pat = await signInPerson();
  await grantShare(pat);
  await grantShare(pat, {}, worldInSecondShard.acme);
  const asked: Record<string, number> = {};
  for (const path of ["/app", "/app/details", "/app/account", "/app/delete", "/app/history"])
    asked[path] = (await opened(path, { ...pat.headers, accept: "text/html" })).asked;
  const { "/app/history": history, ...others } = asked;
  expect(Math.max(...Object.values(others))).toBe(maxCalls);
  expect(history).toBe(maxCallsOfHistory);
}, 60_000);
