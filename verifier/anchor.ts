// Checks one ledger statement: that it matches the certificate, that the ledger contains it, and that attestors confirm the ledger's
// checkpoint. Used for issuances and withdrawals, in packs and in the public API response.
import { toBase64, encodeUtf8 } from "../core/bytes.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { sha256Hex } from "../core/hash.ts";
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from "../core/ledger/checkpoint.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { parseReceipt, formatReceiptProof, verifyReceipt, type Receipt, type ReceiptFault } from "../core/ledger/receipt.ts";
import { needsTimestamp } from "../core/ledger/rfc3161.ts";
import { formatAnchorStatement, type AnchorSubject } from "../core/ledger/statement.ts";
import { parseTlogProof, verifyTlogProof } from "../core/ledger/tlog-proof.ts";
import { minuteMs } from "../core/time.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { checkRekorReceipt, checkTimestamp, isSignedByRekor } from "./attestors.ts";
import { fail, incomplete, pass, skipped, type CheckId, type Finding, type Findings } from "./checks.ts";
import { asObject, asString, asStrings, parseCanonical } from "./json.ts";
import { listLogKeys, listTrustedLogKeys, type Trust } from "./trust.ts";

/** The evidence for one statement. Parts that are missing are null. */
export interface AnchorEvidence {
  readonly statement: string | null;
  /** The anchor as the certificate publishes it. */
  readonly published: JsonObject | null;
  readonly receipt: string | null;
  /** The ledger's receipt in the format c2sp.org/tlog-proof@v1. */
  readonly entryProof: string | null;
  /** The log entry, for a ledger that wraps statements in its own format. */
  readonly rekorBody: Uint8Array | null;
  readonly attestedProof: string | null;
  /** The attested note without cosignatures. */
  readonly attestedNote: string | null;
  readonly timestampReply: Uint8Array | null;
}

export interface AnchorContext {
  readonly crypto: NoteCrypto;
  readonly trust: Trust | null;
  /**
   * If true, every statement needs a timestamp. Otherwise, only the statements that were made while a trusted authority was in use need
   * one.
   */
  readonly requiresTimestamp: boolean;
  readonly witnessMin: number;
}

type AnchorStep = "statement" | "entry_hash" | "note" | "inclusion" | "rekor_body" | "attest.inclusion" | "attest.cosign" | "attest.tsa";

const toCheckId = (event: "issued" | "revoked", step: AnchorStep): CheckId => {
  if (event === "revoked") return `revoke.${step}`;
  return step === "attest.inclusion" || step === "attest.cosign" || step === "attest.tsa" ? step : `anchor.${step}`;
};

/** Faults of a ledger's receipt that make the `note` check fail. All other faults make the `inclusion` check fail. */
const noteFaults: readonly ReceiptFault[] = [
  "receipt_malformed",
  "note_malformed",
  "bad_signature",
  "no_known_signature",
  "checkpoint_malformed",
  "origin_mismatch",
  "reference_mismatch",
];

/** Rebuilds the statement from the certificate's record. Does not use the statement in the pack. */
export const buildExpectedStatement = (event: AnchorSubject["event"], preimage: Preimage, fingerprint: string, at: string): string =>
  formatAnchorStatement({ event, entityId: preimage.cert_id, fingerprint, originDomain: preimage.origin_domain, at: Date.parse(at) });

const checkEntryHash = (statement: string, receipt: Receipt | null, published: JsonObject | null): Finding => {
  const hash = sha256Hex(statement);
  if (receipt === null) return fail("the receipt is malformed");
  if (receipt.entry_hash !== hash) return fail("the receipt is for a different statement");
  if (published !== null && published.entry_hash !== hash) return fail("the certificate names a different statement");
  return pass(hash);
};

// The allowed difference between the clocks of the machine that creates a statement and the machine that anchors it.
const maxClockSkewMs = 5 * minuteMs;

/** Compares the statement with the anchor on the certificate, which may still be pending. Returns null if they are consistent. */
const findPublishedStatementFault = (published: JsonObject | null, statement: string): string | null => {
  if (published === null) return null;
  const { event, timestamp } = asObject(parseCanonical(statement)) ?? {};
  if (published.event !== event) return "the certificate publishes a different event";
  if (published.status !== "anchored") return published.status === "pending" ? null : "the certificate publishes an unknown anchor status";
  const { anchored_at: anchoredAt, anchored_at_source: source } = published;
  if (source !== undefined && source !== "service") return "the certificate names another source of the time of anchoring";
  const isLater = isIsoTime(anchoredAt) && Date.parse(anchoredAt) >= Date.parse(String(timestamp)) - maxClockSkewMs;
  return isLater ? null : "the certificate was anchored before the event";
};

