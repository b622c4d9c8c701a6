// The check of a withdrawal's receipt, offline: that the issuer signed exactly this, that its deadline is right, and that the
// ledger holds the statement that follows from it.
import { ceaseBy } from "../core/business-days.ts";
import { bytesOfBase64, utf8 } from "../core/bytes.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { anchorStatement } from "../core/ledger/statement.ts";
import { entityReceiptSchema, receiptSchema, receiptTexts } from "../core/withdrawals/receipt.ts";
import { checkAnchor } from "./anchor.ts";
import {
  fail,
  incomplete,
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
import { hasExactly, isHash, isIso, isObject, objectOf, parseCanonical, stringOf, stringsOf, type JsonObject } from "./json.ts";
import { issuerKeyAt, type Trust } from "./trust.ts";
import { anchorContext, type Demands } from "./verify-pack.ts";
import { exhibitOf } from "./verify-public.ts";

const withdrawalChecks: readonly CheckId[] = [...receiptCheckIds, ...revocationCheckIds];

type SignedReceipt = Readonly<Record<(typeof receiptTexts)[number], string>> & {
  readonly received_at: string | null;
  /** Of a withdrawal from single recipients. */
  readonly entities?: readonly string[];
};

/** Names of recipients exactly where the scope is these recipients. */
const isScoped = ({ entities, schema, scope }: JsonObject): boolean =>
  schema === entityReceiptSchema
    ? scope === "recipient" && (stringsOf(entities)?.length ?? 0) > 0
    : schema === receiptSchema && scope !== "recipient" && entities === undefined;

/** The receipt as signed; null unless it is canonical and has exactly its members, each of its kind. */
const receiptOf = (text: string | null): SignedReceipt | null => {
  const record = objectOf(parseCanonical(text));
  const isOfEntities = record?.entities !== undefined;
  if (record === null || !hasExactly(record, [...receiptTexts, "business", "received_at", ...(isOfEntities ? ["entities"] : [])]))
    return null;
  const { business, received_at: received } = record;
  const isTyped =
    receiptTexts.every((name) => typeof record[name] === "string") &&
    isObject(business) &&
    hasExactly(business, ["id", "name"]) &&
    Object.values(business).every((value) => typeof value === "string");
  const isDated = isIso(record.withdrawn_at) && isIso(record.cease_by) && (received === null || isIso(received));
  return isTyped && isDated && isHash(record.fingerprint) && isScoped(record) ? (record as unknown as SignedReceipt) : null;
};

const checkSaid = (receipt: SignedReceipt | null, said: JsonObject, expected: string | null): Finding => {
  if (receipt === null) return fail("the receipt is not canonical JSON of exactly its members");
  if (canonicalJson(said.receipt ?? null) !== stringOf(said.canonical)) return fail("what is shown is not what was signed");
  if (expected !== null && receipt.fingerprint !== expected) return fail("it is about another certificate than was expected");
  const from = receipt.entities === undefined ? "" : ` from ${receipt.entities.join(", ")}`;
  return pass(`${receipt.cert_id}, withdrawn${from} ${receipt.withdrawn_at}`);
};

const checkSigned = async (
  crypto: NoteCrypto,
  canonical: string,
  at: string,
  signature: JsonObject | null,
  trust: Trust | null,
): Promise<Finding> => {
  const bytes = bytesOfBase64(stringOf(signature?.value) ?? "");
  if (signature?.alg !== "Ed25519" || bytes?.length !== 64) return fail("the issuer's signature is malformed");
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no issuer's key to check the signature with");
  const key = issuerKeyAt(trust, signature.kid, at);
  if (typeof key === "string") return fail(`the receipt is signed by a key that ${key}`);
  const isSigned = await crypto.verifyEd25519(key.publicKey, utf8(canonical), bytes);
  return isSigned ? pass(`signed by ${key.kid}`) : fail("the issuer's signature is not over this receipt");
};

const checkDeadline = ({ cease_by: until, withdrawn_at: withdrawn, received_at: received }: SignedReceipt): Finding => {
  if (received !== null && received > withdrawn) return fail("the business was told after it recorded the withdrawal");
  const expected = new Date(ceaseBy(Date.parse(received ?? withdrawn))).toISOString();
  return until === expected ? pass(until) : fail("it is not the end of the tenth business day");
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
    findings.set("receipt.signature", await checkSigned(crypto, canonical, receipt.withdrawn_at, objectOf(said.signature), trust));
    findings.set("receipt.deadline", checkDeadline(receipt));
    const statement = anchorStatement({
      event: receipt.entities === undefined ? "certificate.revoked" : "certificate.entities_withdrawn",
      entityId: receipt.cert_id,
      fingerprint: receipt.fingerprint,
      originDomain: receipt.origin_domain,
      at: Date.parse(receipt.withdrawn_at),
      ...(receipt.entities !== undefined && { receiptHash: sha256Hex(canonical) }),
    });
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
