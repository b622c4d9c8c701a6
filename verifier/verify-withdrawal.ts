// The check of a withdrawal's receipt, offline: that the issuer signed exactly this, that its deadline is right, and that the
// ledger holds the statement that follows from it.
import { toCanonicalJson } from "../core/canonical-json.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
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
import { asObject, asString, type JsonObject } from "./json.ts";
import { checkDeadline, checkReceiptSignature, parseSignedReceipt, buildReceiptStatement, type SignedReceipt } from "./receipt.ts";
import { createAnchorContext, type VerificationOptions } from "./verify-pack.ts";
import { anchorEvidenceFromWire } from "./verify-public.ts";

const withdrawalCheckIds: readonly CheckId[] = [...receiptCheckIds, ...revocationCheckIds];

const checkDisplayedReceipt = (receipt: SignedReceipt | null, said: JsonObject, expected: string | null): Finding => {
  if (receipt === null) return fail("the receipt is not canonical JSON of exactly its members");
  if (toCanonicalJson(said.receipt ?? null) !== asString(said.canonical)) return fail("what is shown is not what was signed");
  if (expected !== null && receipt.fingerprint !== expected) return fail("it is about another certificate than was expected");
  const from = receipt.entities === undefined ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${from} ${receipt.withdrawn_at}`);
};

/** Checks a receipt as the service answers it, with or without its envelope. */
export const verifyWithdrawal = async (file: JsonObject, demands: VerificationOptions, crypto: NoteCrypto = webCrypto): Promise<Report> => {
  const said = asObject(file.data) ?? file;
  const findings: Findings = new Map();
  const isAble = await canVerifyEd25519(crypto);
  const trust = isAble ? demands.trust : null;
  const canonical = asString(said.canonical);
  const receipt = parseSignedReceipt(canonical);
  findings.set("receipt.canonical", checkDisplayedReceipt(receipt, said, demands.expectedFingerprint));
  if (receipt !== null && canonical !== null) {
    findings.set("receipt.signature", await checkReceiptSignature(crypto, canonical, receipt, said.signature, trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = buildReceiptStatement(receipt, canonical);
    await checkAnchor(
      findings,
      "revoked",
      statement,
      anchorEvidenceFromWire(asObject(said.anchor)),
      createAnchorContext(crypto, trust, demands),
    );
  }
  return buildReport(
    findings,
    {
      cert_id: receipt?.cert_id ?? null,
      fingerprint: receipt?.fingerprint ?? null,
      trust: demands.trust === null ? "none" : "given",
      notes: isAble ? [] : [ed25519UnsupportedNote],
    },
    withdrawalCheckIds,
  );
};