/** Compares the anchor on the certificate with the ledger's receipt. Returns null if they match. */
const findPublishedFault = (published: JsonObject | null, receipt: Receipt): string | null => {
  // The certificate may have been read before the receipt was stored, so its anchor can still be pending.
  if (published?.status !== "anchored") return null;
  const pairs: readonly (readonly [string, unknown])[] = [
    ["ledger", receipt.ledger],
    ["tx_ref", receipt.tx_ref],
    ["leaf_index", receipt.leaf_index],
    ["tree_size", receipt.tree_size],
    ["signed_root", receipt.signed_root],
    ["inclusion_proof", receipt.inclusion_proof.join("\n")],
  ];
  const readPublished = (name: string): unknown => (name === "inclusion_proof" ? asStrings(published[name])?.join("\n") : published[name]);
  const mismatch = pairs.find(([name, value]) => readPublished(name) !== value);
  return mismatch === undefined ? null : `the certificate publishes a different ${mismatch[0]}`;
};

const findEntryProofFault = ({ entryProof, published }: AnchorEvidence, receipt: Receipt): string | null => {
  if (entryProof !== formatReceiptProof(receipt)) return "entry.tlog-proof does not match the receipt";
  const shown = published?.status === "anchored" ? (published.tlog_proof ?? entryProof) : entryProof;
  return shown === entryProof ? null : "the certificate publishes a different proof";
};

interface ReceiptFindings {
  readonly note: Finding;
  readonly inclusion: Finding;
  readonly rekorBody: Finding;
}

const checkAnchorReceipt = async (
  { crypto }: AnchorContext,
  trust: Trust,
  evidence: AnchorEvidence,
  receipt: Receipt,
  statement: Uint8Array,
): Promise<ReceiptFindings> => {
  const notReached = skipped("not reached");
  const isWrapped = receipt.kind === "rekor2";
  const wrapped = isWrapped ? await checkRekorReceipt(crypto, receipt, statement, trust.ledgers, trust.anchorKeys) : null;
  const verdict = isWrapped ? null : await verifyReceipt(crypto, receipt, statement, { trustedKeys: trust.ledgers });
  const fault = wrapped?.fault ?? (verdict === null || verdict.ok ? null : verdict.fault);
  if (fault !== null && noteFaults.includes(fault)) return { note: fail(fault), inclusion: notReached, rekorBody: notReached };
  const publishedFault = findPublishedFault(evidence.published, receipt);
  if (publishedFault !== null) return { note: fail(publishedFault), inclusion: notReached, rekorBody: notReached };
  const note = pass(`${receipt.ledger}, ${receipt.tree_size} entries`);
  const proofFault = fault ?? findEntryProofFault(evidence, receipt);
  if (proofFault !== null) return { note, inclusion: fail(proofFault), rekorBody: notReached };
  const inclusion = pass(receipt.tx_ref);
  const { rekorBody: body } = evidence;
  if (wrapped === null) {
    const none =
      body === null
        ? skipped("this ledger holds the statement itself")
        : fail("this ledger does not wrap statements, so rekor.json must be absent");
    return { note, inclusion, rekorBody: none };
  }
  const isLeafPresent = body !== null && toBase64(body) === receipt.leaf_body;
  return { note, inclusion, rekorBody: isLeafPresent ? wrapped.leaf : fail("rekor.json is not the leaf of the receipt") };
};

interface AttestationFindings {
  readonly inclusion: Finding;
  readonly cosign: Finding;
  readonly tsa: Finding;
  /** The time from a timestamp authority that the reader trusts, in milliseconds. */
  readonly time: number | null;
}

const createUnattestedFindings = (context: AnchorContext): AttestationFindings => {
  const missing = (isRequired: boolean): Finding =>
    isRequired ? incomplete("the ledger's checkpoint is not attested yet") : skipped("no attestation is required");
  return {
    inclusion: missing(context.requiresTimestamp || context.witnessMin > 0),
    cosign: missing(context.witnessMin > 0),
    tsa: missing(context.requiresTimestamp),
    time: null,
  };
};

