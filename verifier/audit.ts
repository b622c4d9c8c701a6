// Checks on the audit entries about one certificate: each whole and linked, each in the audit log, and the log's own word on
// how far their chain had come. Other entries of the same chain are about other certificates and are not shown; of what lies
// between two entries their hashes say nothing, but that the log holds both in this order.
import { auditEntryHash, auditEntryText, genesisOf, type AuditEntry } from "../core/audit/chain.ts";
import { headLeafText, headsRecordEntry } from "../core/audit/heads.ts";
import { auditPayloadHash } from "../core/audit/payload.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { bytesOfBase64, bytesOfBase64Url, bytesOfHex, hexOf, utf8 } from "../core/bytes.ts";
import { sha256 } from "../core/hash.ts";
import { parseCheckpoint } from "../core/ledger/checkpoint.ts";
import { countOf, hashBytes, leafHash, rootFromInclusion } from "../core/ledger/merkle.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { parseTlogProof, verifyTlogProof } from "../core/ledger/tlog-proof.ts";
import { minuteMs } from "../core/time.ts";
import { fail, incomplete, pass, type Finding } from "./checks.ts";
import { hasExactly, isHash, isIso, objectOf, parseCanonical, stringOf, stringsOf, textOf, type JsonObject } from "./json.ts";
import { logKeys, type Trust } from "./trust.ts";

type Files = ReadonlyMap<string, Uint8Array>;

const members = ["at", "chain", "entity_id", "entity_type", "payload_hash", "prev_hash", "seq", "type"] as const;

/** The entry in a line; null unless the line is the entry's one spelling. */
const entryOf = (line: string): AuditEntry | null => {
  const record = objectOf(parseCanonical(line));
  if (record === null || !hasExactly(record, members) || !members.every((name) => typeof record[name] === "string")) return null;
  const entry = record as unknown as AuditEntry;
  const isWhole =
    countOf(entry.seq) !== null &&
    entry.seq !== "0" &&
    isIso(entry.at) &&
    isHash(entry.payload_hash) &&
    isHash(entry.prev_hash) &&
    /^[0-9a-f]{32}$/.test(entry.chain);
  return isWhole && auditEntryText(entry) === line ? entry : null;
};

/** The entries of audit/entries.jsonl; the number of the first line that is none. */
export const entriesOf = (text: string): readonly AuditEntry[] | number => {
  const lines = text.split("\n");
  if (lines.pop() !== "") return lines.length + 1; // the last line ends with its break, too
  const entries: AuditEntry[] = [];
  for (const line of lines) {
    const entry = entryOf(line);
    if (entry === null) return entries.length + 1;
    entries.push(entry);
  }
  return entries;
};

export interface AuditCase {
  readonly entries: readonly AuditEntry[];
  readonly preimage: Preimage;
  readonly fingerprint: string;
  readonly evidenceHash: unknown;
}

/** The place of the chain in the tree of heads, from audit/heads.json; null where it is not given. */
const chainIndexOf = (files: Files): bigint | null =>
  countOf(stringOf(objectOf(parseCanonical(textOf(files.get("audit/heads.json"))))?.chain_index) ?? "");

const linkFault = (entries: readonly AuditEntry[], certId: string, chainIndex: bigint | null): string | null => {
  let before: AuditEntry | null = null;
  for (const entry of entries) {
    const seq = BigInt(entry.seq);
    const previous = before === null ? null : BigInt(before.seq);
    if (entry.entity_type !== "certificate" || entry.entity_id !== certId) return `entry ${seq} is about something else`;
    if (before !== null && previous !== null) {
      if (entry.chain !== before.chain) return `entry ${seq} is of another chain`;
      if (seq <= previous) return `entry ${seq} is out of order`;
      if (seq === previous + 1n && entry.prev_hash !== auditEntryHash(sha256, before)) return `entry ${seq} does not follow the one before`;
    }
    if (seq === 1n && chainIndex !== null && entry.prev_hash !== genesisOf(sha256, { chain: entry.chain, chainIndex }).hash) {
      return "entry 1 does not start this chain";
    }
    before = entry;
  }
  return null;
};

const saltBytes = 16;

