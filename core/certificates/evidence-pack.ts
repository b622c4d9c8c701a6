// The evidence pack: the bytes that were hashed or signed for one certificate, except those that are deliberately omitted. Each part is in
// a separate file, so that common tools can check it without the service (docs/reference/evidence-pack.md). The same input, which includes
// the creation time, always results in the same bytes.
import { serializeAuditEntry } from "../audit/chain.ts";
import { toBase64, toBase64Url, fromBase64, fromBase64Url, concatBytes, toHex, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";
import { hmacSha256, sha256, sha256Hex } from "../hash.ts";
import { keyKinds, signNote, createVerifierKey, formatVkey, type NoteSigner } from "../ledger/note.ts";
import { formatReceiptProof, formatReceipt } from "../ledger/receipt.ts";
import { formatTlogProof } from "../ledger/tlog-proof.ts";
import { toIso } from "../time.ts";
import { renderCertificatePage, renderVerifyPage } from "./evidence-html.ts";
import { buildManifestNoteText, packSchema } from "./evidence-manifest.ts";
import { parseVerifierRelease, buildReadme } from "./evidence-readme.ts";
import { createZip } from "./evidence-zip.ts";
import {
  listDisclosedFields,
  type EvidenceParts,
  type PackedEntityWithdrawal,
  type PackedAudit,
  type PackedStatement,
  type PackIssuer,
} from "./evidence-parts.ts";
import { canonicalPreimageFromPublished } from "./published-certificate.ts";
import { deriveFieldSalt, computeSubjectCommitments } from "./subject.ts";

/**
 * The maximum size of a pack, in bytes. Verifiers accept twice this size. Packs are usually much smaller: the two policies are at most 1
 * MiB each, and an audit entry with its proof is about 2 KiB.
 */
const maxPackBytes = 10 * 1_024 * 1_024;

const toJsonBytes = (value: Json): Uint8Array => encodeUtf8(toCanonicalJson(value));

/** Lists everything that was deliberately omitted, so that readers do not mistake an omission for a defect. */
const listRedactions = (parts: EvidenceParts): string[] => {
  const shown = new Set(listDisclosedFields(parts).map(([key]) => key));
  const hidden = [...(parts.opened.subject?.fields.keys() ?? [])].filter((key) => !shown.has(key)).map((key) => `subject.${key}`);
  return [...hidden, ...(parts.isRedacted ? ["evidence", "views.ip", "views.user_agent"] : [])].sort();
};

const ipHashBytes = 16;

/**
 * Hashes a visitor's IP address, so that visitors can be distinguished but not identified. The certificate's root salt is the key of the
 * hash. Without a key, anyone could find the address by hashing all IPv4 addresses, which takes seconds.
 */
const hashViewIp = (parts: EvidenceParts, ip: string): string | null =>
  parts.opened.subject === null
    ? null
    : toBase64Url(hmacSha256(parts.opened.subject.rootSalt, `svc-view-ip-v1\n${ip}`).subarray(0, ipHashBytes));

const buildViewTrail = (parts: EvidenceParts): Json =>
  parts.views.map((view) => ({
    at: toIso(view.at),
    os: view.os,
    bot: view.bot,
    ...(parts.isRedacted ? { ip_hash: hashViewIp(parts, view.ip) } : { ip: view.ip, user_agent: view.userAgent }),
  }));

const buildPolicyFiles = (parts: EvidenceParts): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [];
  const index = parts.opened.certificate.policies.map((policy) => {
    const text = parts.policyTexts.get(policy.contentHash) ?? null;
    const path = text === null ? null : `policies/${policy.kind}-${policy.contentHash}.txt`;
    if (path !== null && text !== null) files.push([path, encodeUtf8(text)]);
    return {
      captured_at: toIso(policy.capturedAt),
      content_hash: policy.contentHash,
      id: policy.id,
      kind: policy.kind,
      path,
      source_url: policy.sourceUrl,
    };
  });
  return [...files, ["policies/index.json", toJsonBytes(index)]];
};

