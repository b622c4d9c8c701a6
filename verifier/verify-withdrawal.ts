// Checks a withdrawal receipt offline: its signature, deadline and ledger statement.
import { toCanonicalJson, type JsonObject } from "../core/canonical-json.ts";
import { checkAnchor } from "./anchor.ts";
import {
  fail,
  pass,
  receiptCheckIds,
  buildReport,
  revocationCheckIds,
  type CheckId,
  type Finding,
  type Findings,
  type Report,
} from "./checks.ts";
import { canVerifyEd25519, ed25519UnsupportedNote, webCrypto } from "./crypto.ts";
import { asObject, asString } from "./json.ts";
import { checkDeadline, checkReceiptSignature, parseSignedReceipt, buildReceiptStatement, type SignedReceipt } from "./receipt.ts";
import { createAnchorContext, type VerificationOptions } from "./verify-pack.ts";
import { anchorEvidenceFromWire } from "./verify-public.ts";

const withdrawalCheckIds: readonly CheckId[] = [...receiptCheckIds, ...revocationCheckIds];

const checkDisplayedReceipt = (receipt: SignedReceipt | null, data: JsonObject, expected: string | null): Finding => {
  if (receipt === null) return fail("the receipt is not canonical JSON with exactly its members");
  if (toCanonicalJson(data.receipt ?? null) !== asString(data.canonical)) return fail("the displayed receipt is not the signed one");
  if (expected !== null && receipt.fingerprint !== expected) return fail("the receipt is for a different certificate than expected");
  const recipients = receipt.entities === undefined ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${recipients} ${receipt.withdrawn_at}`);
};

/** Checks a receipt as returned by the API, with or without the envelope. */
export const verifyWithdrawal = async (file: JsonObject, options: VerificationOptions): Promise<Report> => {
  const data = asObject(file.data) ?? file;
  const findings: Findings = new Map();
  const hasEd25519 = await canVerifyEd25519(webCrypto);
  const trust = hasEd25519 ? options.trust : null;
  const canonical = asString(data.canonical);
  const receipt = parseSignedReceipt(canonical);
  findings.set("receipt.canonical", checkDisplayedReceipt(receipt, data, options.expectedFingerprint));
  if (receipt !== null && canonical !== null) {
    findings.set("receipt.signature", await checkReceiptSignature(webCrypto, canonical, receipt, data.signature, trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = buildReceiptStatement(receipt, canonical);
    await checkAnchor(
      findings,
      "revoked",
      statement,
      anchorEvidenceFromWire(asObject(data.anchor)),
      createAnchorContext(webCrypto, trust, options),
    );
  }
  return buildReport(
    findings,
    {
      cert_id: receipt?.cert_id ?? null,
      fingerprint: receipt?.fingerprint ?? null,
      trust: options.trust === null ? "none" : "given",
      notes: hasEd25519 ? [] : [ed25519UnsupportedNote],
    },
    withdrawalCheckIds,
  );
};
