// Measures whether response times reveal anything about credentials. Compares revoked, almost correct and malformed API keys with unknown
// keys, and sign-in code requests for email addresses with an account and without one.
import { toStoredIndex } from "../../core/access/address-index.ts";
import { setTimeout as pause } from "node:timers/promises";
import { openVaultFromVars } from "../demo-world.ts";
import { sha256Hex } from "../../core/hash.ts";
import { memberEmailContext } from "../../storage/people-contexts.ts";
import { describeDistinguishability, shuffle, measureTime } from "./timing-comparison.ts";
import { insertApiKeys, sendJson, startBenchService, newUnknownKey, type Bench } from "./measured-service.ts";

const settleMs = 4_000; // long enough for the background work of the warm-up, which continues after its responses

interface CredentialRequest {
  readonly kind: string;
  readonly key: string;
}

/**
 * Returns a key that differs only in its last character, as if an attacker were guessing a live key character by character. Both "A" and
 * "E" are valid last characters of base64url.
 */
const alterLastCharacter = (key: string): string => `${key.slice(0, -1)}${key.endsWith("A") ? "E" : "A"}`;

export const measureCredentials = async (bench: Bench & { readonly samples: number }): Promise<void> => {
  const service = await startBenchService(bench, "credentials");
  const { db } = service;
  const { acme } = bench.world;
  const live = await insertApiKeys(db, acme, 100);
  const revoked = live.slice(live.length / 2);
  for (const key of revoked) await db.prepare("UPDATE api_keys SET revoked_at = 1 WHERE key_hash = ?").bind(sha256Hex(key)).run();
  const refusal = (key: string): Promise<number> =>
    measureTime(() => fetch(`${service.url}/v1/certs`, { headers: { authorization: `Bearer ${key}` } }), 401);
  for (let n = 0; n < 50; n += 1) await refusal(newUnknownKey());

  const keys = shuffle(
    Array.from({ length: bench.samples }, (_, n): CredentialRequest[] => [
      { kind: "unknown", key: newUnknownKey() },
      { kind: "revoked", key: revoked[n % revoked.length] as string },
      { kind: "nearly", key: alterLastCharacter(live[n % (live.length / 2)] as string) },
      { kind: "garbled", key: newUnknownKey().slice(0, -1) },
    ]).flat(),
  );
  const took: Record<string, number[]> = { unknown: [], revoked: [], nearly: [], garbled: [] };
  for (const { kind, key } of keys) took[kind]?.push(await refusal(key));
  const getDurations = (kind: string): readonly number[] => took[kind] ?? [];
  console.log(describeDistinguishability("API key: revoked (hit), unknown (miss)", getDurations("revoked"), getDurations("unknown")));
  console.log(
    describeDistinguishability(
      "API key: live except for its last character (hit), unknown (miss)",
      getDurations("nearly"),
      getDurations("unknown"),
    ),
  );
  console.log(describeDistinguishability("API key: malformed (hit), unknown (miss)", getDurations("garbled"), getDurations("unknown")));

  // In the business realm, an email address without an account gets no email, so any difference in response time is largest there.
  const vault = await openVaultFromVars(bench.vars);
  const known = Array.from({ length: bench.samples }, (_, n) => `known${n}@example.com`);
  for (const [n, email] of known.entries()) {
    const id = `mem_00bench${n}`;
    await db
      .prepare("INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'member', 0)")
      .bind(id, acme.id, await vault.seal(memberEmailContext(id, acme.id), email), toStoredIndex(await vault.blindIndex("email", email)))
      .run();
  }
  const request = (email: string): Promise<number> =>
    measureTime(() => sendJson(service.url, "POST", "/v1/auth/request-code", { email, realm: "business" }), 200);
  for (let n = 0; n < 30; n += 1) await request(`warm${n}@example.com`);
  await pause(settleMs);
  const times = { hit: [] as number[], miss: [] as number[] };
  for (const { email, kind } of shuffle(
    known.flatMap((email, n) => [
      { email, kind: "hit" as const },
      { email: `nobody${n}@example.com`, kind: "miss" as const },
    ]),
  ))
    times[kind].push(await request(email));
  console.log(describeDistinguishability("sign-in code: with an account (hit), without (miss)", times.hit, times.miss));
  await service.runtime.dispose();
};
