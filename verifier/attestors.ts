// Checks RFC 3161 timestamps and Rekor receipts.
import { fromBase64 } from "../core/bytes.ts";
import type { Receipt, ReceiptFault, TrustedLogKey } from "../core/ledger/receipt.ts";
import { parseRekorLeaf, type RekorCrypto } from "../core/ledger/rekor.ts";
import { verifyRekorCheckpoint, verifyRekorReceipt } from "../core/ledger/rekor-receipt.ts";
import { verifyTimestampToken, type TimestampPin } from "../core/ledger/rfc3161.ts";
import { isSignedBy, type SignatureCrypto } from "../core/ledger/spki.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { toIso, type Instant } from "../core/time.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";

const getSubtleCrypto = (): SignatureCrypto => crypto.subtle as unknown as SignatureCrypto;

/** Checks a timestamp over the note. A timestamp signed with a key that the reader does not trust counts as absent. */
export const checkTimestamp = async (
  reply: Uint8Array | null,
  note: Uint8Array,
  pins: readonly TimestampPin[],
  isRequired: boolean,
): Promise<{ readonly finding: Finding; readonly time: Instant | null }> => {
  const absent = (reason: string) => ({ finding: isRequired ? incomplete(reason) : skipped(reason), time: null });
  if (reply === null) return absent("there is no timestamp yet");
  if (pins.length === 0) return absent("no timestamp authority is trusted");
  const verdict = await verifyTimestampToken({ token: reply, imprintBytes: note, pins }, getSubtleCrypto());
  if (verdict.ok) return { finding: pass(`${toIso(verdict.timestamp.time)}, by ${verdict.pin.name}`), time: verdict.timestamp.time };
  if (verdict.fault === "signer_not_pinned") return absent("the timestamp is by an authority that is not trusted");
  return { finding: fail(verdict.fault), time: null };
};

const toRekorCrypto = (crypto: NoteCrypto): RekorCrypto => ({
  ...crypto,
  verifyEcdsa: (spki, data, signature) => isSignedBy(getSubtleCrypto(), spki, { hash: "SHA-256", signature, data }),
});

/** Returns whether a checkpoint is signed by one of the given keys of a Rekor log. They can be Ed25519 or ECDSA keys. */
export const isSignedByRekor = async (crypto: NoteCrypto, note: string, logs: readonly TrustedLogKey[]): Promise<boolean> =>
  (await verifyRekorCheckpoint(toRekorCrypto(crypto), note, logs)).ok;

/**
 * Checks a Rekor receipt. `fault` is the result of the checks that apply to every receipt. `leaf` is the result for the entry that Rekor
 * created from the statement.
 */
export const checkRekorReceipt = async (
  crypto: NoteCrypto,
  receipt: Receipt,
  statement: Uint8Array,
  logs: readonly TrustedLogKey[],
  anchorKeys: readonly string[],
): Promise<{ readonly fault: ReceiptFault | null; readonly leaf: Finding }> => {
  // Without a trusted anchor key, the signature is checked with the key in the leaf, so that the other checks can still run. The finding
  // for the leaf is then at best `incomplete`.
  const leafKey = parseRekorLeaf(fromBase64(receipt.leaf_body ?? "") ?? new Uint8Array(0))?.publicKey;
  const keys = anchorKeys.length > 0 || leafKey === undefined ? anchorKeys : [leafKey];
  const verdict = await verifyRekorReceipt(toRekorCrypto(crypto), receipt, statement, { logs, anchorKeys: keys });
  const unboundLeaf = fail("the ledger's entry is not about this statement, or not signed by a trusted key");
  if (!verdict.ok)
    return verdict.fault === "leaf_mismatch" ? { fault: null, leaf: unboundLeaf } : { fault: verdict.fault, leaf: unboundLeaf };
  return { fault: null, leaf: anchorKeys.length > 0 ? pass() : incomplete("no anchor key of the issuer is trusted") };
};
