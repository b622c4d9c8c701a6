// Tests the evidence pack as zip, HTML and JSON. Only the offline verifier decides whether a pack is valid.
import { statementsSql } from "../support/statements-sql.ts";
import { firstShard } from "../../core/ids.ts";
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { fromBase64 } from "../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { parseNote } from "../../core/ledger/note.ts";
import { minuteMs } from "../../core/time.ts";
import { parseZip } from "../../core/certificates/evidence-zip.ts";
import type { Report } from "../../verifier/checks.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { checkpointAuditLogs } from "../../workers/background/audit-checkpoints.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { copyAuditEntry } from "../support/changes.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { eraseCertificate } from "../support/erasure.ts";
import { signIn } from "../support/people.ts";
import { requestWithdrawalCode, buildJsonPost, createEmailAddress, issueToNewPerson, withdrawCertificate } from "../support/withdrawal.ts";
import { call, submitConsent, getWithKey, issueCertificate, buildSubmission, world } from "../support/world.ts";

const platform = await getPlatform(env);
const key = world.acme.keys.live;
const person = { email: "hidden.person@secret.example", first_name: "Hiddenfirst", phone: "+1 202 555 0177" };

const requestPack = async (
  certId: string,
  query: string,
  apiKey = key,
): Promise<{ status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> }> => {
  const response = await exports.default.fetch(
    new Request(`http://svc.test/v1/certs/${certId}/evidence-pack${query}`, { headers: { authorization: `Bearer ${apiKey}` } }),
  );
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
};
const zipOf = async (certId: string, query = "", apiKey = key): Promise<Uint8Array<ArrayBuffer>> =>
  (await requestPack(certId, `?format=zip${query}`, apiKey)).bytes;
const fetchPublishedTrust = async () => trustOf((await getWithKey("/.well-known/svc-trust.json")).body);
const verifyZip = async (zip: Uint8Array): Promise<Report> =>
  verifyPack(zip, { ...defaultVerificationOptions, trust: await fetchPublishedTrust() });
const readZipFiles = (zip: Uint8Array): ReadonlyMap<string, Uint8Array> => {
  const opened = parseZip(zip, 20_000_000);
  if (!opened.ok) throw new Error(opened.fault);
  return opened.files;
};
const readFileText = (files: ReadonlyMap<string, Uint8Array>, path: string): string => new TextDecoder().decode(files.get(path));

/** Drains the audit log and anchors everything. If that fails, the assertion shows the ledger's error. */
const anchorAll = async (): Promise<void> => {
  await platform.auditLogStub(firstShard).drainNow();
  await submitAnchors(platform);
  await waitUntilSettled(); // the issuance's background work may submit the same statements
  const { results } = await env.DB.prepare(`SELECT last_error FROM ${statementsSql} WHERE status <> 'anchored'`).all();
  expect(results).toEqual([]);
};

/** Issues a certificate, anchors it in the ledger and records it in the audit log. */
const issueAnchored = async (): Promise<string> => {
  const { cert_id } = await issueCertificate({ fields: person });
  await anchorAll();
  return cert_id;
};

let certId = "";
let window = Math.floor(Date.now() / (15 * minuteMs));
beforeAll(async () => {
  certId = await issueAnchored();
  window += 1;
  await checkpointAuditLogs(platform, window * 15 * minuteMs);
});

