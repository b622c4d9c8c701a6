// Tests replacing the ledger, which happens every six months. Entries in the old ledger can still be proven and read, and statements that
// were still waiting for the old ledger go to the new one.
import { toBase64 } from "../../core/bytes.ts";
import { firstShard } from "../../core/ids.ts";
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createCosignatureLine, formatVkey, keyKinds, parseNote } from "../../core/ledger/note.ts";
import { encodeP256Spki } from "../../core/ledger/spki.ts";
import { minuteMs } from "../../core/time.ts";
import { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
import { openNoteSigner } from "../../storage/note-keys.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { attestDue } from "../../workers/background/attestations.ts";
import { deletePassed } from "../../workers/background/change-log-cleanup.ts";
import { checkpointLedgers } from "../../workers/background/ledger-checkpoint.ts";
import { retryParkedAnchors } from "../../workers/background/parked-anchors.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { CheckpointAttestor } from "../../workers/platform/create-proof-services.ts";
import type { Services } from "../../workers/platform/platform.ts";
import { basePlatform } from "../support/anchoring.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { logVkey, origin, settings, writerHeaders } from "../support/ledger.ts";
import { createSecret, deriveVkey } from "../support/note-keys.ts";
import { getWithKey, issueCertificate, world } from "../support/world.ts";

const nextOrigin = "ledger.svc.test/ledger/next";
/** An external ledger that was used before the embedded ones. */
const externalOrigin = "ledger.example/ledger/2026h1";
const objects = env.LEDGER_LOG;

const retiredAnchorKey = toBase64(encodeP256Spki(new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)));
const witnessName = "witness.example/w1";
const witnessSigner = await openNoteSigner(await createSecret(witnessName, 78, keyKinds.witness));
const cosignedAt = "2026-11-21T10:00:00.000Z";
const witness: CheckpointAttestor = {
  kind: "cosignature",
  name: witnessName,
  scope: "every log",
  attest: async ({ note }) => {
    const line = await createCosignatureLine(parseNote(note)?.text ?? "", witnessSigner, BigInt(Date.parse(cosignedAt) / 1_000));
    return { ok: true, attestation: { kind: "cosignature", name: witnessName, time: cosignedAt, line }, verified: true };
  },
};

let next: Services;
let before = "";
let waiting = "";

const requestNext = async (path: string, init: RequestInit = {}): Promise<Response> =>
  buildApp(next).fetch(new Request(`http://svc.test${path}`, init), env, createExecutionContext());
const owner = { headers: { authorization: `Bearer ${world.acme.keys.live}` } };

beforeAll(async () => {
  before = (await issueCertificate()).cert_id;
  await basePlatform.auditLogStub(firstShard).drainNow();
  await submitAnchors(basePlatform);
  const attesting = { ...basePlatform, attestors: [witness] };
  await checkpointLedgers(attesting, Date.now());
  await attestDue(attesting);
  const silent = vi.spyOn(basePlatform as { requestAnchoring: () => Promise<void> }, "requestAnchoring").mockResolvedValue();
  waiting = (await issueCertificate()).cert_id;
  await scheduler.wait(2_200); // waits for the follow-up work of that request, which is delayed
  silent.mockRestore();

  const change = {
    LEDGER_ORIGIN: nextOrigin,
    LEDGER_KEY: await createSecret(nextOrigin, 23),
    LEDGER_VKEYS: `${logVkey} ${await deriveVkey(await createSecret(externalOrigin, 24))}`,
    RETIRED_ANCHOR_KEYS: retiredAnchorKey,
  };
  const configured = {
    getByName: (name: string) => ({
      fetch: async (request: Request): Promise<Response> => {
        const { url, method, headers } = request;
        const body = method === "POST" ? await request.arrayBuffer() : null;
        const ledgerResponse = await runInDurableObject(objects.getByName(name), async (_, state) => {
          const response = await new LedgerLog(state, { ...settings, ...change }).fetch(new Request(url, { method, headers, body }));
          return { bytes: await response.arrayBuffer(), status: response.status, headers: [...response.headers] };
        });
        return new Response(ledgerResponse.bytes, { status: ledgerResponse.status, headers: ledgerResponse.headers as [string, string][] });
      },
    }),
  };
  next = await createPlatform({ ...env, ...change, LEDGER_LOG: configured } as unknown as Env);
});

