// Measures sharing, alternating with baselines: granting, redeeming and reading shares, and an agent's tool call. Also measures a field
// change that affects 500 shares.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { median, p95 } from "./timing-comparison.ts";
import type { Request } from "./load.ts";
import { getCpuMs } from "./runtime-process.ts";
import { printRounds, runRounds, createSeries, type Series, type Slices } from "./series.ts";
import {
  clientAddressHeader,
  insertApiKeys,
  bearerHeader,
  startFloor,
  findEmailCode,
  origin,
  pick,
  sendJson,
  startBenchService,
  type Bench,
  type Service,
} from "./measured-service.ts";
import { openVaultFromVars, type DemoBusiness } from "../demo-world.ts";
import type { D1Like } from "../local-databases.ts";

const fields = {
  email: "pat@example.com",
  phone: "+1 202 555 0123",
  address_line1: "12 Long Street",
  city: "Testville",
  zip: "94000",
  country: "US",
  first_name: "Pat",
  last_name: "Example",
};

/** Signs in with the code from the development mailbox and returns the session cookie. */
export const signInByEmailCode = async (
  url: string,
  person: { readonly email: string; readonly realm: string; readonly ip: string },
): Promise<string> => {
  const { ip, ...identity } = person;
  const from = { "cf-connecting-ip": ip };
  await sendJson(url, "POST", "/v1/auth/request-code", identity, from);
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const code = await findEmailCode(url, identity.email);
    if (code === undefined) {
      await pause(50);
      continue;
    }
    const response = await sendJson(url, "POST", "/v1/auth/verify-code", { ...identity, code }, from);
    return (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
  }
  throw new Error("bench: no code arrived");
};

/** Creates a person with the contact fields above and returns the session cookie. */
export const createPerson = async ({ url }: Service, n: number): Promise<string> => {
  const person = { email: `bench${n}.${process.pid}@example.com`, realm: "consumer", ip: `10.6.${n >> 8}.${n & 255}` };
  const cookie = await signInByEmailCode(url, person);
  const put = await sendJson(url, "PUT", "/v1/me/fields", fields, { cookie });
  if (put.status !== 200) throw new Error(`bench: no fields: ${await put.text()}`);
  return cookie;
};

const buildDecision = (business: DemoBusiness, verifier: string) => ({
  client_id: business.clients.live,
  origin,
  scope: ["email", "phone"],
  purpose: "Send you a solar estimate",
  code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  code_challenge_method: "S256",
  consent: true,
});