const buildAnchorFiles = (folder: string, { statement, receipt, attested }: PackedStatement): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [[`${folder}/statement.json`, encodeUtf8(statement)]];
  if (receipt === null) return files;
  const proof = formatReceiptProof(receipt);
  if (proof === null) throw new TypeError("evidence pack: the ledger receipt is invalid");
  files.push([`${folder}/receipt.json`, encodeUtf8(formatReceipt(receipt))]);
  files.push([`${folder}/entry.tlog-proof`, encodeUtf8(proof)]);
  if (receipt.leaf_body !== undefined) files.push([`${folder}/rekor.json`, fromBase64(receipt.leaf_body) ?? new Uint8Array(0)]);
  if (attested === null) return files;
  files.push([`${folder}/checkpoint.txt`, encodeUtf8(attested.note)]);
  const hashes = attested.inclusionProof.map((hash) => fromBase64(hash) ?? new Uint8Array(0));
  const checkpoint = attested.note + attested.cosignatures.join("");
  files.push([`${folder}/attested.tlog-proof`, encodeUtf8(formatTlogProof({ index: BigInt(receipt.leaf_index), hashes, checkpoint }))]);
  if (attested.tsr !== null) files.push([`${folder}/checkpoint.tsr`, attested.tsr]);
  return files;
};

/** Builds the files for a withdrawal of consent for individual recipients: the signed receipt and its ledger proof. */
const buildEntityWithdrawalFiles = ({ number, receipt, signature, anchor }: PackedEntityWithdrawal): [string, Uint8Array][] => [
  [`withdrawals/${number}/receipt.json`, encodeUtf8(receipt)],
  [`withdrawals/${number}/signature.json`, toJsonBytes({ ...signature })],
  ...(anchor === null ? [] : buildAnchorFiles(`anchors/withdrawn-${number}`, anchor)),
];

const buildAuditFiles = (audit: PackedAudit): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [
    ["audit/entries.jsonl", encodeUtf8(audit.entries.map((entry) => `${serializeAuditEntry(entry)}\n`).join(""))],
    [
      "audit/payloads.json",
      toJsonBytes(Object.fromEntries([...audit.payloads].map(([seq, { salt, payload }]) => [seq, { payload, salt }]))),
    ],
  ];
  for (const { seq } of audit.entries) {
    const proof = audit.proofs.get(seq);
    if (proof === undefined) throw new TypeError("evidence pack: an audit entry has no proof");
    files.push([`audit/${seq}.tlog-proof`, encodeUtf8(proof)]);
  }
  if (audit.heads === null) return files;
  const { record, record_tlog_proof, leaf, path, size } = audit.heads;
  files.push(["audit/heads.json", toJsonBytes({ chain_index: String(audit.chainIndex), leaf, path, size })]);
  files.push(["audit/heads-record.json", encodeUtf8(record)]);
  files.push(["audit/heads-record.tlog-proof", encodeUtf8(record_tlog_proof)]);
  return files;
};

const spkiPrefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]; // RFC 8410: SubjectPublicKeyInfo of Ed25519

const toPublicKeyPem = (x: string): string => {
  const der = concatBytes(new Uint8Array(spkiPrefix), fromBase64Url(x) ?? new Uint8Array(0));
  // The base64 of a key has 60 characters, which fit on one line.
  return `-----BEGIN PUBLIC KEY-----\n${toBase64(der)}\n-----END PUBLIC KEY-----\n`;
};

const filterObjects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];

const getIssuerJwks = ({ issuer_keys: jwks }: JsonObject): readonly JsonObject[] => (isJsonObject(jwks) ? filterObjects(jwks.keys) : []);

/** Builds the files of the trust folder. trust.json contains all keys. A key also gets a file if its ID is safe in a file name. */
const buildTrustFiles = (trust: JsonObject): [string, Uint8Array][] => [
  ["trust/trust.json", toJsonBytes(trust)],
  ...getIssuerJwks(trust).flatMap(({ kid, x }): [string, Uint8Array][] =>
    typeof kid === "string" && typeof x === "string" && /^[A-Za-z0-9_-]{43}$/.test(kid)
      ? [[`trust/issuer-${kid}.pem`, encodeUtf8(toPublicKeyPem(x))]]
      : [],
  ),
  ...filterObjects(trust.tsa).flatMap(({ spki_sha256: spki, pem }): [string, Uint8Array][] =>
    typeof spki === "string" && typeof pem === "string" && /^[0-9a-f]{64}$/.test(spki)
      ? [[`trust/tsa-${spki.slice(0, 16)}.pem`, encodeUtf8(pem)]]
      : [],
  ),
];

const toNoteSigner = ({ keyName, x, sign }: PackIssuer): NoteSigner => ({
  key: createVerifierKey(keyName, keyKinds.log, fromBase64Url(x) ?? new Uint8Array(0)),
  sign: async (message) =>
    fromBase64(await sign(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message))) ?? new Uint8Array(0),
});