describe("GET /v1/certs/{id}/evidence-pack?format=zip", () => {
  test("passes every check of the verifier with the published keys, with nothing missing", async () => {
    const report = await verifyZip(await zipOf(certId));
    expect(report).toMatchObject({ verdict: "valid", failed: null, missing: [], cert_id: certId });
    const outcomes = Object.fromEntries(report.checks.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({ "anchor.inclusion": "pass", "audit.inclusion": "pass", "audit.heads": "pass", "audit.chain": "pass" });
  });

  test("is complete for a business's first certificate as soon as the audit log has its entry, before the first quarter-hour checkpoint", async () => {
    const { other } = world; // this business had no audit entries when the chain heads were recorded
    const issued = await submitConsent(
      { ...buildSubmission(other), page_url: "https://www.other.example/quote" },
      { origin: "https://www.other.example" },
    );
    const { cert_id } = issued.body.data as { cert_id: string };
    await anchorAll();
    const first = await zipOf(cert_id, "", other.keys.live);
    expect(await verifyZip(first)).toMatchObject({ verdict: "valid", failed: null, missing: [] });
    const readZipContents = (zip: Uint8Array): object[] =>
      [...readZipFiles(zip)].filter(([path]) => !/^manifest/i.test(path)).map(([path, file]) => [path, new TextDecoder().decode(file)]);
    const second = await zipOf(cert_id, "", other.keys.live);
    expect(readZipContents(second)).toEqual(readZipContents(first));
    expect(await verifyZip(second)).toMatchObject({ verdict: "valid", missing: [] });
  });

  test("returns an attachment named after the certificate, with no-store", async () => {
    const { status, headers } = await requestPack(certId, "?format=zip");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/zip");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="evidence-${certId}.zip"`);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("contains exactly the files of the layout", async () => {
    const seq = JSON.parse(readFileText(readZipFiles(await zipOf(certId)), "audit/entries.jsonl").split("\n")[0] as string).seq as string;
    const kid = (await getWithKey("/.well-known/jwks.json")).body.keys[0].kid as string;
    expect([...readZipFiles(await zipOf(certId)).keys()].sort()).toEqual(
      [
        "MANIFEST.note",
        "MANIFEST.sha256",
        "README.txt",
        "anchors/issued/entry.tlog-proof",
        "anchors/issued/receipt.json",
        "anchors/issued/statement.json",
        `audit/${seq}.tlog-proof`,
        "audit/entries.jsonl",
        "audit/heads-record.json",
        "audit/heads-record.tlog-proof",
        "audit/heads.json",
        "audit/payloads.json",
        "certificate.html",
        "certificate.json",
        "fingerprint/disclosure.txt",
        "fingerprint/preimage.json",
        "manifest.json",
        "policies/index.json",
        "subject/commitments.json",
        "subject/disclosures.json",
        `trust/issuer-${kid}.pem`,
        "trust/trust.json",
        "views.json",
      ].sort(),
    );
  });

  test("returns the same files for an unchanged certificate, except for the time in the manifest", async () => {
    const first = readZipFiles(await zipOf(certId));
    await getWithKey(`/v1/certs/${certId}`, key);
    await issueAnchored(); // the ledger and the audit log grow between the two packs
    await platform.auditLogStub(firstShard).drainNow();
    const second = readZipFiles(await zipOf(certId));
    expect([...second.keys()]).toEqual([...first.keys()]);
    for (const [path, bytes] of first) {
      if (/^manifest/i.test(path)) continue;
      expect(readFileText(second, path), path).toBe(new TextDecoder().decode(bytes));
    }
    const readManifest = (files: ReadonlyMap<string, Uint8Array>): object => ({
      ...JSON.parse(readFileText(files, "manifest.json")),
      created_at: 0,
    });
    expect(readManifest(second)).toEqual(readManifest(first));
  });

  test("contains the public verify response and hashes that anyone can recompute", async () => {
    const files = readZipFiles(await zipOf(certId));
    const verified = (await getWithKey(`/v1/certs/${certId}/verify`)).body.data;
    const shown = JSON.parse(readFileText(files, "certificate.json"));
    for (const [name, value] of Object.entries(verified)) expect(shown[name], name).toEqual(value);
    expect(sha256Hex(readFileText(files, "fingerprint/preimage.json"))).toBe(verified.fingerprint);
    expect(sha256Hex(readFileText(files, "fingerprint/disclosure.txt"))).toBe(verified.disclosure_hash);
    expect(sha256Hex(readFileText(files, "subject/commitments.json"))).toBe(verified.subject_hash);
    expect(JSON.parse(readFileText(files, "trust/trust.json"))).toEqual((await getWithKey("/.well-known/svc-trust.json")).body);
    expect(parseNote(readFileText(files, "MANIFEST.note"))?.text).toContain(`\n${certId}\n`);
  });

  test("contains no personal data when redacted, and still passes", async () => {
    const zip = await zipOf(certId, "&redact=subject");
    expect(await verifyZip(zip)).toMatchObject({ verdict: "valid", missing: [] });
    const text = [...readZipFiles(zip).values()].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
    for (const value of [...Object.values(person), "utm=1", "iPhone"]) expect(text).not.toContain(value);
    const { entries } = (await call("/v1/business/portal/audit?limit=1", { headers: await signIn(world.ownerEmail) })).body.data;
    expect(entries[0]).toMatchObject({ entity_id: certId, payload: { redacted: true, disclosed: [] } });
  });

  test("discloses a single field, and its commitment can be opened", async () => {
    const files = readZipFiles(await zipOf(certId, "&disclose=email"));
    const [[salt, name, value]] = JSON.parse(readFileText(files, "subject/disclosures.json")) as [[string, string, string]];
    expect([name, value]).toEqual(["email", person.email]);
    expect(sha256Hex(toCanonicalJson([salt, name, value]))).toBe(JSON.parse(readFileText(files, "subject/commitments.json")).email);
    const text = [...files.values()].map((bytes) => new TextDecoder().decode(bytes)).join("\n");
    expect(text).not.toContain(person.first_name);
  });

  test("proves the withdrawal of a withdrawn certificate, and the JSON bundle contains the withdrawal's receipt", async () => {
    const { cert_id, manage_url } = await issueCertificate({ fields: person });
    const token = String(manage_url).split("#m=")[1];
    const json = { "content-type": "application/json" };
    const withdrawn = await call(`/v1/certs/${cert_id}/opt-out/manage`, { method: "POST", headers: json, body: JSON.stringify({ token }) });
    expect(withdrawn.status, withdrawn.text).toBe(200);
    await platform.auditLogStub(firstShard).drainNow();
    await submitAnchors(platform);
    const report = await verifyZip(await zipOf(cert_id));
    expect(report).toMatchObject({ failed: null });
    const outcomes = Object.fromEntries(report.checks.map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({ "revoke.statement": "pass", "revoke.note": "pass", "revoke.inclusion": "pass", "time.order": "pass" });
    const { data } = (await getWithKey(`/v1/certs/${cert_id}/evidence-pack`, key)).body;
    expect(data.withdrawal).toMatchObject({ withdrawn_at: withdrawn.body.data.withdrawn_at, anchor: { status: "anchored" } });
    expect(data.withdrawal_receipt).toHaveProperty("signature");
    expect((data.audit.entries as { type: string }[]).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["certificate.issued", "certificate.revoked"]),
    );
  });

  test("proves when the business received a withdrawal that it recorded and acknowledged, even after an erasure", async () => {
    const issued = await issueToNewPerson({ entities: ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"] });
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { authorization: `Bearer ${key}`, "idempotency-key": crypto.randomUUID() };
      const response = await call(`/v1/certs/${issued.certId}/${path}`, buildJsonPost(body, headers));
      expect(response.status, response.text).toBeLessThan(300);
    };
    const report = (msAgo: number) => ({ method: "phone", received_at: new Date(Date.now() - msAgo).toISOString() });
    const entities = ["Bright Homes Inc", "Zenith Roofing"];
    await post("withdrawals", { ...report(90 * minuteMs), entities });
    await post("cease-ack", { entities });
    await post("withdrawals", { ...report(30 * minuteMs), scope: "certificate" });
    await post("cease-ack", { note: "Removed from every list." });
    for (const erase of [async () => {}, () => eraseCertificate(issued.certId)]) {
      await erase();
      await anchorAll();
      window += 1;
      await checkpointAuditLogs(platform, window * 15 * minuteMs);
      for (const query of ["", "&redact=subject"])
        expect(await verifyZip(await zipOf(issued.certId, query))).toMatchObject({ verdict: "valid", failed: null, missing: [] });
    }
    const files = readZipFiles(await zipOf(issued.certId));
    const types = Object.values<{ payload: { received_at?: string } }>(JSON.parse(readFileText(files, "audit/payloads.json")));
    expect(types.flatMap(({ payload }) => payload.received_at ?? [])).toHaveLength(2);
  });

  test("contains the withdrawal however often strangers request codes, and none of those requests", async () => {
    const issued = await issueToNewPerson();
    expect((await requestWithdrawalCode(issued.certId, createEmailAddress())).status).toBe(200);
    // Adds a thousand code requests by copying the audit entry of the first request.
    const codeRequest = await env.DB.prepare("SELECT id, chain FROM audit_entries WHERE entity_id = ? AND type = 'optout.code_requested'")
      .bind(issued.certId)
      .first<{ id: string; chain: string }>();
    await copyAuditEntry(env.DB, codeRequest?.id ?? "", codeRequest?.chain ?? "", 1_000);
    await withdrawCertificate(issued);
    await platform.auditLogStub(firstShard).drainNow();
    await submitAnchors(platform);
    const files = readZipFiles(await zipOf(issued.certId));
    const types = readFileText(files, "audit/entries.jsonl")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type as string);
    expect(types).toEqual(["certificate.issued", "certificate.revoked"]);
    const report = await verifyZip(await zipOf(issued.certId));
    expect(report.failed).toBeNull();
    expect(report.checks.find(({ id }) => id === "audit.status")).toMatchObject({ outcome: "pass" });
  });

  test("shows the state in which the certificate was read, even if it is withdrawn in the meantime", async () => {
    const issued = await issueToNewPerson();
    const vault = platform.vault as { open: (...args: [never, never]) => Promise<string> };
    const { open } = vault;
    vault.open = async (...parameters) => {
      vault.open = open; // at this point, the row has been read and its first value is being decrypted
      await withdrawCertificate(issued);
      return open(...parameters);
    };
    const report = await verifyZip(await zipOf(issued.certId));
    expect(vault.open).toBe(open);
    expect(report).toMatchObject({ failed: null });
    expect(report.checks.find(({ id }) => id === "audit.status")?.detail).toBe("no entry withdraws the certificate");
    const laterReport = await verifyZip(await zipOf(issued.certId));
    expect(laterReport.checks.find(({ id }) => id === "audit.status")?.detail).toMatch(/^withdrawn /);
  });

  test("is incomplete, not wrong, before the ledger has responded", async () => {
    const changed = platform as { requestAnchoring: () => Promise<void> };
    const notify = changed.requestAnchoring;
    changed.requestAnchoring = () => Promise.resolve();
    const { cert_id } = await issueCertificate();
    const report = await verifyZip(await zipOf(cert_id));
    changed.requestAnchoring = notify;
    expect(report).toMatchObject({ verdict: "incomplete", failed: null });
    expect(report.missing.join("\n")).toMatch(/anchor\.entry_hash/);
    expect(report.checks.find(({ id }) => id === "audit.inclusion")?.outcome).toBe("pass"); // creating the pack drains the audit log first
  });

  test("is returned without the audit part while the audit log is unavailable", async () => {
    const holder = platform as { auditLogStub: unknown };
    const { auditLogStub } = holder;
    holder.auditLogStub = () => {
      throw new Error("Network connection lost.");
    };
    const { status, bytes } = await requestPack(certId, "?format=zip");
    holder.auditLogStub = auditLogStub;
    expect(status).toBe(200);
    const report = await verifyZip(bytes);
    expect(report).toMatchObject({ verdict: "incomplete", failed: null });
    expect(report.checks.find(({ id }) => id === "audit.chain")?.outcome).toBe("incomplete");
  });

  test("returns 400 for an unknown format, redaction or field list", async () => {
    for (const query of ["?format=tar", "?format=ZIP", "?format=zip&redact=all", "?format=zip&disclose=A"])
      expect((await requestPack(certId, query)).status, query).toBe(400);
  });
});

describe("GET /v1/certs/{id}/evidence-pack?format=html", () => {
  test("contains the same pack and its own verifier, and loads nothing", async () => {
    const { status, headers, bytes } = await requestPack(certId, "?format=html");
    const text = new TextDecoder().decode(bytes);
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-disposition")).toBe(`attachment; filename="evidence-${certId}.html"`);
    const zip = fromBase64(/<script type="application\/zip" id="pack">([^<]+)<\/script>/.exec(text)?.[1] ?? "") as Uint8Array;
    expect(await verifyZip(zip)).toMatchObject({ verdict: "valid", cert_id: certId });
    expect(text).toContain("default-src &#39;none&#39;");
    expect(text).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=/);
  });
});