export const measureShares = async (
  bench: Bench & {
    readonly slices: Slices;
    /** Measures only series whose name contains this text, and their baselines. */
    readonly named: string;
  },
): Promise<void> => {
  const { world, slices } = bench;
  const { acme } = world;
  const service = await startBenchService(bench, "shares");
  const floor = await startFloor(bench, "share-floor-worker");
  // DEV_RATE_SCALE does not raise the per-person and per-token limits, so the load is spread over 50 people and tokens to stay below them.
  const assistants = await createAssistants(service, acme, 50);
  const people = assistants.map(({ cookie }) => cookie);
  const consumers = Array.from({ length: 50 }, (_, n) => `con_00floor${n}`);
  await floor.db.batch(
    consumers.map((id, n) =>
      floor.db
        .prepare("INSERT INTO consumers (id, email_sealed, email_index, audit_chain, created_at) VALUES (?, 'x', ?, ?, 0)")
        .bind(id, `floor ${n}`, `floor ${n}`),
    ),
  );
  const keys = await insertApiKeys(service.db, acme, 200);

  const typed = { "content-type": "application/json" };
  const shares: string[] = [];
  const codes: { readonly code: string; readonly verifier: string; readonly until: number }[] = [];
  const floorShares: string[] = [];
  const floorCodes: string[] = [];
  const redeeming = (n: number): Request | null => {
    const next = codes.pop(); // takes the newest code, because a code expires after a minute
    if (next === undefined || next.until < Date.now()) return null;
    const body = JSON.stringify({ code: next.code, code_verifier: next.verifier, client_id: acme.clients.live });
    const headers = { ...typed, ...clientAddressHeader(n), origin, "idempotency-key": randomUUID() };
    return { method: "POST", path: "/v1/share/redeem", headers, body };
  };
  const floorRedeeming = (): Request | null => {
    const code = floorCodes.pop();
    return code === undefined ? null : { method: "POST", path: `/redeem/${code}` };
  };
  const toolCall = (n: number, token: string, name: string, args: object): Request => ({
    method: "POST",
    path: "/mcp",
    headers: { ...typed, ...clientAddressHeader(n), accept: "application/json, text/event-stream", authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: n, method: "tools/call", params: { name, arguments: args } }),
  });
  const [grants, redemptions, readings, pages, one, ownShares] = [
    "floor: one D1 batch of the same rows",
    "floor: an UPDATE, then a SELECT",
    "floor: a SELECT and an INSERT",
    "floor: a SELECT of 51 rows",
    "floor: one D1 read",
    "GET /v1/me/shares",
  ] as const;
  const all: Series[] = [
    createSeries(grants, null, floor, (n) => {
      const code = createHash("sha256").update(randomBytes(32)).digest("hex");
      return {
        method: "POST",
        path: "/grant",
        body: JSON.stringify({ business: acme.id, client: acme.clients.live, consumer: pick(consumers, n), code }),
        took: (text) => {
          floorShares.push((JSON.parse(text) as { id: string }).id);
          floorCodes.push(code);
        },
      };
    }),
    createSeries("POST /v1/share/consent", grants, service, (n) => {
      const verifier = randomBytes(32).toString("base64url");
      return {
        method: "POST",
        path: "/v1/share/consent",
        headers: { ...typed, ...clientAddressHeader(n), cookie: pick(people, n) },
        body: JSON.stringify(buildDecision(acme, verifier)),
        took: (text) => {
          const { data } = JSON.parse(text) as { data?: { code: string; share: { id: string } } };
          if (data === undefined) return;
          shares.push(data.share.id);
          codes.push({ code: data.code, verifier, until: Date.now() + 55_000 });
        },
      };
    }),
    createSeries(redemptions, null, floor, floorRedeeming),
    createSeries("POST /v1/share/redeem", redemptions, service, redeeming),
    createSeries(readings, null, floor, (n) => ({ method: "GET", path: `/current/${pick(floorShares, n)}` })),
    createSeries("GET /v1/consumers/{id}/current", readings, service, (n) => ({
      method: "GET",
      path: `/v1/consumers/${pick(shares, n)}/current`,
      headers: bearerHeader(keys, n),
    })),
    createSeries(pages, null, floor, () => ({ method: "GET", path: `/list/${acme.id}` })),
    createSeries("GET /v1/shares?limit=50", pages, service, (n) => ({
      method: "GET",
      path: "/v1/shares?limit=50",
      headers: bearerHeader(keys, n),
    })),
    createSeries(one, null, floor, (n) => ({ method: "GET", path: `/read/${pick(floorShares, n)}` })),
    createSeries("POST /mcp, svc_get_share", one, service, (n) => {
      const { token, shareId } = pick(assistants, n);
      return toolCall(n, token, "svc_get_share", { share_id: shareId });
    }),
    createSeries(ownShares, null, service, (n) => ({
      method: "GET",
      path: "/v1/me/shares",
      headers: { ...clientAddressHeader(n), cookie: pick(people, n) },
    })),
    createSeries("POST /mcp, svc_list_shares", ownShares, service, (n) => toolCall(n, pick(assistants, n).token, "svc_list_shares", {})),
  ];
  console.log(`shares           ${slices.connections} connections, ${slices.rounds} rounds of ${slices.seconds} s each`);
  const chosen = all.filter(({ name }) => name.includes(bench.named));
  const measured = all.filter((series) => chosen.includes(series) || chosen.some(({ floor: floorName }) => floorName === series.name));
  await runRounds(measured, slices);
  printRounds(measured);
  await service.runtime.dispose();
  await floor.runtime.dispose();
};

