// What a credential gives away by the time of its refusal: API keys that exist beside keys that never did, and asking for a
// sign-in code with an address that has an account beside one that has none.
import { join } from "node:path";
import { demoWorld, seedDemo, vaultOf } from "../demo-world.ts";
import { startRuntime, type D1Like } from "../local-runtime.ts";
import { sha256Hex } from "../../core/hash.ts";
import { firstHome, newSecret } from "../../core/ids.ts";
import { memberEmailContext } from "../../storage/people-contexts.ts";
import { apart, shuffled, timed } from "./apart.ts";

const settleMs = 4_000; // what warmed up goes on after it was answered

interface Asked {
  readonly kind: string;
  readonly key: string;
}

/** The same key but for its last character: all of a live key that could be learnt one by one, were the look-up to tell. */
const nearly = (key: string): string => `${key.slice(0, -1)}${key.endsWith("A") ? "E" : "A"}`; // both are canonical endings of base64url

export const measureCredentials = async (bench: {
  readonly state: string;
  readonly bundledIn: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly keysFor: (db: D1Like) => Promise<readonly string[]>;
  readonly samples: number;
}): Promise<void> => {
  const service = await startRuntime({
    port: 0,
    stateDir: join(bench.state, "credentials"),
    vars: { ...bench.vars, DEV_RATE_SCALE: "10000" },
    bundledIn: bench.bundledIn,
    printsLog: false,
  });
  const db = await service.database();
  await seedDemo(db, demoWorld(bench.vars.ISSUER_KEY as string), Date.now());
  const live = await bench.keysFor(db);
  const revoked = live.slice(live.length / 2);
  for (const key of revoked) await db.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_hash = ?").bind(sha256Hex(key)).run();
  const unknown = (): string => newSecret("sk_live_", firstHome, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)));
  const refusal = (key: string): Promise<number> =>
    timed(() => fetch(`${service.url}/v1/certs`, { headers: { authorization: `Bearer ${key}` } }), 401);
  for (let n = 0; n < 50; n += 1) await refusal(unknown());

  const keys = shuffled(
    Array.from({ length: bench.samples }, (_, n): Asked[] => [
      { kind: "unknown", key: unknown() },
      { kind: "revoked", key: revoked[n % revoked.length] as string },
      { kind: "nearly", key: nearly(live[n % (live.length / 2)] as string) },
      { kind: "garbled", key: unknown().slice(0, -1) },
    ]).flat(),
  );
  const took: Record<string, number[]> = { unknown: [], revoked: [], nearly: [], garbled: [] };
  for (const { kind, key } of keys) took[kind]?.push(await refusal(key));
  const of = (kind: string): readonly number[] => took[kind] ?? [];
  console.log(apart("API key: revoked (hit), unknown (miss)", of("revoked"), of("unknown")));
  console.log(apart("API key: a live one but for its last character (hit), unknown (miss)", of("nearly"), of("unknown")));
  console.log(apart("API key: one that is none by its form (hit), unknown (miss)", of("garbled"), of("unknown")));

  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${service.url}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  // In the business realm an address without an account gets no mail at all: there is most to tell apart.
  const world = demoWorld(bench.vars.ISSUER_KEY as string);
  const vault = await vaultOf(bench.vars);
  const known = Array.from({ length: bench.samples }, (_, n) => `known${n}@example.com`);
  for (const [n, email] of known.entries()) {
    const id = `mem_00bench${n}`;
    await db
      .prepare("INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'member', 0)")
      .bind(id, world.acme.id, await vault.seal(memberEmailContext(id, world.acme.id), email), await vault.blindIndex("email", email))
      .run();
  }
  const request = (email: string): Promise<number> => timed(() => post("/v1/auth/request-code", { email, realm: "business" }), 200);
  for (let n = 0; n < 30; n += 1) await request(`warm${n}@example.com`);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const asked = { hit: [] as number[], miss: [] as number[] };
  for (const { email, kind } of shuffled(
    known.flatMap((email, n) => [
      { email, kind: "hit" as const },
      { email: `nobody${n}@example.com`, kind: "miss" as const },
    ]),
  ))
    asked[kind].push(await request(email));
  console.log(apart("sign-in code: with an account (hit), without (miss)", asked.hit, asked.miss));
  await service.dispose();
};
