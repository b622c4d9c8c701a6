// Starts the services that the benchmark sections measure, with demo data, and the Workers that serve as baselines.
import { join } from "node:path";
import { buildSync } from "esbuild";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard, generateSecret } from "../../core/ids.ts";
import { seedDemo, type DemoBusiness, type DemoWorld } from "../demo-world.ts";
import type { D1Like } from "../local-databases.ts";
import { startRuntime, type Runtime, type RuntimeOptions } from "../local-runtime.ts";
import type { Request } from "./load.ts";
import { listRuntimePids } from "./runtime-process.ts";
import { consentRequest } from "./submission.ts";

export interface Bench {
  readonly state: string;
  readonly bundledIn: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly world: DemoWorld;
}

export interface Service {
  readonly runtime: Runtime;
  readonly url: string;
  readonly pid: string;
  readonly db: D1Like;
  /** Milliseconds until the database was migrated and the service was listening. */
  readonly startMs: number;
}

export const origin = "https://www.example.com";

export const pick = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
export const clientAddressHeader = (n: number) => ({ "cf-connecting-ip": `10.9.${(n >> 8) & 255}.${n & 255}` });
/** Returns the SHA-256 of each key. The baseline looks up keys by hash. */
export const hashKeys = (keys: readonly string[]): readonly string[] => keys.map((key) => sha256Hex(key));
export const bearerHeader = (keys: readonly string[], n: number) => ({ authorization: `Bearer ${pick(keys, n)}` });

const startSeededService = async (world: DemoWorld, options: Omit<RuntimeOptions, "port">): Promise<Service> => {
  const startedAt = performance.now();
  const runtime = await startRuntime({ port: 0, printsLog: false, ...options });
  const startMs = performance.now() - startedAt;
  const pid = listRuntimePids().at(-1) as string;
  const db = await runtime.database();
  await seedDemo(db, world, Date.now());
  return { runtime, url: runtime.url, pid, db, startMs };
};

export const startBenchService = (
  { state, bundledIn, vars, world }: Bench,
  name: string,
  more: Partial<RuntimeOptions> = {},
): Promise<Service> => startSeededService(world, { stateDir: join(state, name), vars, bundleDir: bundledIn, ...more });

/** Bundles one of the Workers in this folder. */
export const workerScript = (name: string): string =>
  buildSync({ entryPoints: [`scripts/bench/${name}.ts`], bundle: true, write: false, format: "esm" }).outputFiles[0]?.text as string;

export const startFloor = (
  { state, world }: Bench,
  name: string,
  vars: Bench["vars"] = {},
  more: Partial<RuntimeOptions> = {},
): Promise<Service> => startSeededService(world, { stateDir: join(state, name), vars, script: workerScript(name), ...more });

/** Inserts API keys, each with a separate rate limit. */
export const insertApiKeys = async (db: D1Like, business: DemoBusiness, count: number): Promise<readonly string[]> => {
  const keys = Array.from({ length: count }, newUnknownKey);
  await db.batch(
    keys.map((key, at) =>
      db
        .prepare(
          "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, 'live', ?, 'Bench', ?, 0)",
        )
        .bind(`key_bench${at}`, business.id, sha256Hex(key), key.slice(-4)),
    ),
  );
  return keys;
};

export const newUnknownKey = (): string => generateSecret("sk_live_", firstShard, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)));

/** Records a capture of the origin's policies, because a busy service usually has one from the last 15 minutes. */
export const capturePolicies = async (db: D1Like): Promise<void> => {
  await db
    .prepare(
      "INSERT INTO policy_captures (id, domain, origin, captured_at) VALUES ('cap_00abcdefghjkmnpqrstvwxyz12', 'www.example.com', ?, ?)",
    )
    .bind(origin, Date.now())
    .run();
};

export const send = (url: string, { method, path, headers, body }: Request): Promise<Response> =>
  fetch(`${url}${path}`, { method, headers: { ...headers }, ...(body !== undefined && { body }) });

/** Issues a certificate for the n-th person and returns its ID. */
export const issueCertificate = async (url: string, business: DemoBusiness, n: number): Promise<string> => {
  const body = (await (await send(url, consentRequest(business, origin, n))).json()) as { data?: { cert_id: string } };
  if (body.data === undefined) throw new Error(`bench: not issued: ${JSON.stringify(body)}`);
  return body.data.cert_id;
};

export const sendJson = (
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}${path}`, { method, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

/** Returns the code from the newest email to an address. */
export const findEmailCode = async (url: string, email: string): Promise<string | undefined> => {
  const { messages } = (await (await fetch(`${url}/dev/mail?to=${encodeURIComponent(email)}`)).json()) as { messages: { text: string }[] };
  return /^\d{6}$/m.exec(messages[0]?.text ?? "")?.[0];
};
