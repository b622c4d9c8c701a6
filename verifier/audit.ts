// Checks one certificate's audit entries: that they are well-formed and linked, that the audit log contains them, and that they match the
// recorded chain head. The pack omits entries about other certificates. Where entries are omitted, the hash links cannot be checked, but
// the order of the entries in the log can.
import { hashAuditEntry, serializeAuditEntry, createGenesisHead, type AuditEntry } from "../core/audit/chain.ts";
import { serializeHeadLeaf, hashHeadsRecord } from "../core/audit/heads.ts";
import { hashAuditPayload } from "../core/audit/payload.ts";
import type { PackFiles } from "../core/certificates/evidence-zip.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { fromBase64, fromBase64Url, fromHex, toHex, encodeUtf8 } from "../core/bytes.ts";
import { parseCheckpoint } from "../core/ledger/checkpoint.ts";
import { parseCount, hashLength, hashLeaf, computeRootFromInclusion } from "../core/ledger/merkle.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { parseTlogProof, verifyTlogProof } from "../core/ledger/tlog-proof.ts";
import { minuteMs } from "../core/time.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { fail, incomplete, pass, type Finding } from "./checks.ts";
import { hasExactMembers, isSha256Hex, asObject, parseCanonical, asString, asStrings, decodeText } from "./json.ts";
import { listLogKeys, type Trust } from "./trust.ts";

const entryMemberNames = ["at", "chain", "entity_id", "entity_type", "payload_hash", "prev_hash", "seq", "type"] as const;

/** Parses a line. Returns null unless the line is the canonical form of an entry. */
const parseEntry = (line: string): AuditEntry | null => {
  const record = asObject(parseCanonical(line));
  if (record === null || !hasExactMembers(record, entryMemberNames) || !entryMemberNames.every((name) => typeof record[name] === "string"))
    return null;
  const entry = record as unknown as AuditEntry;
  const isWellFormed =
    parseCount(entry.seq) !== null &&
    entry.seq !== "0" &&
    isIsoTime(entry.at) &&
    isSha256Hex(entry.payload_hash) &&
    isSha256Hex(entry.prev_hash) &&
    /^[0-9a-f]{32}$/.test(entry.chain);
  return isWellFormed && serializeAuditEntry(entry) === line ? entry : null;
};

/** Parses audit/entries.jsonl. If a line is malformed, returns its number, counted from 1. */
export const parseEntries = (text: string): readonly AuditEntry[] | number => {
  const lines = text.split("\n");
  if (lines.pop() !== "") return lines.length + 1; // the last line must end with a line break
  const entries: AuditEntry[] = [];
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry === null) return entries.length + 1;
    entries.push(entry);
  }
  return entries;
};

export interface AuditSubject {
  readonly entries: readonly AuditEntry[];
  readonly preimage: Preimage;
  readonly fingerprint: string;
  readonly evidenceHash: unknown;
}

/** Returns the chain's index in the tree of heads, from audit/heads.json. Returns null if the index is absent or malformed. */
const parseChainIndex = (files: PackFiles): bigint | null =>
  parseCount(asString(asObject(parseCanonical(decodeText(files.get("audit/heads.json"))))?.chain_index) ?? "");

const findLinkFault = (entries: readonly AuditEntry[], certId: string, chainIndex: bigint | null): string | null => {
  let previousEntry: AuditEntry | null = null;
  for (const entry of entries) {
    const seq = BigInt(entry.seq);
    const previousSeq = previousEntry === null ? null : BigInt(previousEntry.seq);
    if (entry.entity_type !== "certificate" || entry.entity_id !== certId) return `entry ${seq} is about a different entity`;
    if (previousEntry !== null && previousSeq !== null) {
      if (entry.chain !== previousEntry.chain) return `entry ${seq} belongs to a different chain`;
      if (seq <= previousSeq) return `entry ${seq} is out of order`;
      if (seq === previousSeq + 1n && entry.prev_hash !== hashAuditEntry(previousEntry))
        return `entry ${seq} does not follow the previous entry`;
    }
    if (seq === 1n && chainIndex !== null && entry.prev_hash !== createGenesisHead({ chain: entry.chain, chainIndex }).hash) {
      return "entry 1 is not the start of this chain";
    }
    previousEntry = entry;
  }
  return null;
};

