// Tests that each shard has its own audit log and ledger. Their proofs are verified offline, using only the published keys.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { trustOf } from "../../verifier/trust.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { checkpointAuditLogs } from "../../workers/background/audit-checkpoints.ts";
import { buildApp } from "../../workers/app.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { ShardId } from "../../core/ids.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { createRandomKey, createSecret, deriveLogVkey, deriveVkey, logSeedIndex } from "../support/note-keys.ts";
import { createServiceCall, getWithKey, issueCertificate, world, worldInSecondShard } from "../support/world.ts";

const platform = await getPlatform(env);

const fetchBytes = async (path: string, key: string): Promise<Uint8Array> => {
  const request = new Request(`http://svc.test${path}`, { headers: { authorization: `Bearer ${key}` } });
  const response = await buildApp(platform).fetch(request, env, createExecutionContext());
  return new Uint8Array(await response.arrayBuffer());
};

test.each([
  ["00", world.acme, "ledger.svc.test/ledger/test"],
  ["01", worldInSecondShard.acme, "ledger.svc.test/ledger/01-test"],
] as const)("a certificate of shard %s is proven by that shard's logs, even offline", async (shard, business, ledger) => {
  const { cert_id: id } = await issueCertificate({}, business);
  expect(id.slice(3, 5)).toBe(shard);
  await platform.auditLogStub(shard as ShardId).drainNow();
  await submitAnchors(platform);
  await waitUntilSettled(); // the background work of the issuance may submit the same statement
  await checkpointAuditLogs(platform, Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs);

  const { anchor } = (await getWithKey(`/v1/certs/${id}/verify`)).body.data;
  expect(anchor).toMatchObject({ status: "anchored", ledger: `tlog:${ledger}` });
  expect(anchor.tx_ref).toBe(`${ledger}#${anchor.leaf_index}`);

  const pack = await fetchBytes(`/v1/certs/${id}/evidence-pack?format=zip`, business.keys.live);
  const trust = trustOf((await getWithKey("/.well-known/svc-trust.json")).body);
  const { checks } = await verifyPack(pack, { ...defaultVerificationOptions, trust });
  expect(checks.filter(({ outcome }) => outcome === "fail")).toEqual([]);
  const passed = checks.filter(({ outcome }) => outcome === "pass").map((check) => check.id);
  expect(passed).toEqual(expect.arrayContaining(["anchor.note", "anchor.inclusion", "audit.inclusion"]));
  const note = await getWithKey(`/audit/${shard}/checkpoint`);
  expect(note.text.split("\n")[0]).toBe(`svc.test/audit/${shard}`);
});

/** Returns the published public keys by log. */
const readPublishedKeys = async (settings: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { logs } = (await createServiceCall(settings)("/.well-known/svc-trust.json")).body as { logs: { origin: string; vkey: string }[] };
  const names = new Set(logs.map((log) => log.origin));
  return new Map([...names].map((name) => [name, logs.filter((log) => log.origin === name).map(({ vkey }) => vkey)]));
};

test("a key in AUDIT_KEY or LEDGER_KEY replaces the derived key of the log that it names, and no other", async () => {
  const [audit, ledger] = ["svc.test/audit/01", "ledger.svc.test/ledger/01-test"];
  const [auditKey, ledgerKey] = await Promise.all([createSecret(audit, 91), createSecret(ledger, 92)]);
  const published = await readPublishedKeys({ AUDIT_KEY: auditKey, LEDGER_KEY: ledgerKey });
  expect(published.get(audit)).toEqual([await deriveVkey(auditKey)]);
  expect(published.get(ledger)).toEqual([await deriveVkey(ledgerKey)]);
  expect(published.get("svc.test/audit/00")).toEqual([await deriveLogVkey("svc.test/audit/00")]);
  expect(published.get("ledger.svc.test/ledger/test")).toEqual([await deriveLogVkey("ledger.svc.test/ledger/test")]);
});

test("two log seeds publish two keys for every log, with the key of the first seed first", async () => {
  const published = await readPublishedKeys({ LOG_SEED: `${createRandomKey(logSeedIndex)} ${createRandomKey(93)}`, LEDGER_KEY: "" });
  for (const [name, keys] of published) {
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(await deriveLogVkey(name));
  }
});