describe("GET /v1/certs/{id}/evidence-pack", () => {
  test("contains valid proofs of the ledger and the audit log", async () => {
    const { data } = (await getWithKey(`/v1/certs/${certId}/evidence-pack`, key)).body;
    const { ledger, audit } = data;
    expect(sha256Hex(ledger.entry)).toBe(ledger.entry_hash);
    expect(ledger).toMatchObject({
      leaf_index: expect.any(String),
      tree_size: expect.any(String),
      cosignatures: [],
      timestamp_token: null,
    });
    expect(ledger.tlog_proof).toContain(ledger.checkpoint);
    expect(ledger.checkpoint.split("\n")[1]).toBe(ledger.tree_size);
    const [issued] = audit.entries as { [member: string]: Json }[];
    const { seq, at, type, entity_type, entity_id, payload_hash, prev_hash } = issued as { [member: string]: Json };
    const bound = { at, chain: audit.chain, entity_id, entity_type, payload_hash, prev_hash, seq: String(seq), type } as Json;
    expect(sha256Hex(toCanonicalJson(bound))).toBe(issued?.hash);
    expect(sha256Hex(toCanonicalJson([issued?.payload_salt as Json, issued?.payload as Json]))).toBe(payload_hash);
    expect(issued).toMatchObject({ type: "certificate.issued", entity_id: certId, payload: { fingerprint: data.fingerprint } });
    expect(audit.head.seq).toBeGreaterThanOrEqual(Number(seq));
    expect(audit.heads.leaf).toContain(audit.chain);
    expect(data.certificate).toEqual((await getWithKey(`/v1/certs/${certId}/verify`)).body.data);
  });
});

describe("GET /v1/certs/{id}", () => {
  test("contains the issuance's entry in the audit chain once it has one", async () => {
    const { data } = (await getWithKey(`/v1/certs/${certId}/evidence-pack`, key)).body;
    const [{ seq, hash, prev_hash }] = data.audit.entries;
    expect((await getWithKey(`/v1/certs/${certId}`, key)).body.data.audit).toEqual({ seq, hash, prev_hash });
  });

  test("contains null while the entry is not drained", async () => {
    const { body } = await submitConsent(buildSubmission());
    await env.DB.batch([env.DB.prepare("DELETE FROM change_readers"), env.DB.prepare("DELETE FROM audit_batches")]);
    expect((await getWithKey(`/v1/certs/${body.data.cert_id}`, key)).body.data.audit).toBeNull();
  });
});