const saltLength = 16;

const findPayloadFault = (payloads: JsonObject, { entries, fingerprint, evidenceHash }: AuditSubject): string | null => {
  for (const [seq, value] of Object.entries(payloads)) {
    const entry = entries.find((candidate) => candidate.seq === seq);
    const record = asObject(value);
    const payload = asObject(record?.payload);
    const salt = asString(record?.salt);
    if (entry === undefined) return `the payload of entry ${seq} has no entry`;
    if (record === null || payload === null || salt === null || !hasExactMembers(record, ["payload", "salt"]))
      return `the payload of entry ${seq} is malformed`;
    if (fromBase64Url(salt)?.length !== saltLength) return `the salt of entry ${seq} is not 128 bits of base64url`;
    if (hashAuditPayload(salt, payload) !== entry.payload_hash) return `the payload of entry ${seq} does not match its commitment`;
    if (entry.type !== "certificate.issued") continue;
    if (payload.fingerprint !== fingerprint) return `entry ${seq} is the issuance of a different fingerprint`;
    if (payload.evidence_hash !== evidenceHash) return `entry ${seq} committed to different evidence`;
  }
  return null;
};

export const checkChain = (files: PackFiles, audit: AuditSubject): Finding => {
  const { entries, preimage } = audit;
  const fault = findLinkFault(entries, preimage.cert_id, parseChainIndex(files));
  if (fault !== null) return fail(fault);
  const issued = entries.filter(({ type }) => type === "certificate.issued");
  if (issued.length !== 1 || issued[0]?.at !== preimage.timestamp) return fail("the entries must contain exactly this issuance");
  const payloads = asObject(parseCanonical(decodeText(files.get("audit/payloads.json"))));
  if (payloads === null) return fail("audit/payloads.json is not a canonical map");
  const payloadFault = findPayloadFault(payloads, audit);
  if (payloadFault !== null) return fail(payloadFault);
  return pass(`${entries.length} entries, seq ${entries[0]?.seq} to ${entries.at(-1)?.seq}, ${Object.keys(payloads).length} payloads`);
};

const parseProofOrigin = (proof: string): string | null => parseCheckpoint(parseTlogProof(proof)?.checkpoint ?? "")?.origin ?? null;

/** A pack whose audit entries are checked. Log keys must still have been valid at `createdAt`, the time when the pack was created. */
interface AuditedPack {
  readonly crypto: NoteCrypto;
  readonly trust: Trust | null;
  readonly files: PackFiles;
  readonly entries: readonly AuditEntry[];
  readonly createdAt: string;
}

const verifyLogProof = ({ crypto, trust, createdAt }: AuditedPack, proof: string, origin: string, entry: Uint8Array) =>
  verifyTlogProof(crypto, proof, entry, { origin, keys: listLogKeys(trust?.auditLogs ?? [], origin, createdAt) });

const getProofPath = (seq: string): string => `audit/${seq}.tlog-proof`;