const payloadFault = (payloads: JsonObject, { entries, fingerprint, evidenceHash }: AuditCase): string | null => {
  for (const [seq, value] of Object.entries(payloads)) {
    const entry = entries.find((one) => one.seq === seq);
    const record = objectOf(value);
    const payload = objectOf(record?.payload);
    const salt = stringOf(record?.salt);
    if (entry === undefined) return `there is a payload of entry ${seq}, which is not there`;
    if (record === null || payload === null || salt === null || !hasExactly(record, ["payload", "salt"]))
      return `the payload of entry ${seq} is malformed`;
    if (bytesOfBase64Url(salt)?.length !== saltBytes) return `the salt of entry ${seq} is not 128 bits of base64url`;
    if (auditPayloadHash(salt, payload) !== entry.payload_hash) return `the payload of entry ${seq} is not what was committed to`;
    if (entry.type !== "certificate.issued") continue;
    if (payload.fingerprint !== fingerprint) return `entry ${seq} is the issuance of another fingerprint`;
    if (payload.evidence_hash !== evidenceHash) return `entry ${seq} committed to other evidence`;
  }
  return null;
};

export const checkChain = (files: Files, audit: AuditCase): Finding => {
  const { entries, preimage } = audit;
  const fault = linkFault(entries, preimage.cert_id, chainIndexOf(files));
  if (fault !== null) return fail(fault);
  const issued = entries.filter(({ type }) => type === "certificate.issued");
  if (issued.length !== 1 || issued[0]?.at !== preimage.timestamp) return fail("the entries do not hold this one issuance");
  const payloads = objectOf(parseCanonical(textOf(files.get("audit/payloads.json"))));
  if (payloads === null) return fail("audit/payloads.json is not a canonical map");
  const wrong = payloadFault(payloads, audit);
  if (wrong !== null) return fail(wrong);
  return pass(`${entries.length} entries, seq ${entries[0]?.seq} to ${entries.at(-1)?.seq}, ${Object.keys(payloads).length} payloads`);
};

const originOf = (proof: string): string | null => parseCheckpoint(parseTlogProof(proof)?.checkpoint ?? "")?.origin ?? null;

/** A pack whose entries are held against the audit log, whose keys must not have been out of use when the pack was made. */
interface LoggedPack {
  readonly crypto: NoteCrypto;
  readonly trust: Trust | null;
  readonly files: Files;
  readonly entries: readonly AuditEntry[];
  readonly createdAt: string;
}

/** Checks one proof of the audit log. */
const verifyInLog = ({ crypto, trust, createdAt }: LoggedPack, proof: string, origin: string, entry: Uint8Array) =>
  verifyTlogProof(crypto, proof, entry, { origin, keys: logKeys(trust?.auditLogs ?? [], origin, createdAt) });

const proofPath = (seq: string): string => `audit/${seq}.tlog-proof`;

export const checkInclusion = async (pack: LoggedPack): Promise<Finding> => {
  const { trust, files, entries } = pack;
  const proofs = [...files.keys()].filter((path) => /^audit\/[0-9]+\.tlog-proof$/.test(path));
  const extra = proofs.find((path) => !entries.some(({ seq }) => path === proofPath(seq)));
  if (extra !== undefined) return fail(`${extra} proves an entry that is not there`);
  if (trust === null || trust.auditLogs.length === 0) return incomplete("no audit log's key to check it with");
  let last = -1n;
  let origin: string | null = null;
  for (const entry of entries) {
    const text = textOf(files.get(proofPath(entry.seq)));
    if (text === null) return fail(`the proof of entry ${entry.seq} is missing`);
    origin ??= originOf(text);
    const hash = bytesOfHex(auditEntryHash(sha256, entry)) as Uint8Array;
    const verdict = await verifyInLog(pack, text, origin ?? "", hash);
    if (!verdict.ok) return fail(`entry ${entry.seq}: ${verdict.fault}`);
    if (verdict.index <= last) return fail(`entry ${entry.seq} stands before its predecessor in the log`);
    last = verdict.index;
  }
  return pass(`${entries.length} proofs, ${origin}`);
};

