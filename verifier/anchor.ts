// Checks on one statement in the ledger: that it is about this certificate, that the ledger holds it, and that others saw the
// ledger hold it. The same for the issuance and the withdrawal, for a pack and for the public answer of the service.
import { toBase64, encodeUtf8 } from "../core/bytes.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { sha256Hex } from "../core/hash.ts";
import { parseCheckpoint, verifyCheckpoint, type Checkpoint } from "../core/ledger/checkpoint.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { parseReceipt, formatReceiptProof, verifyReceipt, type Receipt, type ReceiptFault } from "../core/ledger/receipt.ts";
import { formatAnchorStatement, type AnchorSubject } from "../core/ledger/statement.ts";
import { parseTlogProof, verifyTlogProof } from "../core/ledger/tlog-proof.ts";
import { checkRekorReceipt, checkTimestamp } from "./attestors.ts";
import { fail, incomplete, pass, skipped, type CheckId, type Finding, type Findings } from "./checks.ts";
import { asStrings, type JsonObject } from "./json.ts";
import { listLogKeys, type Trust } from "./trust.ts";

/** What is shown of one statement; null where nothing is. */
export interface AnchorEvidence {
  readonly statement: string | null;
  /** The anchor as the certificate publishes it. */
  readonly published: JsonObject | null;
  readonly receipt: string | null;
  /** c2sp.org/tlog-proof@v1 of the same. */
  readonly entryProof: string | null;
  /** The ledger's own leaf, where it makes one. */
  readonly rekorBody: Uint8Array | null;
  readonly attestedProof: string | null;
  /** The attested note without cosignatures. */
  readonly attestedNote: string | null;
  readonly timestampReply: Uint8Array | null;
}

export interface AnchorContext {
  readonly crypto: NoteCrypto;
  readonly trust: Trust | null;
  readonly requiresTimestamp: boolean;
  readonly witnessMin: number;
}

type AnchorStep = "statement" | "entry_hash" | "note" | "inclusion" | "rekor_body" | "attest.inclusion" | "attest.cosign" | "attest.tsa";

const toCheckId = (event: "issued" | "revoked", step: AnchorStep): CheckId => {
  if (event === "revoked") return `revoke.${step}`;
  return step === "attest.inclusion" || step === "attest.cosign" || step === "attest.tsa" ? step : `anchor.${step}`;
};

/** Which check a fault of a receipt belongs to; inclusion and leaf faults are the inclusion's. */
const noteFaults: readonly ReceiptFault[] = [
  "receipt_malformed",
  "note_malformed",
  "bad_signature",
  "no_known_signature",
  "checkpoint_malformed",
  "origin_mismatch",
  "reference_mismatch",
];

/** The statement that belongs to the record: nothing in it is taken from the pack's own statement. */
export const buildExpectedStatement = (event: AnchorSubject["event"], preimage: Preimage, fingerprint: string, at: string): string =>
  formatAnchorStatement({ event, entityId: preimage.cert_id, fingerprint, originDomain: preimage.origin_domain, at: Date.parse(at) });

const checkEntryHash = (statement: string, receipt: Receipt | null, published: JsonObject | null): Finding => {
  const hash = sha256Hex(statement);
  if (receipt === null) return fail("the receipt is malformed");
  if (receipt.entry_hash !== hash) return fail("the receipt is for another statement");
  if (published !== null && published.entry_hash !== hash) return fail("the certificate names another statement");
  return pass(hash);
};

/** Is what the certificate publishes about its anchor what the receipt says? */
const findPublishedFault = (published: JsonObject | null, receipt: Receipt): string | null => {
  if (published?.status !== "anchored") return null; // the certificate may be a moment older than the receipt
  const pairs: readonly (readonly [string, unknown])[] = [
    ["ledger", receipt.ledger],
    ["tx_ref", receipt.tx_ref],
    ["leaf_index", receipt.leaf_index],
    ["tree_size", receipt.tree_size],
    ["signed_root", receipt.signed_root],
    ["inclusion_proof", receipt.inclusion_proof.join("\n")],
  ];
  const said = (name: string): unknown => (name === "inclusion_proof" ? asStrings(published[name])?.join("\n") : published[name]);
  const other = pairs.find(([name, value]) => said(name) !== value);
  return other === undefined ? null : `the certificate publishes another ${other[0]}`;
};

const findEntryProofFault = (text: string | null, receipt: Receipt): string | null =>
  text === formatReceiptProof(receipt) ? null : "entry.tlog-proof does not say what the receipt says";

interface ReceiptFindings {
  readonly note: Finding;
  readonly inclusion: Finding;
  readonly rekorBody: Finding;
}

const checkAnchorReceipt = async (
  { crypto }: AnchorContext,
  trust: Trust,
  exhibit: AnchorEvidence,
  receipt: Receipt,
  statement: Uint8Array,
): Promise<ReceiptFindings> => {
  const notReached = skipped("not reached");
  const isWrapped = receipt.kind === "rekor2";
  const wrapped = isWrapped ? await checkRekorReceipt(crypto, receipt, statement, trust.ledgers, trust.anchorKeys) : null;
  const verdict = isWrapped ? null : await verifyReceipt(crypto, receipt, statement, { trustedKeys: trust.ledgers });
  const fault = wrapped?.fault ?? (verdict === null || verdict.ok ? null : verdict.fault);
  if (fault !== null && noteFaults.includes(fault)) return { note: fail(fault), inclusion: notReached, rekorBody: notReached };
  const differs = findPublishedFault(exhibit.published, receipt);
  if (differs !== null) return { note: fail(differs), inclusion: notReached, rekorBody: notReached };
  const note = pass(`${receipt.ledger}, ${receipt.tree_size} entries`);
  const proofFault = fault ?? findEntryProofFault(exhibit.entryProof, receipt);
  if (proofFault !== null) return { note, inclusion: fail(proofFault), rekorBody: notReached };
  const inclusion = pass(receipt.tx_ref);
  const { rekorBody: body } = exhibit;
  if (wrapped === null) {
    const none = body === null ? skipped("this ledger holds the statement itself") : fail("this ledger makes no leaf of its own");
    return { note, inclusion, rekorBody: none };
  }
  const isShown = body !== null && toBase64(body) === receipt.leaf_body;
  return { note, inclusion, rekorBody: isShown ? wrapped.leaf : fail("rekor.json is not the leaf of the receipt") };
};

