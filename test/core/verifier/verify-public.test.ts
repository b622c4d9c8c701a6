// Tests verifying the public API response with only its JSON and trusted keys, without a secret or a pack.
import { describe, expect, test } from "vitest";
import { toCanonicalJson, type Json, type JsonObject } from "../../../core/canonical-json.ts";
import type { Report } from "../../../verifier/checks.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions } from "../../../verifier/verify-pack.ts";
import { verifyPublic } from "../../../verifier/verify-public.ts";
import { plainTrust, trustDocument, buildWorld, type EvidenceOptions } from "./evidence.ts";

const buildView = async (options: EvidenceOptions = {}): Promise<JsonObject> => (await buildWorld(options)).parts.publicView;
const verifyView = (view: JsonObject, document: JsonObject | null = trustDocument): Promise<Report> =>
  verifyPublic(view, { ...defaultVerificationOptions, trust: document === null ? null : trustOf(document) });
const findFailure = async (view: JsonObject): Promise<string> => {
  const { failed, verdict } = await verifyView(view);
  return failed ?? verdict;
};

const attested = await buildView({ isRevoked: true });

describe("the public response", () => {
  test("of an anchored, attested, withdrawn certificate passes every check", async () => {
    const report = await verifyView(attested);
    expect(report).toMatchObject({ verdict: "valid", failed: null, fingerprint: attested.fingerprint });
    expect(report.checks.filter(({ outcome }) => outcome !== "pass").map(({ id }) => id)).toEqual([
      "anchor.rekor_body",
      "revoke.rekor_body",
    ]);
  });

  test("is unchanged by JSON serialization", async () => {
    expect((await verifyView(JSON.parse(JSON.stringify(attested)))).verdict).toBe("valid");
  });

  test("is incomplete until the ledger confirms", async () => {
    expect((await verifyView(await buildView({ anchors: "pending" }))).missing).toEqual([
      "anchor.entry_hash: the ledger has not confirmed yet: there is no receipt",
    ]);
  });

  test("is valid without attestations when none are required", async () => {
    expect((await verifyView(await buildView({ anchors: "anchored" }), plainTrust)).verdict).toBe("valid");
    expect((await verifyView(await buildView({ anchors: "anchored" }))).verdict).toBe("incomplete");
  });

  test("has its fingerprint checked without trusted keys", async () => {
    const report = await verifyView(attested, null);
    expect(report.verdict).toBe("incomplete");
    expect(report.checks.slice(0, 4).map(({ outcome }) => outcome)).toEqual(["pass", "pass", "pass", "pass"]);
  });

  const anchor = attested.anchor as JsonObject;
  const attestedPart = anchor.attested as JsonObject;
  const inAnchor = (change: JsonObject): JsonObject => ({ anchor: { ...anchor, ...change } });
  test.each<[string, JsonObject]>([
    ["fp.canonical", { canonical: `${attested.canonical} ` }],
    ["fp.canonical", { canonical: 7 }],
    ["fp.hash", { fingerprint: "00".repeat(32) }],
    ["disclosure.hash", { disclosure_text: "another text" }],
    ["cert.consistency", { purpose: "another purpose" }],
    ["cert.consistency", { preimage: { ...(attested.preimage as JsonObject), purpose: "another purpose" } }],
    ["cert.consistency", { signature: { ...(attested.signature as JsonObject), value: "AAAA" } }],
    ["cert.consistency", { status: "active" }],
    [
      "anchor.statement",
      inAnchor({ statement: toCanonicalJson({ ...JSON.parse(String(anchor.statement)), origin_domain: "other.example" }) }),
    ],
    ["anchor.entry_hash", inAnchor({ entry_hash: "00".repeat(32) })],
    ["anchor.note", inAnchor({ signed_root: String(anchor.signed_root).replace("20", "21") })],
    ["anchor.note", inAnchor({ signed_root: "hello" })],
    ["anchor.note", inAnchor({ tree_size: "21" })],
    ["anchor.note", inAnchor({ ledger: "tlog:other.example/log" })],
    ["anchor.note", inAnchor({ tx_ref: "ledger.example/ledger/2026h2#18" })],
    ["anchor.entry_hash", inAnchor({ leaf_index: 17 })],
    ["anchor.entry_hash", inAnchor({ inclusion_proof: "none" })],
    ["anchor.inclusion", inAnchor({ inclusion_proof: (anchor.inclusion_proof as Json[]).slice(1) })],
    ["anchor.inclusion", inAnchor({ tlog_proof: String(anchor.tlog_proof).replace("index 17", "index 18") })],
    ["attest.inclusion", inAnchor({ attested: { ...attestedPart, inclusion_proof: [] } })],
    ["attest.inclusion", inAnchor({ attested: { ...attestedPart, signed_root: anchor.signed_root as string } })],
    ["attest.tsa", inAnchor({ attested: { ...attestedPart, attestations: [{ kind: "rfc3161", token: "AAAA" }] } })],
    ["revoke.statement", { withdrawal: { ...(attested.withdrawal as JsonObject), withdrawn_at: "2027-01-01T00:00:00.000Z" } }],
    ["revoke.statement", { withdrawal: { ...(attested.withdrawal as JsonObject), anchor } }],
  ])("fails %s when it is changed", async (check, change) => {
    expect(await findFailure({ ...attested, ...change })).toBe(check);
  });

  test("gives a verdict for any JSON without a crash", async () => {
    const strange: readonly JsonObject[] = [
      {},
      { canonical: null, anchor: [] },
      { ...attested, anchor: { status: "anchored", statement: "x" } },
      { ...attested, anchor: { ...anchor, attested: { attestations: [null, 7, "x"] } } },
      { ...attested, withdrawal: [] },
    ];
    for (const view of strange) expect((await verifyView(view)).verdict).not.toBe("valid");
  });
});
