// Checks a withdrawal's signed receipt, in a pack or on its own: its members, signature and deadline. Also rebuilds the ledger statement
// from it.
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { sha256Hex } from "../core/hash.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { formatAnchorStatement } from "../core/ledger/statement.ts";
import { entityReceiptFormat, receiptFormat, receiptTextMembers } from "../core/withdrawals/receipt.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { fail, pass, type Finding } from "./checks.ts";
import { hasExactMembers, isSha256Hex, asObject, parseCanonical, asStrings } from "./json.ts";
import { checkIssuerSignature, isNamedBusiness } from "./record.ts";
import type { Trust } from "./trust.ts";

export type SignedReceipt = Readonly<Record<(typeof receiptTextMembers)[number], string>> & {
  readonly received_at: string | null;
  /** The recipients; present only for a withdrawal of consent for individual recipients. */
  readonly entities?: readonly string[];
};

/** Checks that the format, scope and recipients are consistent. The receipt lists recipients if and only if the scope is `recipient`. */
const isValidScope = ({ entities, schema, scope }: JsonObject): boolean =>
  schema === entityReceiptFormat
    ? scope === "recipient" && (asStrings(entities)?.length ?? 0) > 0
    : schema === receiptFormat && scope !== "recipient" && entities === undefined;

/** Parses a receipt. Returns null unless the text is canonical and has exactly the members of a receipt with valid types. */
export const parseSignedReceipt = (text: string | null): SignedReceipt | null => {
  const record = asObject(parseCanonical(text));
  const hasEntities = record?.entities !== undefined;
  if (record === null || !hasExactMembers(record, [...receiptTextMembers, "business", "received_at", ...(hasEntities ? ["entities"] : [])]))
    return null;
  const { received_at: receivedAt } = record;
  const isTyped = receiptTextMembers.every((name) => typeof record[name] === "string") && isNamedBusiness(record.business);
  const isDated = isIsoTime(record.withdrawn_at) && isIsoTime(record.cease_by) && (receivedAt === null || isIsoTime(receivedAt));
  return isTyped && isDated && isSha256Hex(record.fingerprint) && isValidScope(record) ? (record as unknown as SignedReceipt) : null;
};

export const checkReceiptSignature = (
  crypto: NoteCrypto,
  canonical: string,
  { withdrawn_at: at }: SignedReceipt,
  signature: unknown,
  trust: Trust | null,
): Promise<Finding> => checkIssuerSignature(crypto, { what: "receipt", text: "receipt", canonical, at }, signature, trust);

export const checkDeadline = ({ cease_by: ceaseBy, withdrawn_at: withdrawnAt, received_at: receivedAt }: SignedReceipt): Finding => {
  if (receivedAt !== null && receivedAt > withdrawnAt) return fail("the business received the request after it recorded the withdrawal");
  const expected = new Date(getCeaseDeadline(Date.parse(receivedAt ?? withdrawnAt))).toISOString();
  return ceaseBy === expected ? pass(ceaseBy) : fail("it is not the end of the tenth business day");
};

/** Rebuilds the ledger statement from the receipt. */
export const buildReceiptStatement = (receipt: SignedReceipt, canonical: string): string =>
  formatAnchorStatement({
    event: receipt.entities === undefined ? "certificate.revoked" : "certificate.entities_withdrawn",
    entityId: receipt.cert_id,
    fingerprint: receipt.fingerprint,
    originDomain: receipt.origin_domain,
    at: Date.parse(receipt.withdrawn_at),
    ...(receipt.entities !== undefined && { receiptHash: sha256Hex(canonical) }),
  });