interface AttestationFindings {
  readonly inclusion: Finding;
  readonly cosign: Finding;
  readonly tsa: Finding;
  /** When a trusted authority saw it. */
  readonly time: number | null;
}

const createUnattestedFindings = (context: AnchorContext): AttestationFindings => {
  const missing = (isAsked: boolean): Finding =>
    isAsked ? incomplete("nobody has attested the ledger's checkpoint yet") : skipped("no attestation is asked for");
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
  exhibit: AnchorEvidence,
  receipt: Receipt,
  leaf: Uint8Array,
): Promise<AttestationFindings> => {
  const { attestedProof, attestedNote, timestampReply } = exhibit;
  if (attestedProof === null && attestedNote === null && timestampReply === null) return createUnattestedFindings(context);
  const notReached = skipped("not reached");
  const failed = (detail: string): AttestationFindings => ({ inclusion: fail(detail), cosign: notReached, tsa: notReached, time: null });
  if (attestedProof === null || attestedNote === null) return failed("the checkpoint and the proof that leads to it go together");
  const origin = (parseCheckpoint(receipt.signed_root) as Checkpoint).origin; // the receipt has passed its checks
  const log = { origin, keys: listLogKeys(trust.ledgers, origin, receipt.verified_at), witnesses: trust.witnesses };
  const stamped = await verifyCheckpoint(context.crypto, attestedNote, log);
  if (!stamped.ok) return failed(`checkpoint.txt: ${stamped.fault}`);
  const proven = await verifyTlogProof(context.crypto, attestedProof, leaf, log);
  if (!proven.ok) return failed(proven.fault);
  if (proven.index.toString() !== receipt.leaf_index) return failed("the proof is for another place in the ledger");
  if (!parseTlogProof(attestedProof)?.checkpoint.startsWith(attestedNote))
    return failed("the proof leads to another checkpoint than the attested one");

  const inclusion = pass(`${proven.checkpoint.size} entries`);
  const witnesses = [...new Set(proven.cosignatures.map(({ key }) => key.name))];
  const names = witnesses.length === 0 ? "" : `: ${witnesses.join(", ")}`;
  const count = `${witnesses.length} of ${context.witnessMin} witnesses that are asked for${names}`;
  const cosign =
    witnesses.length < context.witnessMin ? incomplete(count) : witnesses.length === 0 ? skipped("no witness is asked for") : pass(count);
  const timestamp = await checkTimestamp(timestampReply, encodeUtf8(attestedNote), trust.authorities, context.requiresTimestamp);
  return { inclusion, cosign, tsa: timestamp.finding, time: timestamp.time };
};

/**
 * Makes every check on one statement. `expected` is the statement rebuilt from the record; null when there was nothing to
 * rebuild it from. Answers with the trusted time, if somebody attested one.
 */
export const checkAnchor = async (
  findings: Findings,
  event: "issued" | "revoked",
  expected: string,
  exhibit: AnchorEvidence,
  context: AnchorContext,
): Promise<{ readonly time: number | null }> => {
  const record = (step: AnchorStep, finding: Finding): void => {
    findings.set(toCheckId(event, step), finding);
  };
  const { statement, published, trust } = { ...exhibit, trust: context.trust };
  if (statement === null) {
    record("statement", incomplete("the statement is not in the pack"));
    return { time: null };
  }
  const isExpected = statement === expected && (published === null || published.statement === statement);
  record("statement", isExpected ? pass() : fail("it is not the statement that this certificate gives"));
  if (exhibit.receipt === null) {
    if (published !== null && published.entry_hash !== sha256Hex(statement)) {
      record("entry_hash", fail("the certificate names another statement"));
    } else {
      record("entry_hash", incomplete("the ledger has not confirmed yet: there is no receipt"));
    }
    return { time: null };
  }
  const receipt = parseReceipt(exhibit.receipt);
  const entryHash = checkEntryHash(statement, receipt, published);
  record("entry_hash", entryHash);
  if (receipt === null) return { time: null };
  if (trust === null || trust.ledgers.length === 0) {
    record("note", incomplete("no ledger's key to check it with"));
    return { time: null };
  }
  const bytes = encodeUtf8(statement);
  const found = await checkAnchorReceipt(context, trust, exhibit, receipt, bytes);
  record("note", found.note);
  record("inclusion", found.inclusion);
  record("rekor_body", found.rekorBody);
  if (found.inclusion.outcome !== "pass") return { time: null };
  const attested = await checkAttestation(context, trust, exhibit, receipt, exhibit.rekorBody ?? bytes);
  record("attest.inclusion", attested.inclusion);
  record("attest.cosign", attested.cosign);
  record("attest.tsa", attested.tsa);
  return { time: attested.time };
};
