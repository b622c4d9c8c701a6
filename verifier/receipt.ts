// What is checked of the signed receipt of a withdrawal, wherever it is shown: that it says all that a receipt says, that the issuer
// signed it, that its deadline is right, and which statement for the ledger follows from it.
import { ceaseBy } from "../core/business-days.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { anchorStatement } from "../core/ledger/statement.ts";
import { entityReceiptSchema, receiptSchema, receiptTexts } from "../core/withdrawals/receipt.ts";
import { fail, pass, type Finding } from "./checks.ts";
import { hasExactly, isHash, isIso, objectOf, parseCanonical, stringsOf, type JsonObject } from "./json.ts";
import { checkSigned, isNamedBusiness } from "./record.ts";
import type { Trust } from "./trust.ts";

export type SignedReceipt = Readonly<Record<(typeof receiptTexts)[number], string>> & {
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
export const receiptOf = (text: string | null): SignedReceipt | null => {
  const record = objectOf(parseCanonical(text));
  const isOfEntities = record?.entities !== undefined;
  if (record === null || !hasExactly(record, [...receiptTexts, "business", "received_at", ...(isOfEntities ? ["entities"] : [])]))
    return null;
  const { received_at: received } = record;
  const isTyped = receiptTexts.every((name) => typeof record[name] === "string") && isNamedBusiness(record.business);
  const isDated = isIso(record.withdrawn_at) && isIso(record.cease_by) && (received === null || isIso(received));
  return isTyped && isDated && isHash(record.fingerprint) && isScoped(record) ? (record as unknown as SignedReceipt) : null;
};

export const checkReceiptSigned = (
  crypto: NoteCrypto,
  canonical: string,
  { withdrawn_at: at }: SignedReceipt,
  signature: unknown,
  trust: Trust | null,
): Promise<Finding> => checkSigned(crypto, { what: "receipt", text: "receipt", canonical, at }, signature, trust);

export const checkDeadline = ({ cease_by: until, withdrawn_at: withdrawn, received_at: received }: SignedReceipt): Finding => {
  if (received !== null && received > withdrawn) return fail("the business was told after it recorded the withdrawal");
  const expected = new Date(ceaseBy(Date.parse(received ?? withdrawn))).toISOString();
  return until === expected ? pass(until) : fail("it is not the end of the tenth business day");
};

/** The statement that belongs to the receipt. */
export const statementOf = (receipt: SignedReceipt, canonical: string): string =>
  anchorStatement({
    event: receipt.entities === undefined ? "certificate.revoked" : "certificate.entities_withdrawn",
    entityId: receipt.cert_id,
    fingerprint: receipt.fingerprint,
    originDomain: receipt.origin_domain,
    at: Date.parse(receipt.withdrawn_at),
    ...(receipt.entities !== undefined && { receiptHash: sha256Hex(canonical) }),
  });
