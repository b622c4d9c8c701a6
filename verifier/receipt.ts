// What is checked of the signed receipt of a withdrawal, wherever it is shown: that it says all that a receipt says, that the issuer
// signed it, that its deadline is right, and which statement for the ledger follows from it.
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { formatAnchorStatement } from "../core/ledger/statement.ts";
import { entityReceiptFormat, receiptFormat, receiptTextMembers } from "../core/withdrawals/receipt.ts";
import { fail, pass, type Finding } from "./checks.ts";
import { hasExactMembers, isSha256Hex, isIsoInstant, asObject, parseCanonical, asStrings, type JsonObject } from "./json.ts";
import { checkIssuerSignature, isNamedBusiness } from "./record.ts";
import type { Trust } from "./trust.ts";

export type SignedReceipt = Readonly<Record<(typeof receiptTextMembers)[number], string>> & {
  readonly received_at: string | null;
  /** Of a withdrawal from single recipients. */
  readonly entities?: readonly string[];
};

/** Names of recipients exactly where the scope is these recipients. */
const isValidScope = ({ entities, schema, scope }: JsonObject): boolean =>
  schema === entityReceiptFormat
    ? scope === "recipient" && (asStrings(entities)?.length ?? 0) > 0
    : schema === receiptFormat && scope !== "recipient" && entities === undefined;

/** The receipt as signed; null unless it is canonical and has exactly its members, each of its kind. */
export const parseSignedReceipt = (text: string | null): SignedReceipt | null => {
  const record = asObject(parseCanonical(text));
  const isOfEntities = record?.entities !== undefined;
  if (
    record === null ||
    !hasExactMembers(record, [...receiptTextMembers, "business", "received_at", ...(isOfEntities ? ["entities"] : [])])
  )
    return null;
  const { received_at: received } = record;
  const isTyped = receiptTextMembers.every((name) => typeof record[name] === "string") && isNamedBusiness(record.business);
  const isDated = isIsoInstant(record.withdrawn_at) && isIsoInstant(record.cease_by) && (received === null || isIsoInstant(received));
  return isTyped && isDated && isSha256Hex(record.fingerprint) && isValidScope(record) ? (record as unknown as SignedReceipt) : null;
};

export const checkReceiptSignature = (
  crypto: NoteCrypto,
  canonical: string,
  { withdrawn_at: at }: SignedReceipt,
  signature: unknown,
  trust: Trust | null,
): Promise<Finding> => checkIssuerSignature(crypto, { what: "receipt", text: "receipt", canonical, at }, signature, trust);

export const checkDeadline = ({ cease_by: until, withdrawn_at: withdrawn, received_at: received }: SignedReceipt): Finding => {
  if (received !== null && received > withdrawn) return fail("the business was told after it recorded the withdrawal");
  const expected = new Date(getCeaseDeadline(Date.parse(received ?? withdrawn))).toISOString();
  return until === expected ? pass(until) : fail("it is not the end of the tenth business day");
};

/** The statement that belongs to the receipt. */
export const buildReceiptStatement = (receipt: SignedReceipt, canonical: string): string =>
  formatAnchorStatement({
    event: receipt.entities === undefined ? "certificate.revoked" : "certificate.entities_withdrawn",
    entityId: receipt.cert_id,
    fingerprint: receipt.fingerprint,
    originDomain: receipt.origin_domain,
    at: Date.parse(receipt.withdrawn_at),
    ...(receipt.entities !== undefined && { receiptHash: sha256Hex(canonical) }),
  });