const buildCertificateFile = ({ publicView, isRedacted, opened, identity }: EvidenceParts): Uint8Array =>
  toJsonBytes({
    ...publicView,
    evidence: isRedacted ? null : opened.evidence,
    evidence_hash: opened.evidenceHash,
    identity: { legal_name: identity.legalName, mailing_address: identity.mailingAddress, contact: identity.contact },
  });

const buildSubjectFiles = (parts: EvidenceParts): [string, Uint8Array][] => {
  const { subject } = parts.opened;
  if (subject === null) return []; // an erasure deletes the salts, so the commitments can no longer be checked
  const disclosures = listDisclosedFields(parts).map(([key, value]) => [deriveFieldSalt(subject.rootSalt, key), key, value]);
  return [
    ["subject/commitments.json", toJsonBytes(computeSubjectCommitments(subject.fields, subject.rootSalt))],
    ["subject/disclosures.json", toJsonBytes(disclosures.sort(([, a], [, b]) => ((a as string) < (b as string) ? -1 : 1)))],
  ];
};

/** Builds every file in the pack, by path. Throws if a ledger receipt is invalid, an audit entry has no proof, or the pack is too large. */
export const buildPackFiles = async (parts: EvidenceParts): Promise<ReadonlyMap<string, Uint8Array>> => {
  const { certificate } = parts.opened;
  const {
    id: certId,
    signature: { kid },
  } = certificate;
  const issuer = toNoteSigner(parts.issuer);
  const contents: [string, Uint8Array][] = [
    ["certificate.json", buildCertificateFile(parts)],
    ["certificate.html", encodeUtf8(renderCertificatePage(parts, listDisclosedFields(parts)))],
    ["fingerprint/preimage.json", encodeUtf8(canonicalPreimageFromPublished(certificate))],
    ["fingerprint/disclosure.txt", encodeUtf8(certificate.disclosureText)],
    ...buildSubjectFiles(parts),
    ...buildPolicyFiles(parts),
    ...parts.anchors.flatMap((anchor) => buildAnchorFiles(`anchors/${anchor.event}`, anchor)),
    ...parts.entityWithdrawals.flatMap(buildEntityWithdrawalFiles),
    ...(parts.audit === null ? [] : buildAuditFiles(parts.audit)),
    ["views.json", toJsonBytes(buildViewTrail(parts))],
    ...buildTrustFiles(parts.trust),
    [
      "README.txt",
      encodeUtf8(buildReadme({ certId, kid, issuerVkey: formatVkey(issuer.key), verifier: parseVerifierRelease(parts.trust) })),
    ],
  ];
  const files = new Map(contents.sort(([a], [b]) => (a < b ? -1 : 1)));
  if ([...files.values()].reduce((sum, bytes) => sum + bytes.length, 0) > maxPackBytes) throw new RangeError("evidence pack: too large");

  const listed = [...files].map(([path, bytes]) => ({ path, size: bytes.length, sha256: toHex(sha256(bytes)) }));
  const manifest = toJsonBytes({
    schema: packSchema,
    cert_id: certId,
    created_at: toIso(parts.createdAt),
    redacted: listRedactions(parts),
    files: listed,
  });
  files.set("manifest.json", manifest);
  const sums = [...listed, { path: "manifest.json", sha256: sha256Hex(manifest) }].sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifestSha256 = encodeUtf8(sums.map(({ path, sha256: sum }) => `${sum}  ${path}\n`).join(""));
  files.set("MANIFEST.sha256", manifestSha256);
  files.set("MANIFEST.note", encodeUtf8(await signNote(buildManifestNoteText(certId, manifestSha256), [issuer])));
  return files;
};

/** Builds the response of GET /v1/certs/{id}/evidence-pack?format=zip. */
export const buildEvidenceZip = async (parts: EvidenceParts): Promise<Uint8Array<ArrayBuffer>> => createZip(await buildPackFiles(parts));

/**
 * Builds the pack as one HTML page that checks itself when opened from disk. `verifierSource` is the output of verifier/build.ts for
 * verifier/page.ts.
 */
export const buildEvidenceHtml = async (parts: EvidenceParts, verifierSource: string): Promise<string> =>
  renderVerifyPage(parts, listDisclosedFields(parts), toBase64(await buildEvidenceZip(parts)), verifierSource);
