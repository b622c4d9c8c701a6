// Tests verifying withdrawal receipts offline: complete, incomplete and changed ones.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { firstShard, type BusinessId, type CertId } from "../../../core/ids.ts";
import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import {
  sourceFromBusiness,
  sourceFromPerson,
  decideWithdrawal,
  type WithdrawableCertificate,
} from "../../../core/withdrawals/withdrawal.ts";
import type { JsonObject } from "../../../core/canonical-json.ts";
import { buildVerifier } from "../../../verifier/build.ts";
import { trustOf } from "../../../verifier/trust.ts";
import { defaultVerificationOptions, type VerificationOptions } from "../../../verifier/verify-pack.ts";
import { verifyWithdrawal } from "../../../verifier/verify-withdrawal.ts";
import { issuer, stranger, trustDocument, buildWorld, type EvidenceOptions } from "./evidence.ts";

interface Receipt {
  receipt: JsonObject;
  canonical: string;
  signature: JsonObject;
  anchor: JsonObject | null;
}

const createReceipt = async (options: EvidenceOptions = {}, signedBy = issuer, receivedAgoMs: number | null = null): Promise<Receipt> => {
  const { parts } = await buildWorld({ ...options, isRevoked: true });
  const { certificate: sealed } = parts.opened;
  const shown = parts.publicView.withdrawal as JsonObject;
  const now = Date.parse(shown.withdrawn_at as string);
  const certificate: WithdrawableCertificate = {
    id: sealed.id as CertId,
    businessId: sealed.businessId as BusinessId,
    businessName: sealed.businessName,
    environment: "live",
    status: "active",
    originDomain: sealed.originDomain,
    issuedAt: sealed.issuedAt,
    fingerprint: sealed.fingerprint,
    chain: { tag: "x", auditLog: firstShard },
  };
  const recorded = receivedAgoMs === null ? null : { channel: "phone" as const, receivedAt: now - receivedAgoMs, note: null };
  const change = recorded === null ? sourceFromPerson("email_code") : sourceFromBusiness(recorded, "key_1");
  const { withdrawal } = decideWithdrawal({ certificate, change, scope: "certificate", now });
  const canonical = formatWithdrawalReceipt(certificate, withdrawal);
  return {
    receipt: JSON.parse(canonical) as JsonObject,
    canonical,
    signature: { kid: signedBy.kid, alg: "Ed25519", value: await signedBy.sign(canonical) },
    anchor: shown.anchor as JsonObject | null,
  };
};

const demands: VerificationOptions = { ...defaultVerificationOptions, trust: trustOf(trustDocument) };
const check = (file: object, options: VerificationOptions = demands) => verifyWithdrawal(file as JsonObject, options);

describe("the receipt of a withdrawal", () => {
  test("is refused when its key expired before the withdrawal", async () => {
    const verifyEndedAt = async (time: string) => {
      const { keys } = trustDocument.issuer_keys as { keys: JsonObject[] };
      const trust = trustOf({ ...trustDocument, issuer_keys: { keys: keys.map((key) => ({ ...key, valid_to: time })) } });
      return (await check(await createReceipt(), { ...demands, trust })).failed;
    };
    expect(await verifyEndedAt("2026-04-05T06:07:08.009Z")).toBe("receipt.signature");
    expect(await verifyEndedAt("2026-04-05T06:07:08.010Z")).toBeNull();
  });

  test("passes every check, bare and in the envelope of the API", async () => {
    const receipt = await createReceipt();
    for (const file of [receipt, { ok: true, data: receipt, request_id: "req_x" }]) {
      const report = await check(file);
      expect(report.checks.filter(({ outcome }) => outcome === "fail")).toEqual([]);
      expect(report).toMatchObject({ verdict: "valid", cert_id: receipt.receipt.cert_id, fingerprint: receipt.receipt.fingerprint });
    }
  });

  test("counts the deadline of a recorded withdrawal from when the business received it", async () => {
    expect(await check(await createReceipt({}, issuer, 3 * 86_400_000))).toMatchObject({ verdict: "valid" });
  });

  test("is incomplete until the ledger confirms, and without a trust document", async () => {
    expect(await check(await createReceipt({ anchors: "pending" }))).toMatchObject({ verdict: "incomplete" });
    expect(await check(await createReceipt(), { ...demands, trust: null })).toMatchObject({ verdict: "incomplete", trust: "none" });
  });

  test("fails when another key signed it", async () => {
    expect(await check(await createReceipt({}, stranger))).toMatchObject({ verdict: "invalid", failed: "receipt.signature" });
  });

  test("fails when the receipt is for a different certificate than expected", async () => {
    const report = await check(await createReceipt(), { ...demands, expectedFingerprint: "0".repeat(64) });
    expect(report).toMatchObject({ verdict: "invalid", failed: "receipt.canonical" });
  });

  test("fails when any displayed or signed member changes", async () => {
    const receipt = await createReceipt();
    for (const [name, value] of Object.entries(receipt.receipt)) {
      const changed = { ...receipt.receipt, [name]: typeof value === "string" ? value.replace(/[0-9a-z]/, "0") : null };
      if (JSON.stringify(changed) === JSON.stringify(receipt.receipt)) continue;
      expect((await check({ ...receipt, receipt: changed })).failed, `shown ${name}`).toBe("receipt.canonical");
      expect((await check({ ...receipt, receipt: changed, canonical: JSON.stringify(changed) })).verdict, name).toBe("invalid");
    }
    const { scope: _scope, ...less } = receipt.receipt;
    expect((await check({ ...receipt, receipt: less, canonical: JSON.stringify(less) })).failed).toBe("receipt.canonical");
    const more = { ...receipt.receipt, zzz: "more" };
    expect((await check({ ...receipt, receipt: more, canonical: JSON.stringify(more) })).failed).toBe("receipt.canonical");
  });

  test("fails when the issuer itself signs a deadline that is too late", async () => {
    const receipt = await createReceipt();
    const late = { ...receipt.receipt, cease_by: "2027-01-01T23:59:59.999Z" };
    const canonical = JSON.stringify(late);
    const signature = { ...receipt.signature, value: await issuer.sign(canonical) };
    expect(await check({ ...receipt, receipt: late, canonical, signature })).toMatchObject({
      verdict: "invalid",
      failed: "receipt.deadline",
    });
  });

  test("fails with the ledger statement of another withdrawal", async () => {
    const receipt = await createReceipt();
    const anchor = { ...receipt.anchor, statement: String(receipt.anchor?.statement).replace("certificate.revoked", "certificate.issued") };
    expect(await check({ ...receipt, anchor })).toMatchObject({ verdict: "invalid", failed: "revoke.statement" });
  });

  test("is recognized by the command, with the exit codes of a pack", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-withdrawal-"));
    try {
      await buildVerifier(folder);
      const receipt = await createReceipt();
      writeFileSync(join(folder, "withdrawal.json"), JSON.stringify({ ok: true, data: receipt, request_id: "req_x" }));
      writeFileSync(
        join(folder, "changed.json"),
        JSON.stringify({ ...receipt, canonical: receipt.canonical.replace("email_code", "email_cod3") }),
      );
      writeFileSync(join(folder, "trust.json"), JSON.stringify(trustDocument));
      const run = (file: string) =>
        spawnSync(process.execPath, [join(folder, "svc-verify.mjs"), file, "--trust", "trust.json"], { cwd: folder, encoding: "utf8" });
      expect(run("withdrawal.json")).toMatchObject({ status: 0 });
      expect(run("withdrawal.json").stdout).toContain("VALID: every check passed.");
      expect(run("changed.json")).toMatchObject({ status: 1 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
