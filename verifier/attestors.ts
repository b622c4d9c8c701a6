// The two checks that read other people's formats: RFC 3161 time stamps, and receipts of Rekor.
import { fromBase64 } from "../core/bytes.ts";
import type { Receipt, ReceiptFault, TrustedLogKey } from "../core/ledger/receipt.ts";
import { parseRekorLeaf, type RekorCrypto } from "../core/ledger/rekor.ts";
import { verifyRekorReceipt } from "../core/ledger/rekor-receipt.ts";
import { verifyTimestampToken, type TimestampPin } from "../core/ledger/rfc3161.ts";
import { isSignedBy, type SignatureCrypto } from "../core/ledger/spki.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { toIso, type Instant } from "../core/time.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";

/** WebCrypto as the rules ask for it. */
const getSubtleCrypto = (): SignatureCrypto => crypto.subtle as unknown as SignatureCrypto;

/** A time stamp over the note. A token by a key that the reader does not name is as good as none. */
export const checkTimestamp = async (
  reply: Uint8Array | null,
  note: Uint8Array,
  pins: readonly TimestampPin[],
  isAsked: boolean,
): Promise<{ readonly finding: Finding; readonly time: Instant | null }> => {
  const without = (why: string) => ({ finding: isAsked ? incomplete(why) : skipped(why), time: null });
  if (reply === null) return without("there is no time stamp yet");
  if (pins.length === 0) return without("no time-stamp authority is trusted");
  const verdict = await verifyTimestampToken({ token: reply, imprintBytes: note, pins }, getSubtleCrypto());
  if (verdict.ok) return { finding: pass(`${toIso(verdict.timestamp.time)}, by ${verdict.pin.name}`), time: verdict.timestamp.time };
  if (verdict.fault === "signer_not_pinned") return without("the time stamp is by an authority that is not trusted");
  return { finding: fail(verdict.fault), time: null };
};

/** A receipt of Rekor's in two findings: what holds for every receipt, and the leaf that Rekor made of the statement. */
export const checkRekorReceipt = async (
  crypto: NoteCrypto,
  receipt: Receipt,
  statement: Uint8Array,
  logs: readonly TrustedLogKey[],
  anchorKeys: readonly string[],
): Promise<{ readonly fault: ReceiptFault | null; readonly leaf: Finding }> => {
  const rekorCrypto: RekorCrypto = {
    ...crypto,
    verifyEcdsa: (spki, data, signature) => isSignedBy(getSubtleCrypto(), spki, { hash: "SHA-256", signature, data }),
  };
  // Without a trusted key everything else is still checked, against the key that the leaf itself names.
  const named = parseRekorLeaf(fromBase64(receipt.leaf_body ?? "") ?? new Uint8Array(0))?.publicKey;
  const keys = anchorKeys.length > 0 || named === undefined ? anchorKeys : [named];
  const verdict = await verifyRekorReceipt(rekorCrypto, receipt, statement, { logs, anchorKeys: keys });
  const notAbout = fail("the ledger's entry is not about this statement, or not signed by a trusted key");
  if (!verdict.ok) return verdict.fault === "leaf_mismatch" ? { fault: null, leaf: notAbout } : { fault: verdict.fault, leaf: notAbout };
  return { fault: null, leaf: anchorKeys.length > 0 ? pass() : incomplete("no key of the issuer's for this ledger is trusted") };
};
