// Tests attestations of checkpoints. The ledger's own witness attests a checkpoint of the audit log before the checkpoint is used. Other
// witnesses and timestamp authorities can attest it later. An attestor never delays anchoring.
import { openShards } from "../../storage/shards.ts";
import { firstShard } from "../../core/ids.ts";
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { areBytesEqual, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import type { LedgerAdapter, LedgerSubmission } from "../../core/ledger/adapter.ts";
import type { AttestationOutcome, AttestationRequest } from "../../core/ledger/attestor.ts";
import { formatCheckpoint, parseCheckpoint } from "../../core/ledger/checkpoint.ts";
import { isConsistent, computeRootFromInclusion, hashLeaf } from "../../core/ledger/merkle.ts";
import { createCosignatureLine, keyKinds, parseNote, signNote, formatVkey, type NoteSigner } from "../../core/ledger/note.ts";
import { formatAddCheckpointRequest } from "../../core/ledger/witness.ts";
import { fromBase64 } from "../../core/bytes.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import { parseZip } from "../../core/certificates/evidence-zip.ts";
import { openKeysNamed, openNoteSigner } from "../../storage/note-keys.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { loadConfig } from "../../workers/env.ts";
import { attestDue } from "../../workers/background/attestations.ts";
import { checkpointAuditLogs } from "../../workers/background/audit-checkpoints.ts";
import { checkpointLedgers } from "../../workers/background/ledger-checkpoint.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { createProofServices, type CheckpointAttestor } from "../../workers/platform/create-proof-services.ts";
import { buildApp } from "../../workers/app.ts";
import { createPlatform, getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { buildAuditRow, toAuditLog, toChainTag } from "../support/audit.ts";
import { createSecret } from "../support/note-keys.ts";
import { getWithKey, issueCertificate, world } from "../support/world.ts";
import { exports } from "cloudflare:workers";

const base = await getPlatform(env);
const origin = base.config.ledger.origin;
const witnessSigner = await openNoteSigner(await createSecret("witness.example/w1", 77, keyKinds.witness));

/** The last 15-minute interval that a test in this file used. All of these intervals are more than ten days in the future. */
let window = Math.floor(Date.now() / (15 * minuteMs)) + 1_000;
const getNextWindow = (): Instant => {
  window += 1;
  return window * 15 * minuteMs;
};

interface Row {
  readonly origin: string;
  readonly window: number;
  readonly kind: string;
  readonly attestor: string;
  readonly status: string;
  readonly attempts: number;
  readonly time: string | null;
}
const listRows = async (target: string): Promise<Row[]> =>
  (
    await env.DB.prepare(
      "SELECT origin, window, kind, attestor, status, attempts, time FROM attestations WHERE origin = ? ORDER BY window, kind",
    )
      .bind(target)
      .all<Row & Record<string, unknown>>()
  ).results;

/** Creates the witness w1. `behave` determines its response. By default, the witness cosigns. */
const createWitness = (behave: (checkpoint: AttestationRequest) => Promise<AttestationOutcome> = cosign): CheckpointAttestor => ({
  kind: "cosignature",
  name: "witness.example/w1",
  scope: "every log",
  attest: behave,
});
const cosignedAt = "2026-11-21T10:00:00.000Z";
async function cosign({ note }: AttestationRequest): Promise<AttestationOutcome> {
  const line = await createCosignatureLine(parseNote(note)?.text ?? "", witnessSigner, BigInt(Date.parse(cosignedAt) / 1_000));
  return { ok: true, attestation: { kind: "cosignature", name: "witness.example/w1", time: cosignedAt, line }, verified: true };
}
const createAuthority = (behave: () => Promise<AttestationOutcome>): CheckpointAttestor => ({
  kind: "rfc3161",
  name: "tsa.example",
  scope: "every log",
  attest: behave,
});
const stamp = { kind: "rfc3161", tsa: "tsa.example", time: cosignedAt, token: "AAAA", spki_sha256: "ab".repeat(32) } as const;
const retiredAt = "2026-01-01T00:00:00.000Z";
const retiredAuthority = { name: "tsa.example", url: "https://tsa.example/tsr", spki_sha256: "ab".repeat(32), valid_to: retiredAt };
const failToConnect = async (): Promise<AttestationOutcome> => ({ ok: false, kind: "retry", code: "connection" });

const createPlatformWith = (attestors: readonly CheckpointAttestor[], change: Partial<Platform> = {}): Platform => ({
  ...base,
  attestors: [...base.attestors.filter(({ scope }) => scope === "guard"), ...attestors],
  ...change,
});

const createServiceWith = async (authorities: readonly object[]) => {
  const changed = { ...env, TIMESTAMP_AUTHORITIES: JSON.stringify(authorities) };
  const platform = await createPlatform(changed);
  const app = buildApp(platform);
  const read = async (path: string): Promise<unknown> =>
    (await app.fetch(new Request(`http://svc.test${path}`), changed, createExecutionContext())).json();
  return { platform, read };
};

/** Sends a GET request to the API, with these attestors added to the service's own. */
const readShownBy = async (attestors: readonly CheckpointAttestor[], path: string): Promise<unknown> => {
  const holder = base as { attestors: readonly CheckpointAttestor[] };
  const before = holder.attestors;
  holder.attestors = [...before, ...attestors];
  try {
    return (await getWithKey(path)).body.data;
  } finally {
    holder.attestors = before;
  }
};

const anchorCertificate = async (): Promise<string> => {
  const { cert_id } = await issueCertificate();
  await base.auditLogStub(firstShard).drainNow();
  await submitAnchors(base);
  return cert_id;
};

beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM attestations"), env.DB.prepare("DELETE FROM checkpoints")]);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a checkpoint of the audit log", () => {
  test("is cosigned by the ledger's own witness, and its statement waits for the ledger", async () => {
    await anchorCertificate();
    await checkpointAuditLogs(base, getNextWindow());
    expect(await listRows("svc.test/audit/00")).toMatchObject([
      { kind: "cosignature", attestor: "ledger.svc.test/witness", status: "attested" },
    ]);
    const statements = await env.DB.prepare(
      "SELECT statement FROM anchors WHERE entity_id = 'svc.test/audit/00' AND kind = 'checkpoint'",
    ).all<{
      statement: string;
    }>();
    expect(statements.results.length).toBeGreaterThan(0);
  });

  /**
   * Creates a platform that treats the ledger as external. The ledger is the same object at a different URL, and its witness is in the list
   * of external witnesses.
   */
  const withLedgerElsewhere = async (): Promise<Platform> => {
    const url = `https://elsewhere.test${origin.slice(origin.indexOf("/"))}`;
    const [key, guard] = await Promise.all(
      [base.config.ledger.keys[0], base.config.ledger.witnessKey].map((secret) => openNoteSigner(secret as string)),
    );
    const settings = {
      LEDGER_URL: url,
      LEDGER_VKEYS: formatVkey((key as NoteSigner).key),
      WITNESSES: JSON.stringify([{ vkey: formatVkey((guard as NoteSigner).key), url }]),
    };
    vi.spyOn(globalThis, "fetch").mockImplementation((request) => base.fetchLedger(new Request(request as Request)));
    const config = loadConfig({ ...env, ...settings });
    const respondAsNobody = async (): Promise<Response> => new Response("nothing is embedded", { status: 599 });
    return { ...base, config, ...(await createProofServices(config, [firstShard], respondAsNobody, Date.now, () => new Uint8Array(8))) };
  };

  test.each([
    ["embedded", toAuditLog(7), async () => base],
    ["elsewhere", toAuditLog(8), withLedgerElsewhere],
  ])(
    "is neither saved nor anchored when it does not continue the one that the ledger %s cosigned last (L3)",
    async (_, shard, platformOfIt) => {
      const platform = { ...(await platformOfIt()), shards: openShards({ DB: env.DB, [`DB_${shard}`]: env.DB }) };
      const log = `svc.test/audit/${shard}`;
      await env.DB.prepare("DELETE FROM anchors WHERE entity_id = ?").bind(log).run();
      await base.auditLogStub(shard).append([buildAuditRow("first", toChainTag(1))]);
      // The ledger has already cosigned a different history of this log, as if the log had been reset to an earlier state.
      const signers = await openKeysNamed({ secrets: "", logSeed: env.LOG_SEED }, log);
      const foreign = await signNote(formatCheckpoint({ origin: log, size: 900n, root: sha256("another history") }), signers);
      const response = await base.fetchLedger(
        new Request(`https://${origin}/add-checkpoint`, {
          method: "POST",
          body: formatAddCheckpointRequest({ oldSize: 0n, proof: [], checkpoint: foreign }),
        }),
      );
      expect(response.status, await response.text()).toBe(200);
      const faults: string[] = [];
      vi.spyOn(base.log, "error").mockImplementation((fault) => faults.push(fault.error));
      await checkpointAuditLogs(platform, getNextWindow());
      expect(faults).toContain("the ledger refuses the checkpoint: superseded");
      expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM checkpoints WHERE origin = ?").bind(log).first("n")).toBe(0);
      expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM anchors WHERE entity_id = ?").bind(log).first("n")).toBe(0);
    },
  );

  test("is cosigned by the witness of an external ledger, which is not asked about the ledger itself", async () => {
    const platform = await withLedgerElsewhere();
    await checkpointAuditLogs(platform, getNextWindow());
    expect(await listRows("svc.test/audit/00")).toMatchObject([{ attestor: "ledger.svc.test/witness", status: "attested" }]);
    await anchorCertificate();
    await checkpointLedgers(platform, getNextWindow());
    expect(await listRows(origin)).toEqual([]);
  });

  test("is made once per interval with one row per attestor, and a skipped interval has none (O6)", async () => {
    const at = getNextWindow();
    const platform = createPlatformWith([createWitness()]);
    await Promise.all([checkpointAuditLogs(platform, at), checkpointAuditLogs(platform, at + minuteMs)]);
    expect((await listRows("svc.test/audit/00")).map(({ attestor }) => attestor).sort()).toEqual([
      "ledger.svc.test/witness",
      "witness.example/w1",
    ]);
    getNextWindow();
    await checkpointAuditLogs(platform, getNextWindow());
    const windows = new Set((await listRows("svc.test/audit/00")).map((row) => row.window));
    expect([...windows]).toEqual([window - 2, window]);
  });

  test("of an idle log has its own statement in every interval (Z2)", async () => {
    await env.DB.prepare("DELETE FROM anchors WHERE kind = 'checkpoint'").run();
    await checkpointAuditLogs(base, getNextWindow());
    await checkpointAuditLogs(base, getNextWindow());
    const { results } = await env.DB.prepare("SELECT statement FROM anchors WHERE entity_id = 'svc.test/audit/00' ORDER BY ord").all<{
      statement: string;
    }>();
    const [first, second] = results.map(({ statement }) => JSON.parse(statement) as Record<string, string>);
    expect(results).toHaveLength(2);
    expect(first?.checkpoint_hash).toBe(second?.checkpoint_hash);
    expect(first?.timestamp).not.toBe(second?.timestamp);
  });

  test("is proven to another witness from the size that the witness cosigned last", async () => {
    const requests: { size: bigint; from: bigint; holds: boolean }[] = [];
    let last: { size: bigint; root: Uint8Array } | null = null;
    const careful = createWitness(async (checkpoint) => {
      const claimed = parseCheckpoint(checkpoint.note);
      if (claimed === null) return { ok: false, kind: "permanent", code: "none" };
      const proof = await checkpoint.getConsistencyProof(checkpoint.witnessedSize);
      requests.push({
        size: claimed.size,
        from: checkpoint.witnessedSize,
        holds: last === null || isConsistent(last, claimed, proof),
      });
      last = claimed;
      return cosign(checkpoint);
    });
    const only = createPlatformWith([careful], { shards: openShards({ DB: env.DB }) });
    await checkpointAuditLogs(only, getNextWindow());
    await attestDue(only);
    await anchorCertificate();
    await checkpointAuditLogs(only, getNextWindow());
    await attestDue(only);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.from).toBe(requests[0]?.size);
    expect(requests[1]?.size).toBeGreaterThan(requests[0]?.size ?? 0n);
    expect(requests.every(({ holds }) => holds)).toBe(true);
  });
});

