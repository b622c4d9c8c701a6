// Tests that a deployment checks the keys of its logs, witnesses and anchors before it starts, because a ledger signed with a guessable key
// proves nothing.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toBase64, fromBase64, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { keyKinds } from "../../core/ledger/note.ts";
import { vkeyFromSpki } from "../../core/ledger/rekor-receipt.ts";
import { loadConfig } from "../../workers/env.ts";
import { createRandomSecret, createSecret, createSecretFromSeed, deriveLogVkey, deriveVkey } from "../support/note-keys.ts";
import { createEntryCall, productionSettings } from "../support/world.ts";

const listFaults = (change: Readonly<Record<string, unknown>>, settings: object = productionSettings): string[] => {
  try {
    loadConfig({ ...env, ...settings, ...change });
    return [];
  } catch (error) {
    return (error as Error).message.replace("not configured to run: ", "").split(", ");
  }
};

const origin = "ledger.svc.test/ledger/test";
const audit = "api.svc.test/audit/00";
const logKey = await createRandomSecret(origin);
const witnessKey = await createRandomSecret("ledger.svc.test/witness", keyKinds.witness);
const foreignVkey = await deriveVkey(await createRandomSecret("ledger.other.test/ledger/1"));
const foreignWitness = await deriveVkey(await createRandomSecret("witness.example/w1", keyKinds.witness));
const rekorSpki = "MCowBQYDK2VwAyEAt8rlp1knGwjfbcXAYPYAkn0XiLz1x8O4t0YkEhie244="; // the key of Sigstore's public log
const token = "kX3v9QmZ7pL2rT8wY5bN4cF6hJ1dG0sA";

/** Returns the secret with a wrong key ID, as if it had a typo. */
const withWrongId = (secret: string): string => secret.replace(/\+[0-9a-f]{8}\+/, "+00000000+");