describe("replacing the ledger", () => {
  test("publishes the keys of both ledgers in a valid trust document", async () => {
    const document = (await (await requestNext("/.well-known/svc-trust.json")).json()) as { logs: { origin: string; role: string }[] };
    expect(document.logs.filter(({ role }) => role === "primary").map((log) => log.origin)).toEqual([
      nextOrigin,
      "ledger.svc.test/ledger/01-next",
      origin,
      externalOrigin,
    ]);
    expect(trustOf(document)?.ledgers.map((log) => log.origin)).toEqual([
      nextOrigin,
      "ledger.svc.test/ledger/01-next",
      origin,
      externalOrigin,
    ]);
  });

  test("reads proofs of earlier statements from its own earlier ledgers only", () => {
    expect(next.earlierLedgers.map((ledger) => ledger.origin)).toEqual([origin]);
  });

  test("still publishes the anchor keys of an earlier Rekor ledger", async () => {
    const document = (await (await requestNext("/.well-known/svc-trust.json")).json()) as { anchor_keys: string[] };
    expect(document.anchor_keys).toEqual([retiredAnchorKey]);
  });

  test("keeps the proof of an earlier certificate, including in its evidence pack", async () => {
    const shown = (await (await requestNext(`/v1/certs/${before}/verify`)).json()) as { data: { anchor: object } };
    expect(shown.data.anchor).toMatchObject({ status: "anchored", ledger: `tlog:${origin}` });
    const zip = new Uint8Array(await (await requestNext(`/v1/certs/${before}/evidence-pack?format=zip`, owner)).arrayBuffer());
    const trust = trustOf(await (await requestNext("/.well-known/svc-trust.json")).json());
    const { checks } = await verifyPack(zip, { ...defaultVerificationOptions, trust });
    const outcomes = Object.fromEntries(checks.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({
      "anchor.statement": "pass",
      "anchor.entry_hash": "pass",
      "anchor.note": "pass",
      "anchor.inclusion": "pass",
    });
  });

  test("keeps the attestation of an earlier certificate, including in its evidence pack", async () => {
    const holder = next as { attestors: readonly CheckpointAttestor[] };
    holder.attestors = [...holder.attestors, witness];
    const shown = (await (await requestNext(`/v1/certs/${before}/verify`)).json()) as { data: { anchor: object } };
    expect(shown.data.anchor).toMatchObject({ attested: { time: cosignedAt, attestations: [{ name: witnessName }] } });
    const zip = new Uint8Array(await (await requestNext(`/v1/certs/${before}/evidence-pack?format=zip`, owner)).arrayBuffer());
    const published = (await (await requestNext("/.well-known/svc-trust.json")).json()) as object;
    const trust = trustOf({ ...published, witnesses: [formatVkey(witnessSigner.key)] });
    const { checks, failed } = await verifyPack(zip, { ...defaultVerificationOptions, witnessMin: 1, trust });
    expect(failed).toBeNull();
    const outcomes = Object.fromEntries(checks.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({ "attest.inclusion": "pass", "attest.cosign": "pass" });
  });

  test("anchors a waiting statement in the new ledger", async () => {
    const readShownAnchor = async () => (await getWithKey(`/v1/certs/${waiting}/verify`)).body.data.anchor;
    expect(await readShownAnchor()).toMatchObject({ status: "pending", ledger: `tlog:${origin}` });
    await submitAnchors(next);
    expect(await readShownAnchor()).toMatchObject({ status: "pending" });
    await runScheduledJobs(
      { ...next, auditLogStub: basePlatform.auditLogStub },
      "*/15 * * * *",
      Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs,
    );
    expect(await readShownAnchor()).toMatchObject({ status: "pending", ledger: `tlog:${nextOrigin}` });
    await submitAnchors(next);
    expect(await readShownAnchor()).toMatchObject({ status: "anchored", ledger: `tlog:${nextOrigin}` });
  });

  test("anchors a statement that an isolate with the earlier settings commits later", async () => {
    const silent = vi.spyOn(basePlatform as { requestAnchoring: () => Promise<void> }, "requestAnchoring").mockResolvedValue();
    const late = (await issueCertificate()).cert_id;
    await waitUntilSettled();
    silent.mockRestore();
    const platform = { ...next, auditLogStub: basePlatform.auditLogStub };
    await submitAnchors(next);
    await issueCertificate(); // adds a newer change, because the cleanup never deletes the last change that was read
    await basePlatform.auditLogStub(firstShard).drainNow();
    await submitAnchors(next);
    await deletePassed(platform);
    await retryParkedAnchors(platform);
    await submitAnchors(next);
    const { anchor } = (await getWithKey(`/v1/certs/${late}/verify`)).body.data;
    expect(anchor).toMatchObject({ status: "anchored", ledger: `tlog:${nextOrigin}` });
  });

  test("keeps the earlier ledger readable at its address, but closed for new entries", async () => {
    const path = `/ledger/${origin.split("/").at(-1)}`;
    const checkpoint = await requestNext(`${path}/checkpoint`);
    expect([checkpoint.status, (await checkpoint.text()).split("\n")[0]]).toEqual([200, origin]);
    expect((await requestNext(`${path}/tile/0/000.p/1`)).status).toBe(200);
    const added = await requestNext(`${path}/add`, { method: "POST", headers: writerHeaders, body: "late" });
    expect([added.status, await added.text()]).toEqual([503, "This log is closed. Add entries to its successor.\n"]);
    const current = await requestNext("/ledger/next/checkpoint");
    expect([current.status, (await current.text()).split("\n")[0]]).toEqual([200, nextOrigin]);
  });
});