const checkAttestation = async (
  context: AnchorContext,
  trust: Trust,
  evidence: AnchorEvidence,
  receipt: Receipt,
  leaf: Uint8Array,
): Promise<AttestationFindings> => {
  const { attestedProof, attestedNote, timestampReply } = evidence;
  const published = asObject(evidence.published?.attested);
  if (attestedProof === null && attestedNote === null && timestampReply === null) {
    const absent = createUnattestedFindings(context);
    return published === null
      ? absent
      : { ...absent, inclusion: incomplete("the attestation that the certificate names is not in the pack") };
  }
  const notReached = skipped("not reached");
  const failed = (detail: string): AttestationFindings => ({ inclusion: fail(detail), cosign: notReached, tsa: notReached, time: null });
  if (attestedProof === null || attestedNote === null) return failed("the attested checkpoint and its proof must both be present");
  const origin = (parseCheckpoint(receipt.signed_root) as Checkpoint).origin; // cannot be null, because the receipt passed its checks
  const rekorKeys = listTrustedLogKeys(trust.ledgers, origin, receipt.verified_at);
  const log = {
    origin,
    keys: listLogKeys(trust.ledgers, origin, receipt.verified_at),
    witnesses: trust.witnesses,
    ...(receipt.kind === "rekor2" && { isSignedByLog: (note: string) => isSignedByRekor(context.crypto, note, rekorKeys) }),
  };
  const attested = await verifyCheckpoint(context.crypto, attestedNote, log);
  if (!attested.ok) return failed(`checkpoint.txt: ${attested.fault}`);
  const proven = await verifyTlogProof(context.crypto, attestedProof, leaf, log);
  if (!proven.ok) return failed(proven.fault);
  if (proven.index.toString() !== receipt.leaf_index) return failed("the proof is for a different index in the ledger");
  if (!parseTlogProof(attestedProof)?.checkpoint.startsWith(attestedNote))
    return failed("the proof leads to a different checkpoint than the attested one");

  // The attestation in the pack can be newer than the one on the certificate. They are compared only if both are for a tree of the same
  // size.
  const isPublished = published !== null && published.tree_size === proven.checkpoint.size.toString();
  if (isPublished && asString(published.signed_root)?.startsWith(attestedNote) !== true)
    return failed("the certificate publishes a different attested checkpoint");

  const inclusion = pass(`${proven.checkpoint.size} entries`);
  const witnesses = [...new Set(proven.cosignatures.map(({ key }) => key.name))];
  const names = witnesses.length === 0 ? "" : `: ${witnesses.join(", ")}`;
  const count = `${witnesses.length} of ${context.witnessMin} required witnesses${names}`;
  const cosign =
    witnesses.length < context.witnessMin ? incomplete(count) : witnesses.length === 0 ? skipped("no witness is required") : pass(count);
  const timestamp = await checkTimestamp(timestampReply, encodeUtf8(attestedNote), trust.authorities, context.requiresTimestamp);
  const stampedAt = isPublished && published.time_source === "rfc3161" ? (published.time ?? null) : null;
  const isOtherTime = stampedAt !== null && timestamp.time !== null && Date.parse(String(stampedAt)) !== timestamp.time;
  const tsa = isOtherTime ? fail("the certificate publishes a different time than the timestamp") : timestamp.finding;
  return { inclusion, cosign, tsa, time: timestamp.time };
};

/**
 * Runs all checks on one statement and records the results in `findings`. `expected` is the statement rebuilt from the record. Returns the
 * time from a trusted timestamp authority, in milliseconds, or null.
 */
export const checkAnchor = async (
  findings: Findings,
  event: "issued" | "revoked",
  expected: string,
  evidence: AnchorEvidence,
  context: AnchorContext,
): Promise<{ readonly time: number | null }> => {
  const record = (step: AnchorStep, finding: Finding): void => {
    findings.set(toCheckId(event, step), finding);
  };
  const { statement, published, trust } = { ...evidence, trust: context.trust };
  if (statement === null) {
    record("statement", incomplete("the statement is not in the pack"));
    return { time: null };
  }
  const isExpected = statement === expected && (published === null || published.statement === statement);
  const publishedFault = isExpected ? findPublishedStatementFault(published, statement) : "the statement does not match this certificate";
  record("statement", publishedFault === null ? pass() : fail(publishedFault));
  if (evidence.receipt === null) {
    if (published !== null && published.entry_hash !== sha256Hex(statement)) {
      record("entry_hash", fail("the certificate names a different statement"));
    } else {
      const isAnchored = published?.status === "anchored";
      record(
        "entry_hash",
        incomplete(isAnchored ? "the ledger's receipt is not included" : "the ledger has not confirmed yet: there is no receipt"),
      );
    }
    return { time: null };
  }
  const receipt = parseReceipt(evidence.receipt);
  const entryHash = checkEntryHash(statement, receipt, published);
  record("entry_hash", entryHash);
  if (receipt === null) return { time: null };
  if (trust === null || trust.ledgers.length === 0) {
    record("note", incomplete("no trusted ledger key to check it with"));
    return { time: null };
  }
  const bytes = encodeUtf8(statement);
  const found = await checkAnchorReceipt(context, trust, evidence, receipt, bytes);
  record("note", found.note);
  record("inclusion", found.inclusion);
  record("rekor_body", found.rekorBody);
  if (found.inclusion.outcome !== "pass") return { time: null };
  const madeAt = Date.parse(String(asObject(parseCanonical(expected))?.timestamp));
  const requiresTimestamp = context.requiresTimestamp || needsTimestamp(trust.authorities, madeAt);
  const attested = await checkAttestation({ ...context, requiresTimestamp }, trust, evidence, receipt, evidence.rekorBody ?? bytes);
  record("attest.inclusion", attested.inclusion);
  record("attest.cosign", attested.cosign);
  record("attest.tsa", attested.tsa);
  return { time: attested.time };
};
