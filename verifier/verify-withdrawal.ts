// The check of a withdrawal's receipt, offline: that the issuer signed exactly this, that its deadline is right, and that the
// ledger holds the statement that follows from it.
import { canonicalJson } from "../core/canonical-json.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { checkAnchor } from "./anchor.ts";
import {
  fail,
  pass,
  receiptCheckIds,
  reportOf,
  revocationCheckIds,
  type CheckId,
  type Finding,
  type Findings,
  type Report,
} from "./checks.ts";
import { canVerify, unableNote, webCrypto } from "./crypto.ts";
import { objectOf, stringOf, type JsonObject } from "./json.ts";
import { checkDeadline, checkReceiptSigned, receiptOf, statementOf, type SignedReceipt } from "./receipt.ts";
import { anchorContext, type Demands } from "./verify-pack.ts";
import { exhibitOf } from "./verify-public.ts";

const withdrawalChecks: readonly CheckId[] = [...receiptCheckIds, ...revocationCheckIds];

const checkSaid = (receipt: SignedReceipt | null, said: JsonObject, expected: string | null): Finding => {
  if (receipt === null) return fail("the receipt is not canonical JSON of exactly its members");
  if (canonicalJson(said.receipt ?? null) !== stringOf(said.canonical)) return fail("what is shown is not what was signed");
  if (expected !== null && receipt.fingerprint !== expected) return fail("it is about another certificate than was expected");
  const from = receipt.entities === undefined ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${from} ${receipt.withdrawn_at}`);
};

/** Checks a receipt as the service answers it, with or without its envelope. */
export const verifyWithdrawal = async (file: JsonObject, demands: Demands, crypto: NoteCrypto = webCrypto): Promise<Report> => {
  const said = objectOf(file.data) ?? file;
  const findings: Findings = new Map();
  const isAble = await canVerify(crypto);
  const trust = isAble ? demands.trust : null;
  const canonical = stringOf(said.canonical);
  const receipt = receiptOf(canonical);
  findings.set("receipt.canonical", checkSaid(receipt, said, demands.expectedFingerprint));
  if (receipt !== null && canonical !== null) {
    findings.set("receipt.signature", await checkReceiptSigned(crypto, canonical, receipt, said.signature, trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = statementOf(receipt, canonical);
    await checkAnchor(findings, "revoked", statement, exhibitOf(objectOf(said.anchor)), anchorContext(crypto, trust, demands));
  }
  return reportOf(
    findings,
    {
      cert_id: receipt?.cert_id ?? null,
      fingerprint: receipt?.fingerprint ?? null,
      trust: demands.trust === null ? "none" : "given",
      notes: isAble ? [] : [unableNote],
    },
    withdrawalChecks,
  );
};