const createPkcs8Key = async (): Promise<string> => {
  const pair = (await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign"])) as CryptoKeyPair;
  return toBase64(new Uint8Array((await crypto.subtle.exportKey("pkcs8", pair.privateKey)) as ArrayBuffer));
};

const unfit: readonly (readonly [setting: string, what: string, value: string])[] = [
  ["LOG_SEED", "that is missing", ""],
  ["LOG_SEED", "of few distinct bytes", toBase64(new Uint8Array(32).fill(7))],
  ["LOG_SEED", "that is short", toBase64(sha256("a log seed").subarray(1))],
  ["LOG_SEED", "with garbage beside a good one", `${toBase64(sha256("a log seed"))} garbage`],
  ["LEDGER_KEY", "of a witness", await createRandomSecret(origin, keyKinds.witness)],
  ["LEDGER_KEY", "of few distinct bytes", await createSecret(origin, 21)],
  [
    "LEDGER_KEY",
    "of counted bytes",
    await createSecretFromSeed(
      origin,
      Uint8Array.from({ length: 32 }, (_, at) => at),
    ),
  ],
  ["LEDGER_KEY", "of typed text", await createSecretFromSeed(origin, encodeUtf8("Sphinx of black quartz, judge 1!"))],
  ["LEDGER_KEY", "of another log", await createRandomSecret("ledger.svc.test/ledger/other")],
  ["LEDGER_KEY", "that is garbage", "PRIVATE+KEY+x"],
  ["LEDGER_KEY", "with a weak key beside a good one", `${logKey} ${await createSecret(origin, 21)}`],
  ["LEDGER_WITNESS_KEY", "that is garbage", "not a key"],
  ["LEDGER_WITNESS_KEY", "of a log", await createRandomSecret("ledger.svc.test/witness")],
  ["LEDGER_WITNESS_KEY", "of few distinct bytes", await createSecret("ledger.svc.test/witness", 22, keyKinds.witness)],
  ["LEDGER_WITNESS_KEY", "of a development machine", await createRandomSecret("localhost/witness", keyKinds.witness)],
  ["AUDIT_KEY", "of a development machine", await createRandomSecret("localhost/audit/00")],
  ["AUDIT_KEY", "under an IP address", await createRandomSecret("127.0.0.1/audit/00")],
  ["AUDIT_KEY", "of few distinct bytes", await createSecret(audit, 40)],
  ["AUDIT_KEY", "of a witness", await createRandomSecret(audit, keyKinds.witness)],
  ["AUDIT_KEY", "under another host", await createRandomSecret("svc.test/audit/00")],
  ["AUDIT_KEY", "of a name without a shard", await createRandomSecret("api.svc.test/audit/0")],
  ["AUDIT_KEY", "that is garbage", audit],
  ["AUDIT_VKEY", "that is garbage", `${audit}+aaaaaaaa+AAAA`],
  ["LEDGER_WRITE_TOKEN", "that is missing", ""],
  ["LEDGER_WRITE_TOKEN", "that is short", token.slice(1)],
  ["LEDGER_WRITE_TOKEN", "of few distinct characters", "abcdefgh".repeat(4)],
  ["LEDGER_WRITE_TOKEN", "with a space", `${token} x`],
  ["LEDGER_AUDITOR_TOKEN", "that is short", token.slice(1)],
  ["LEDGER_AUDITOR_TOKEN", "of few distinct characters", "a".repeat(40)],
  ["LEDGER_ORIGIN", "of a development machine", "localhost/ledger/2026h2"],
  ["LEDGER_ORIGIN", "without a path", "ledger.svc.test"],
  ["LEDGER_KIND", "that is unknown", "immudb"],
  ["LEDGER_PUBLIC_ENTRIES", "that is neither true nor false", "yes"],
  ["LEDGER_ENTRIES_PER_SECOND", "that is not a number", "many"],
  ["ANCHOR_KEY", "that is garbage", "AAAA"],
  ["ANCHOR_KEY", "that is a key of another kind", logKey],
  ["RETIRED_ANCHOR_KEYS", "that is garbage", "###"],
  ["LEDGER_MIRRORS", "that is not a list", "{}"],
  [
    "LEDGER_MIRRORS",
    "without pinned keys",
    JSON.stringify([{ kind: "tlog", origin: "ledger.other.test/ledger/1", url: "https://l.example", token, vkeys: [] }]),
  ],
  [
    "LEDGER_MIRRORS",
    "over plain http",
    JSON.stringify([{ kind: "tlog", origin: "ledger.other.test/ledger/1", url: "http://l.example", token, vkeys: [foreignVkey] }]),
  ],
  [
    "LEDGER_MIRRORS",
    "that is the primary ledger",
    JSON.stringify([{ kind: "tlog", origin, url: "https://l.example", token, vkeys: [foreignVkey] }]),
  ],
  ["WITNESSES", "under the key of a log", JSON.stringify([{ vkey: foreignVkey, url: "https://w.example" }])],
  ["WITNESSES", "over plain http", JSON.stringify([{ vkey: foreignWitness, url: "http://w.example" }])],
  ["WITNESS_MIN", "above the number of witnesses", "1"],
  ["TIMESTAMP_AUTHORITIES", "without a pinned key", JSON.stringify([{ name: "tsa", url: "https://tsa.example/" }])],
  ["TIMESTAMP_AUTHORITIES", "that is not JSON", "https://tsa.example"],
  [
    "TIMESTAMP_AUTHORITIES",
    "whose key is valid from the time when it expires",
    JSON.stringify([
      {
        name: "tsa",
        url: "https://tsa.example/",
        spki_sha256: "ab".repeat(32),
        valid_from: "2026-11-22T00:00:00.000Z",
        valid_to: "2026-11-22T00:00:00.000Z",
      },
    ]),
  ],
];

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a production deployment", () => {
  test("starts with random keys", () => {
    expect(listFaults({})).toEqual([]);
    expect(listFaults({ LEDGER_KEY: "", LEDGER_WITNESS_KEY: "" })).toEqual([]);
    expect(listFaults({ LOG_SEED: `${toBase64(sha256("one"))} ${toBase64(sha256("two"))}` })).toEqual([]);
    expect(listFaults({ LEDGER_KEY: `${logKey} ${logKey}` })).toEqual([]);
  });

  test.each(unfit)("refuses %s %s", (setting, _, value) => {
    const faults = listFaults({ [setting]: value });
    expect(faults).toContain(setting);
    expect(faults.filter((name) => name !== setting && !(setting === "LEDGER_ORIGIN" && name === "LEDGER_KEY"))).toEqual([]);
  });

  test("refuses a log key that another log, a witness or the issuer also uses", async () => {
    const seed = new Uint8Array(sha256("one for all"));
    const shared = {
      LEDGER_KEY: await createSecretFromSeed(origin, seed),
      LEDGER_WITNESS_KEY: await createSecretFromSeed("ledger.svc.test/witness", seed, keyKinds.witness),
    };
    expect(listFaults(shared)).toEqual(["LEDGER_WITNESS_KEY"]);
    const auditKey = await createSecretFromSeed(audit, seed);
    expect(listFaults({ AUDIT_KEY: auditKey, ...shared })).toEqual(["LEDGER_KEY", "LEDGER_WITNESS_KEY"]);
    expect(listFaults({ ISSUER_KEY: toBase64(seed), LEDGER_KEY: shared.LEDGER_KEY })).toEqual(["LEDGER_KEY"]);
    expect(listFaults({ ISSUER_KEY: toBase64(seed), LOG_SEED: toBase64(seed) })).toEqual(["LOG_SEED"]);
  });

  test("refuses one token for writing and for reading", () => {
    expect(listFaults({ LEDGER_WRITE_TOKEN: token, LEDGER_AUDITOR_TOKEN: token })).toEqual(["LEDGER_AUDITOR_TOKEN"]);
    expect(listFaults({ LEDGER_WRITE_TOKEN: token, LEDGER_AUDITOR_TOKEN: [...token].reverse().join("") })).toEqual([]);
  });

  test("refuses secrets whose key id does not match their key, and logs the name of the setting", async () => {
    const lines: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line) => lines.push(String(line)));
    for (const setting of ["LEDGER_KEY", "LEDGER_WITNESS_KEY", "AUDIT_KEY"] as const) {
      lines.length = 0;
      const secrets = { ...productionSettings, AUDIT_KEY: await createRandomSecret(audit) };
      const change: Record<string, string> = { [setting]: withWrongId(secrets[setting]) };
      const response = await createEntryCall({ ...productionSettings, ...change }, "https://api.svc.test")("/v1/health");
      expect([response.status, response.body.error.code], setting).toEqual([503, "misconfigured"]);
      expect(lines.join(), setting).toContain(`not configured to run: ${setting}`);
    }
  });

  test("accepts a valid external ledger, mirrors, witnesses and timestamp authorities", async () => {
    const settings = {
      LEDGER_URL: "https://ledger.other.test/ledger/1",
      LEDGER_ORIGIN: "ledger.other.test/ledger/1",
      LEDGER_VKEYS: foreignVkey,
      LEDGER_KEY: "",
      LEDGER_WITNESS_KEY: "",
      ANCHOR_KEY: await createPkcs8Key(),
      LEDGER_MIRRORS: JSON.stringify([
        {
          kind: "rekor2",
          origin: "log2025-1.rekor.sigstore.dev",
          url: "https://log2025-1.rekor.sigstore.dev",
          vkeys: [vkeyFromSpki("log2025-1.rekor.sigstore.dev", fromBase64(rekorSpki) as Uint8Array)],
        },
      ]),
      WITNESSES: JSON.stringify([{ vkey: foreignWitness, url: "https://w.example/w1" }]),
      WITNESS_MIN: "1",
      TIMESTAMP_AUTHORITIES: JSON.stringify([{ name: "tsa", url: "http://tsa.example/tsr", spki_sha256: ["ab".repeat(32)], pem: "x" }]),
    };
    expect(listFaults(settings)).toEqual([]);
    const ownWitness = JSON.stringify([{ vkey: foreignWitness, url: settings.LEDGER_URL }]);
    expect(listFaults({ ...settings, WITNESSES: ownWitness, WITNESS_MIN: "0" })).toEqual([]);
    expect(listFaults({ ...settings, WITNESSES: ownWitness })).toEqual(["WITNESS_MIN"]); // a witness at the ledger's own URL does not count
    expect(listFaults({ ...settings, ANCHOR_KEY: "" })).toEqual(["ANCHOR_KEY"]);
    expect(listFaults({ ...settings, LEDGER_VKEYS: "" })).toEqual(["LEDGER_VKEYS"]);
    expect(listFaults({ ...settings, LEDGER_URL: "http://ledger.other.test/ledger/1" })).toEqual(["LEDGER_URL"]);
    const config = loadConfig({ ...env, ...productionSettings, ...settings });
    expect(config.mirrors.map(({ id }) => id)).toEqual(["rekor2:log2025-1.rekor.sigstore.dev"]);
    expect(config.authorities[0]?.pins).toMatchObject([{ name: "tsa", spkiSha256: "ab".repeat(32) }]);
  });

  test("publishes the earlier keys of its logs with the current ones, so that old proofs still verify", async () => {
    const [earlierAudit, earlierLedger] = await Promise.all([
      createSecretFromSeed(audit, new Uint8Array(sha256("before"))),
      createSecretFromSeed(origin, new Uint8Array(sha256("earlier"))),
    ]);
    const settings = {
      ...productionSettings,
      AUDIT_VKEY: [await deriveVkey(earlierAudit), foreignVkey].join(" "),
      LEDGER_VKEYS: await deriveVkey(earlierLedger),
    };
    const { logs } = (await createEntryCall(settings, "https://api.svc.test")("/.well-known/svc-trust.json")).body as {
      logs: { vkey: string; role: string }[];
    };
    expect(logs.map(({ vkey, role }) => [role, vkey])).toEqual([
      ["primary", await deriveVkey(productionSettings.LEDGER_KEY)],
      ["primary", await deriveVkey(earlierLedger)],
      ["primary", await deriveLogVkey("ledger.svc.test/ledger/01-test")],
      ["audit", await deriveLogVkey("api.svc.test/audit/00")],
      ["audit", await deriveLogVkey("api.svc.test/audit/01")],
      ["audit", await deriveVkey(earlierAudit)],
    ]);
  });

  test("refuses an anchor key with few distinct bytes", () => {
    const jwk = { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43), d: "A".repeat(43) };
    expect(listFaults({ ANCHOR_KEY: JSON.stringify(jwk) })).toEqual(["ANCHOR_KEY"]);
  });
});

describe("a development deployment", () => {
  test("starts with fixed keys under a local name", async () => {
    expect(listFaults({}, {})).toEqual([]);
    const local = { BASE_URL: "http://localhost:8787/v1", AUDIT_KEY: await createSecret("localhost/audit/00", 9) };
    expect(listFaults(local, {})).toEqual([]);
  });

  test("requires keys of the right kind and name, like a production deployment", () => {
    expect(listFaults({ LEDGER_KEY: witnessKey }, {})).toEqual(["LEDGER_KEY"]);
    expect(listFaults({ LEDGER_WRITE_TOKEN: "short" }, {})).toEqual(["LEDGER_WRITE_TOKEN"]);
  });
});