/** Inserts copies of a granted share by SQL, each with a new ID. Their encrypted parts cannot be decrypted. */
export const copyShares = async (db: D1Like, id: string, count: number, set: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { results } = await db.prepare("SELECT name FROM pragma_table_info('shares') WHERE name <> 'ord'").all<{ name: string }>();
  const names = results.map(({ name }) => name);
  const values = names.map((name) => set[name] ?? (name === "id" ? "substr(s.id, 1, 20) || printf('%010d', n.i)" : `s.${name}`));
  const perStatement = 5_000;
  for (let at = 0; at < count; at += perStatement) {
    await db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?2)
         INSERT INTO shares (${names.join(", ")}) SELECT ${values.join(", ")} FROM n, shares s WHERE s.id = ?3`,
      )
      .bind(at, Math.min(at + perStatement, count), id)
      .run();
    process.stderr.write(`\r  seeding ${Math.min(at + perStatement, count)} of ${count} shares `);
  }
  process.stderr.write("\r");
};

export const grantOne = async ({ url }: Service, cookie: string, business: DemoBusiness): Promise<string> => {
  const response = await sendJson(url, "POST", "/v1/share/consent", buildDecision(business, randomBytes(32).toString("base64url")), {
    cookie,
  });
  if (response.status !== 201) throw new Error(`bench: not granted: ${await response.text()}`);
  return ((await response.json()) as { data: { share: { id: string } } }).data.share.id;
};

/** Creates people, each with a session cookie, an agent token and a share. */
export const createAssistants = async (service: Service, business: DemoBusiness, count: number) => {
  const assistants: { readonly cookie: string; readonly token: string; readonly shareId: string }[] = [];
  for (let n = 0; n < count; n += 1) {
    const cookie = await createPerson(service, n);
    const minted = await sendJson(service.url, "POST", "/v1/me/agent-token", { name: "Bench" }, { cookie });
    const { token } = ((await minted.json()) as { data: { token: string } }).data;
    assistants.push({ cookie, token, shareId: await grantOne(service, cookie, business) });
  }
  return assistants;
};

const activeShares = 500;
const changeCount = 21;
const pauseMs = 1_500;

export const measureFieldChange = async (bench: Bench): Promise<void> => {
  const service = await startBenchService(bench, "field-change");
  const { db, url, pid } = service;
  const { acme } = bench.world;
  const cookie = await createPerson(service, 0);
  // A person may grant only 30 shares a minute. All shares except the first are therefore inserted as rows that the service can decrypt.
  const first = await grantOne(service, cookie, acme);
  await copyShares(db, first, activeShares - 1);
  const vault = await openVaultFromVars(bench.vars);
  const { results } = await db.prepare("SELECT id FROM shares WHERE id <> ?").bind(first).all<{ id: string }>();
  const at = Date.now();
  const text = JSON.stringify({ email: [fields.email, at], phone: [fields.phone, at] });
  for (const { id } of results) {
    const key = await vault.newRecordKey();
    // Must match the encryption context in storage/share-values.ts.
    const context = { table: "share_values", record: id, field: "fields", owner: acme.id };
    const sealed = await (await vault.withRecordKey(key)).seal(context, text);
    await db.batch([
      db.prepare("UPDATE shares SET key_sealed = ? WHERE id = ?").bind(key, id),
      db.prepare("INSERT INTO share_values (share_id, values_sealed, revision) VALUES (?, ?, 1)").bind(id, sealed),
    ]);
  }
  const took: number[] = [];
  const cpu: number[] = [];
  for (let n = 0; n < changeCount; n += 1) {
    await pause(pauseMs);
    const before = getCpuMs(pid);
    const startedAt = performance.now();
    const response = await sendJson(url, "PUT", "/v1/me/fields", { phone: `+1 202 555 01${10 + n}` }, { cookie });
    const { data } = (await response.json()) as { data: { events_emitted: number } };
    const ms = performance.now() - startedAt;
    if (data.events_emitted !== activeShares) throw new Error(`bench: ${data.events_emitted} events`);
    if (n === 0) continue; // ignore the first round, which warms up code paths and caches
    took.push(ms);
    cpu.push(getCpuMs(pid) - before);
  }
  console.log(
    `PUT /v1/me/fields, ${activeShares} active shares: median ${median(took).toFixed(0)} ms, minimum ${Math.min(...took).toFixed(0)} ms, p95 ${p95(took).toFixed(0)} ms to the response; ${median(cpu).toFixed(0)} ms of CPU (of ${took.length})`,
  );
  await service.runtime.dispose();
};