/** What the log's record of heads says of this chain. */
export const checkHeads = async (pack: LoggedPack): Promise<Finding> => {
  const { trust, files, entries } = pack;
  const headsText = textOf(files.get("audit/heads.json"));
  const recordText = textOf(files.get("audit/heads-record.json"));
  const proofText = textOf(files.get("audit/heads-record.tlog-proof"));
  if (!["audit/heads.json", "audit/heads-record.json", "audit/heads-record.tlog-proof"].some((path) => files.has(path)))
    return incomplete("the audit log has not recorded this chain yet");
  if (headsText === null || recordText === null || proofText === null) return fail("a part of the record of heads is missing");
  const heads = objectOf(parseCanonical(headsText));
  const record = objectOf(parseCanonical(recordText));
  const path = stringsOf(heads?.path)?.map(bytesOfBase64);
  const leafText = stringOf(heads?.leaf) ?? "";
  const leaf = objectOf(parseCanonical(leafText));
  const index = countOf(stringOf(heads?.chain_index) ?? "");
  const size = countOf(stringOf(heads?.size) ?? "");
  const seq = countOf(stringOf(leaf?.seq) ?? "");
  if (
    heads === null ||
    !hasExactly(heads, ["chain_index", "leaf", "path", "size"]) ||
    index === null ||
    size === null ||
    !path?.every((hash) => hash?.length === hashBytes)
  ) {
    return fail("audit/heads.json is malformed");
  }
  if (
    record === null ||
    !hasExactly(record, ["at", "heads_root", "heads_size", "log_size", "schema"]) ||
    record.schema !== "svc-heads-v1" ||
    record.heads_size !== heads.size ||
    !isIso(record.at)
  ) {
    return fail("audit/heads-record.json is malformed");
  }
  const chain = entries[0]?.chain ?? "";
  if (seq === null || !isHash(leaf?.head) || headLeafText(chain, { seq, hash: leaf.head }) !== leafText) {
    return fail("the leaf is not of this chain");
  }
  const root = rootFromInclusion(sha256, { leaf: leafHash(sha256, utf8(leafText)), index, size, proof: path as Uint8Array[] });
  if (root === null || hexOf(root) !== record.heads_root) return fail("the chain does not stand in the recorded tree of heads");
  const same = entries.find((entry) => entry.seq === leaf.seq);
  if (same !== undefined && auditEntryHash(sha256, same) !== leaf.head) return fail(`entry ${leaf.seq} is not the one that was recorded`);

  if (trust === null || trust.auditLogs.length === 0) return incomplete("no audit log's key to check it with");
  const origin = originOf(textOf(files.get(proofPath(entries[0]?.seq ?? ""))) ?? "") ?? "";
  const verdict = await verifyInLog(pack, proofText, origin, headsRecordEntry(sha256, recordText));
  if (!verdict.ok) return fail(verdict.fault);
  if (verdict.index.toString() !== record.log_size) return fail("the record does not stand where it says");
  // An entry that the log took in before the record is part of what the record says.
  for (const entry of entries) {
    const proof = parseTlogProof(textOf(files.get(proofPath(entry.seq))) ?? "");
    if (proof !== null && proof.index < verdict.index && BigInt(entry.seq) > seq)
      return fail(`entry ${entry.seq} is missing from the recorded chain`);
    if (proof !== null && proof.index > verdict.index && BigInt(entry.seq) <= seq)
      return fail(`entry ${entry.seq} was recorded before it was in the log`);
  }
  return pass(`${leaf.seq} entries in the chain at ${record.at}`);
};

const freshMs = 30 * minuteMs; // twice the time between two records: one may have been missed

/** Says so when the record of heads was old already when the pack was made; null while it was not, or there is none. */
export const staleHeads = (files: Files, createdAt: string): string | null => {
  const at = objectOf(parseCanonical(textOf(files.get("audit/heads-record.json"))))?.at;
  if (!isIso(at) || !isIso(createdAt) || Date.parse(createdAt) - Date.parse(at) <= freshMs) return null;
  return `The audit log's record of how far this chain had come is of ${at}, more than 30 minutes before the pack was made: of entries left out since then it knows nothing.`;
};