describe("a checkpoint of the ledger", () => {
  test("adds a late attestation to verify and to the evidence pack without changing the anchor (O7)", async () => {
    const certId = await anchorCertificate();
    const path = `/v1/certs/${certId}/verify`;
    let isUp = false;
    const slow = createWitness((checkpoint) => (isUp ? cosign(checkpoint) : failToConnect()));
    let now = Date.now();
    const platform = createPlatformWith([slow], { clock: () => now });
    await checkpointLedgers(platform, getNextWindow());
    await attestDue(platform);
    expect(await listRows(origin)).toMatchObject([{ status: "pending", attempts: 1 }]);
    const before = (await readShownBy([slow], path)) as { anchor: Record<string, unknown> };
    expect(before.anchor.status).toBe("anchored");
    expect(before.anchor).not.toHaveProperty("attested");

    isUp = true;
    await attestDue(platform);
    expect(await listRows(origin)).toMatchObject([{ status: "pending" }]); // the retry is not due yet
    now += 20 * minuteMs;
    await attestDue(platform);
    expect(await listRows(origin)).toMatchObject([{ status: "attested", time: cosignedAt }]);

    const { anchor } = (await readShownBy([slow], path)) as { anchor: { [member: string]: never } & { attested: Record<string, never> } };
    const { attested } = anchor as unknown as {
      attested: {
        tree_size: string;
        signed_root: string;
        inclusion_proof: string[];
        time: string;
        time_source: string;
        attestations: object[];
      };
    };
    expect(attested).toMatchObject({
      time: cosignedAt,
      time_source: "cosignature",
      attestations: [{ kind: "cosignature", name: "witness.example/w1" }],
    });
    const checkpoint = parseCheckpoint(attested.signed_root);
    const leaf = hashLeaf(encodeUtf8(anchor.statement as unknown as string));
    const proof = attested.inclusion_proof.map((hash) => fromBase64(hash) as Uint8Array);
    const root = computeRootFromInclusion({
      leaf,
      index: BigInt(anchor.leaf_index as unknown as string),
      size: checkpoint?.size ?? 0n,
      proof,
    });
    expect(root !== null && areBytesEqual(root, checkpoint?.root ?? new Uint8Array(0))).toBe(true);
    expect(attested.tree_size).toBe(checkpoint?.size.toString());

    const holder = base as { attestors: readonly CheckpointAttestor[] };
    const attestors = holder.attestors;
    holder.attestors = [...attestors, slow];
    const response = await exports.default.fetch(
      new Request(`http://svc.test/v1/certs/${certId}/evidence-pack?format=zip`, {
        headers: { authorization: `Bearer ${world.acme.keys.live}` },
      }),
    );
    const bundle = (await getWithKey(`/v1/certs/${certId}/evidence-pack`, world.acme.keys.live)).body.data;
    holder.attestors = attestors;
    expect(bundle.ledger).toMatchObject({
      checkpoint: attested.signed_root,
      tree_size: attested.tree_size,
      cosignatures: [expect.stringContaining("w1")],
    });
    const zip = new Uint8Array(await response.arrayBuffer());
    const published = (await getWithKey("/.well-known/svc-trust.json")).body;
    const trust = trustOf({ ...published, witnesses: [formatVkey(witnessSigner.key)] });
    const report = await verifyPack(zip, { ...defaultVerificationOptions, witnessMin: 1, trust });
    expect(report).toMatchObject({ failed: null });
    const outcomes = Object.fromEntries(report.checks.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({ "attest.inclusion": "pass", "attest.cosign": "pass" });
    const opened = parseZip(zip, 20_000_000);
    expect(opened.ok && opened.files.has("anchors/issued/checkpoint.txt") && opened.files.has("anchors/issued/attested.tlog-proof")).toBe(
      true,
    );
  });

  test("is not requested without attestors, or again before the ledger has grown", async () => {
    await anchorCertificate();
    await checkpointLedgers(base, getNextWindow());
    expect(await listRows(origin)).toEqual([]);
    const platform = createPlatformWith([createWitness()]);
    await checkpointLedgers(platform, getNextWindow());
    await checkpointLedgers(platform, getNextWindow());
    expect(await listRows(origin)).toHaveLength(1);
  });

  test("is abandoned when refused permanently, hidden when stamped with an unknown key, and logged in both cases", async () => {
    const certId = await anchorCertificate();
    const faults: string[] = [];
    vi.spyOn(base.log, "error").mockImplementation((fault) => faults.push(fault.error));
    const refusing = createWitness(async () => ({ ok: false, kind: "permanent", code: "conflict" }));
    const unknownKey = createAuthority(async () => ({ ok: true, attestation: stamp, verified: false }));
    const platform = createPlatformWith([refusing, unknownKey]);
    await checkpointLedgers(platform, getNextWindow());
    await attestDue(platform);
    expect((await listRows(origin)).map(({ kind, status }) => [kind, status])).toEqual([
      ["cosignature", "given_up"],
      ["rfc3161", "unverified"],
    ]);
    expect(faults.join("\n")).toContain("witness.example/w1 refuses: conflict");
    expect(faults.join("\n")).toContain("tsa.example stamped with a key that is not pinned");
    const { anchor } = (await readShownBy([refusing, unknownKey], `/v1/certs/${certId}/verify`)) as { anchor: object };
    expect(anchor).not.toHaveProperty("attested");
  });

  test("replaces earlier ones that are still waiting, because a late timestamp would prove nothing more", async () => {
    const platform = createPlatformWith([createAuthority(failToConnect)]);
    await anchorCertificate();
    await checkpointLedgers(platform, getNextWindow());
    await attestDue(platform);
    await anchorCertificate();
    await checkpointLedgers(platform, getNextWindow());
    expect((await listRows(origin)).map(({ status }) => status)).toEqual(["given_up", "pending"]);
  });

  test("is not shown as attested with too few witnesses, or without the configured authority", async () => {
    const certId = await anchorCertificate();
    const platform = createPlatformWith([createWitness()]);
    await checkpointLedgers(platform, getNextWindow());
    await attestDue(platform);
    const holder = base as { config: Platform["config"] };
    const { config } = base;
    const readShownWith = async (change: Partial<Platform["config"]>): Promise<object> => {
      holder.config = { ...config, ...change };
      try {
        return ((await readShownBy([createWitness()], `/v1/certs/${certId}/verify`)) as { anchor: object }).anchor;
      } finally {
        holder.config = config;
      }
    };
    const pin = { name: "tsa.example", spkiSha256: "ab".repeat(32), validFrom: "2026-01-01T00:00:00.000Z" };
    expect(await readShownWith({ witnessMin: 2 })).not.toHaveProperty("attested");
    expect(
      await readShownWith({ authorities: [{ name: "tsa.example", url: "https://tsa.example", pins: [pin], pem: "" }] }),
    ).not.toHaveProperty("attested");
    expect(await readShownWith({ witnessMin: 1 })).toHaveProperty("attested");
  });

  test("is not shown when the tiles of its ledger are missing or prove another tree", async () => {
    const certId = await anchorCertificate();
    const platform = createPlatformWith([createWitness()]);
    await checkpointLedgers(platform, getNextWindow());
    await attestDue(platform);
    vi.spyOn(base.log, "error").mockImplementation(() => undefined);
    const [ledger] = base.ledgersOf(firstShard) as [LedgerAdapter];
    const holder = base as { ledgersOf: Platform["ledgersOf"] };
    const { ledgersOf } = holder;
    const lies: LedgerAdapter["getInclusionProof"][] = [
      async () => ({ ok: true, hashes: [] }),
      async () => ({ ok: true, hashes: [new Uint8Array(32)] }),
      async () => ({ ok: false, kind: "retry", code: "timeout" }),
    ];
    for (const inclusion of lies) {
      holder.ledgersOf = () => [{ ...ledger, getInclusionProof: inclusion }];
      const { anchor } = (await readShownBy([createWitness()], `/v1/certs/${certId}/verify`)) as { anchor: Record<string, unknown> };
      expect(anchor.status).toBe("anchored");
      expect(anchor).not.toHaveProperty("attested");
    }
    holder.ledgersOf = ledgersOf;
  });

  test("is attested by one attestor while another hangs", async () => {
    await anchorCertificate();
    let resolveHanging: () => void = () => undefined;
    const hanging = createAuthority(
      () =>
        new Promise((resolve) => {
          resolveHanging = () => resolve({ ok: false, kind: "retry", code: "timeout" });
        }),
    );
    const platform = createPlatformWith([hanging, createWitness()]);
    await checkpointLedgers(platform, getNextWindow());
    const run = attestDue(platform);
    await vi.waitFor(async () => {
      expect((await listRows(origin)).find(({ kind }) => kind === "cosignature")?.status).toBe("attested");
    }, 20_000);
    expect((await listRows(origin)).find(({ kind }) => kind === "rfc3161")?.status).toBe("pending");
    resolveHanging();
    await run;
  });

  test("is not sent to an authority whose key has expired, but verifiers still get that key", async () => {
    const authorities = ["old", "new"].map((name) => ({
      name: `${name}.example`,
      url: `https://${name}.example/tsr`,
      spki_sha256: "ab".repeat(32),
      ...(name === "old" && { valid_to: retiredAt }),
    }));
    const { platform, read } = await createServiceWith(authorities);
    await anchorCertificate();
    await checkpointLedgers(platform, getNextWindow());
    expect((await listRows(origin)).map(({ attestor }) => attestor)).toEqual(["new.example"]);
    expect(await read("/.well-known/svc-trust.json")).toMatchObject({ tsa: [{ name: "old.example" }, { name: "new.example" }] });
  });

  test("keeps the timestamp of the only authority after it was retired, and needs none from then on", async () => {
    const older = await anchorCertificate();
    const asking = createPlatformWith([createAuthority(async () => ({ ok: true, attestation: stamp, verified: true }))]);
    await checkpointLedgers(asking, getNextWindow());
    await attestDue(asking);

    const { platform, read } = await createServiceWith([retiredAuthority]);
    const newer = await anchorCertificate();
    await checkpointLedgers(platform, getNextWindow());
    expect((await listRows(origin)).map(({ kind }) => kind)).toEqual(["rfc3161"]);
    expect(await read(`/v1/certs/${older}/verify`)).toMatchObject({
      data: { anchor: { attested: { attestations: [{ kind: "rfc3161", tsa: "tsa.example" }] } } },
    });

    const witnessed = { ...platform, attestors: [...platform.attestors, createWitness()] };
    await checkpointLedgers(witnessed, getNextWindow());
    await attestDue(witnessed);
    expect(await read(`/v1/certs/${newer}/verify`)).toMatchObject({
      data: { anchor: { attested: { attestations: [{ kind: "cosignature" }] } } },
    });
  });

  test("is not sent again to an authority that has been retired since the first request", async () => {
    await anchorCertificate();
    await checkpointLedgers(createPlatformWith([createAuthority(failToConnect)]), getNextWindow());
    const { platform } = await createServiceWith([retiredAuthority]);
    const faults: string[] = [];
    await attestDue({ ...platform, log: { ...platform.log, error: ({ error }) => faults.push(error) } });
    expect(await listRows(origin)).toMatchObject([{ kind: "rfc3161", status: "given_up" }]);
    expect(faults).toEqual([]);
  });

  test("goes to the mirrors as a statement, unlike statements about certificates", async () => {
    const taken: LedgerSubmission[] = [];
    const [ledger] = base.ledgersOf(firstShard) as [LedgerAdapter];
    const mirror: LedgerAdapter = {
      ...ledger,
      id: "tlog:mirror.example/ledger/1",
      role: "mirror",
      submit: async (batch) => {
        taken.push(...batch);
        return batch.map(() => ({ ok: false, kind: "retry", code: "http_503" }));
      },
    };
    const platform = createPlatformWith([], { ledgersOf: () => [ledger, mirror] });
    await anchorCertificate();
    const at = getNextWindow();
    await checkpointAuditLogs(platform, at);
    await checkpointLedgers(platform, at);
    await submitAnchors(platform);
    const origins = taken.map(({ statement }) => JSON.parse(statement) as { schema: string; origin: string });
    expect(origins.every(({ schema }) => schema === "svc-checkpoint-v1")).toBe(true);
    expect(origins.map((one) => one.origin)).toEqual(expect.arrayContaining([origin, "svc.test/audit/00"]));
  });
});