export const checkInclusion = async (pack: AuditedPack): Promise<Finding> => {
  const { trust, files, entries } = pack;
  const proofs = [...files.keys()].filter((path) => /^audit\/[0-9]+\.tlog-proof$/.test(path));
  const extra = proofs.find((path) => !entries.some(({ seq }) => path === getProofPath(seq)));
  if (extra !== undefined) return fail(`${extra} proves an entry that is not in the pack`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no trusted audit log key to check it with");
  let last = -1n;
  let origin: string | null = null;
  for (const entry of entries) {
    const text = decodeText(files.get(getProofPath(entry.seq)));
    if (text === null) return fail(`the proof of entry ${entry.seq} is missing`);
    origin ??= parseProofOrigin(text);
    const hash = fromHex(hashAuditEntry(entry)) as Uint8Array;
    const verdict = await verifyLogProof(pack, text, origin ?? "", hash);
    if (!verdict.ok) return fail(`entry ${entry.seq}: ${verdict.fault}`);
    if (verdict.index <= last) return fail(`entry ${entry.seq} comes before its predecessor in the log`);
    last = verdict.index;
  }
  return pass(`${entries.length} proofs, ${origin}`);
};

/** Checks that the audit log recorded a head of this chain, and that the recorded chain includes the right entries of the pack. */
export const checkHeads = async (pack: AuditedPack): Promise<Finding> => {
  const { trust, files, entries } = pack;
  const headsText = decodeText(files.get("audit/heads.json"));
  const recordText = decodeText(files.get("audit/heads-record.json"));
  const proofText = decodeText(files.get("audit/heads-record.tlog-proof"));
  if (!["audit/heads.json", "audit/heads-record.json", "audit/heads-record.tlog-proof"].some((path) => files.has(path)))
    return incomplete("the audit log has not recorded this chain yet");
  if (headsText === null || recordText === null || proofText === null) return fail("part of the record of heads is missing");
  const heads = asObject(parseCanonical(headsText));
  const record = asObject(parseCanonical(recordText));
  const path = asStrings(heads?.path)?.map(fromBase64);
  const leafText = asString(heads?.leaf) ?? "";
  const leaf = asObject(parseCanonical(leafText));
  const index = parseCount(asString(heads?.chain_index) ?? "");
  const size = parseCount(asString(heads?.size) ?? "");
  const seq = parseCount(asString(leaf?.seq) ?? "");
  if (
    heads === null ||
    !hasExactMembers(heads, ["chain_index", "leaf", "path", "size"]) ||
    index === null ||
    size === null ||
    !path?.every((hash) => hash?.length === hashLength)
  ) {
    return fail("audit/heads.json is malformed");
  }
  if (
    record === null ||
    !hasExactMembers(record, ["at", "heads_root", "heads_size", "log_size", "schema"]) ||
    record.schema !== "svc-heads-v1" ||
    record.heads_size !== heads.size ||
    !isIsoTime(record.at)
  ) {
    return fail("audit/heads-record.json is malformed");
  }
  const chain = entries[0]?.chain ?? "";
  if (seq === null || !isSha256Hex(leaf?.head) || serializeHeadLeaf(chain, { seq, hash: leaf.head }) !== leafText) {
    return fail("the leaf does not belong to this chain");
  }
  const root = computeRootFromInclusion({ leaf: hashLeaf(encodeUtf8(leafText)), index, size, proof: path as Uint8Array[] });
  if (root === null || toHex(root) !== record.heads_root) return fail("the chain is not in the recorded tree of heads");
  const recordedEntry = entries.find((entry) => entry.seq === leaf.seq);
  if (recordedEntry !== undefined && hashAuditEntry(recordedEntry) !== leaf.head) return fail(`entry ${leaf.seq} is not the recorded one`);

  if (trust === null || trust.auditLogs.length === 0) return incomplete("no trusted audit log key to check it with");
  const origin = parseProofOrigin(decodeText(files.get(getProofPath(entries[0]?.seq ?? ""))) ?? "") ?? "";
  const verdict = await verifyLogProof(pack, proofText, origin, hashHeadsRecord(recordText));
  if (!verdict.ok) return fail(verdict.fault);
  if (verdict.index.toString() !== record.log_size) return fail("the record is not at the log index that it names");
  // The recorded chain must include exactly those entries of the pack that precede the record in the log.
  for (const entry of entries) {
    const proof = parseTlogProof(decodeText(files.get(getProofPath(entry.seq))) ?? "");
    if (proof !== null && proof.index < verdict.index && BigInt(entry.seq) > seq)
      return fail(`entry ${entry.seq} is missing from the recorded chain`);
    if (proof !== null && proof.index > verdict.index && BigInt(entry.seq) <= seq)
      return fail(`entry ${entry.seq} was recorded before it was in the log`);
  }
  return pass(`${leaf.seq} entries in the chain at ${record.at}`);
};

const maxHeadsAgeMs = 30 * minuteMs; // twice the recording interval, because one record may be missing

/** Describes a record of heads that was already outdated when the pack was created. Returns null if the record was recent or is absent. */
export const describeStaleHeads = (files: PackFiles, createdAt: string): string | null => {
  const at = asObject(parseCanonical(decodeText(files.get("audit/heads-record.json"))))?.at;
  if (!isIsoTime(at) || !isIsoTime(createdAt) || Date.parse(createdAt) - Date.parse(at) <= maxHeadsAgeMs) return null;
  return `The audit log recorded the head of this chain at ${at}, more than 30 minutes before the pack was created. The pack may omit later entries.`;
};
