// The evidence pack: every byte that was hashed or signed for one certificate, each in a file of its own, so that common
// tools can check it without us (docs/evidence-pack.md). Everything comes in as data; the one thing done elsewhere is the
// issuer's signature under the manifest. Equal certificates give equal bytes, but for `created_at` in the manifest.
import { auditEntryText } from "../audit/chain.ts";
import { base64Of, base64UrlOf, bytesOfBase64, bytesOfBase64Url, concatBytes, hexOf, utf8 } from "../bytes.ts";
import { canonicalJson, isObject, type Json, type JsonObject } from "../canonical-json.ts";
import { hmacSha256, sha256, sha256Hex } from "../hash.ts";
import { keyKinds, signNote, verifierKey, vkeyOf, type NoteSigner } from "../ledger/note.ts";
import { receiptProofText, receiptText } from "../ledger/receipt.ts";
import { tlogProofText } from "../ledger/tlog-proof.ts";
import { isoOf } from "../time.ts";
import { certificatePageText, verifyPageText } from "./evidence-html.ts";
import { manifestNoteText, packSchema } from "./evidence-manifest.ts";
import { namedVerifier, readmeText } from "./evidence-readme.ts";
import { zipOf } from "./evidence-zip.ts";
import {
  disclosedFields,
  type EvidenceParts,
  type PackedAct,
  type PackedAudit,
  type PackedStatement,
  type PackIssuer,
} from "./evidence-parts.ts";
import { publishedCanonical } from "./published.ts";
import { fieldSalt, subjectCommitments } from "./subject.ts";

/** Twice this is what a reader takes. The two policies are 1 MiB each at most; an audit entry with its proof is about 2 KiB. */
const maxPackBytes = 10 * 1_024 * 1_024;

const json = (value: Json): Uint8Array => utf8(canonicalJson(value));

/** What was kept back, so that nobody takes a gap for a defect. */
const redactions = (parts: EvidenceParts): string[] => {
  const shown = new Set(disclosedFields(parts).map(([key]) => key));
  const hidden = [...(parts.opened.subject?.fields.keys() ?? [])].filter((key) => !shown.has(key)).map((key) => `subject.${key}`);
  return [...hidden, ...(parts.redacted ? ["evidence", "views.ip", "views.user_agent"] : [])].sort();
};

const ipHashBytes = 16;

/** Tells visitors apart without naming them. Keyed by the certificate's own secret: all IPv4 addresses are hashed in seconds. */
const ipHash = (parts: EvidenceParts, ip: string): string | null =>
  parts.opened.subject === null
    ? null
    : base64UrlOf(hmacSha256(parts.opened.subject.rootSalt, `svc-view-ip-v1\n${ip}`).subarray(0, ipHashBytes));

const viewTrail = (parts: EvidenceParts): Json =>
  parts.views.map((view) => ({
    at: isoOf(view.at),
    os: view.os,
    bot: view.bot,
    ...(parts.redacted ? { ip_hash: ipHash(parts, view.ip) } : { ip: view.ip, user_agent: view.userAgent }),
  }));

const policyFiles = (parts: EvidenceParts): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [];
  const index = parts.opened.certificate.policies.map((policy) => {
    const text = parts.policyTexts.get(policy.contentHash) ?? null;
    const path = text === null ? null : `policies/${policy.kind}-${policy.contentHash}.txt`;
    if (path !== null && text !== null) files.push([path, utf8(text)]);
    return {
      captured_at: isoOf(policy.capturedAt),
      content_hash: policy.contentHash,
      id: policy.id,
      kind: policy.kind,
      path,
      source_url: policy.sourceUrl,
    };
  });
  return [...files, ["policies/index.json", json(index)]];
};

const anchorFiles = (folder: string, { statement, receipt, attested }: PackedStatement): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [[`${folder}/statement.json`, utf8(statement)]];
  if (receipt === null) return files;
  const proof = receiptProofText(receipt);
  if (proof === null) throw new TypeError("evidence pack: a receipt that is none");
  files.push([`${folder}/receipt.json`, utf8(receiptText(receipt))]);
  files.push([`${folder}/entry.tlog-proof`, utf8(proof)]);
  if (receipt.leaf_body !== undefined) files.push([`${folder}/rekor.json`, bytesOfBase64(receipt.leaf_body) ?? new Uint8Array(0)]);
  if (attested === null) return files;
  files.push([`${folder}/checkpoint.txt`, utf8(attested.note)]);
  const hashes = attested.inclusionProof.map((hash) => bytesOfBase64(hash) ?? new Uint8Array(0));
  const checkpoint = attested.note + attested.cosignatures.join("");
  files.push([`${folder}/attested.tlog-proof`, utf8(tlogProofText({ index: BigInt(receipt.leaf_index), hashes, checkpoint }))]);
  if (attested.tsr !== null) files.push([`${folder}/checkpoint.tsr`, attested.tsr]);
  return files;
};

/** The signed receipt of a withdrawal from single recipients, and its place in the ledger. */
const actFiles = ({ number, receipt, signature, anchor }: PackedAct): [string, Uint8Array][] => [
  [`withdrawals/${number}/receipt.json`, utf8(receipt)],
  [`withdrawals/${number}/signature.json`, json({ ...signature })],
  ...(anchor === null ? [] : anchorFiles(`anchors/withdrawn-${number}`, anchor)),
];

const auditFiles = (audit: PackedAudit): [string, Uint8Array][] => {
  const files: [string, Uint8Array][] = [
    ["audit/entries.jsonl", utf8(audit.entries.map((entry) => `${auditEntryText(entry)}\n`).join(""))],
    ["audit/payloads.json", json(Object.fromEntries([...audit.payloads].map(([seq, { salt, payload }]) => [seq, { payload, salt }])))],
  ];
  for (const { seq } of audit.entries) {
    const proof = audit.proofs.get(seq);
    if (proof === undefined) throw new TypeError("evidence pack: an audit entry without its proof");
    files.push([`audit/${seq}.tlog-proof`, utf8(proof)]);
  }
  if (audit.heads === null) return files;
  const { record, record_tlog_proof, leaf, path, size } = audit.heads;
  files.push(["audit/heads.json", json({ chain_index: String(audit.chainIndex), leaf, path, size })]);
  files.push(["audit/heads-record.json", utf8(record)]);
  files.push(["audit/heads-record.tlog-proof", utf8(record_tlog_proof)]);
  return files;
};

const spkiPrefix = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]; // RFC 8410: SubjectPublicKeyInfo of Ed25519

const publicKeyPem = (x: string): string => {
  const der = concatBytes(new Uint8Array(spkiPrefix), bytesOfBase64Url(x) ?? new Uint8Array(0));
  return `-----BEGIN PUBLIC KEY-----\n${base64Of(der)}\n-----END PUBLIC KEY-----\n`; // 60 characters: one line
};

const objects = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter((one) => isObject(one)) : []);

const issuerJwks = ({ issuer_keys: jwks }: JsonObject): readonly JsonObject[] => (isObject(jwks) ? objects(jwks.keys) : []);

/** Names of files are made of what is safe in one; keys of another shape stay in trust.json only. */
const trustFiles = (trust: JsonObject): [string, Uint8Array][] => [
  ["trust/trust.json", json(trust)],
  ...issuerJwks(trust).flatMap(({ kid, x }): [string, Uint8Array][] =>
    typeof kid === "string" && typeof x === "string" && /^[A-Za-z0-9_-]{43}$/.test(kid)
      ? [[`trust/issuer-${kid}.pem`, utf8(publicKeyPem(x))]]
      : [],
  ),
  ...objects(trust.tsa).flatMap(({ spki_sha256: spki, pem }): [string, Uint8Array][] =>
    typeof spki === "string" && typeof pem === "string" && /^[0-9a-f]{64}$/.test(spki)
      ? [[`trust/tsa-${spki.slice(0, 16)}.pem`, utf8(pem)]]
      : [],
  ),
];

const noteSignerOf = ({ keyName, x, sign }: PackIssuer): NoteSigner => ({
  key: verifierKey(sha256, keyName, keyKinds.log, bytesOfBase64Url(x) ?? new Uint8Array(0)),
  sign: async (message) =>
    bytesOfBase64(await sign(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message))) ?? new Uint8Array(0),
});

const certificateFile = ({ verifyView, redacted, opened, identity }: EvidenceParts): Uint8Array =>
  json({
    ...verifyView,
    evidence: redacted ? null : opened.evidence,
    evidence_hash: opened.evidenceHash,
    identity: { legal_name: identity.legalName, mailing_address: identity.mailingAddress, contact: identity.contact },
  });

const subjectFiles = (parts: EvidenceParts): [string, Uint8Array][] => {
  const { subject } = parts.opened;
  if (subject === null) return []; // erased: nothing is left to open the commitment with
  const disclosures = disclosedFields(parts).map(([key, value]) => [fieldSalt(subject.rootSalt, key), key, value]);
  return [
    ["subject/commitments.json", json(subjectCommitments(subject.fields, subject.rootSalt))],
    ["subject/disclosures.json", json(disclosures.sort(([, a], [, b]) => ((a as string) < (b as string) ? -1 : 1)))],
  ];
};

/** Every file of the pack, by path. Throws for parts that contradict each other; that is always a fault of ours. */
export const packFiles = async (parts: EvidenceParts): Promise<ReadonlyMap<string, Uint8Array>> => {
  const { certificate } = parts.opened;
  const {
    id: certId,
    signature: { kid },
  } = certificate;
  const issuer = noteSignerOf(parts.issuer);
  const contents: [string, Uint8Array][] = [
    ["certificate.json", certificateFile(parts)],
    ["certificate.html", utf8(certificatePageText(parts, disclosedFields(parts)))],
    ["fingerprint/preimage.json", utf8(publishedCanonical(certificate))],
    ["fingerprint/disclosure.txt", utf8(certificate.disclosureText)],
    ...subjectFiles(parts),
    ...policyFiles(parts),
    ...parts.anchors.flatMap((anchor) => anchorFiles(`anchors/${anchor.event}`, anchor)),
    ...parts.acts.flatMap(actFiles),
    ...(parts.audit === null ? [] : auditFiles(parts.audit)),
    ["views.json", json(viewTrail(parts))],
    ...trustFiles(parts.trust),
    ["README.txt", utf8(readmeText({ certId, kid, issuerVkey: vkeyOf(issuer.key), verifier: namedVerifier(parts.trust) }))],
  ];
  const files = new Map(contents.sort(([a], [b]) => (a < b ? -1 : 1)));
  if ([...files.values()].reduce((sum, bytes) => sum + bytes.length, 0) > maxPackBytes) throw new RangeError("evidence pack: too large");

  const listed = [...files].map(([path, bytes]) => ({ path, size: bytes.length, sha256: hexOf(sha256(bytes)) }));
  const manifest = json({
    schema: packSchema,
    cert_id: certId,
    created_at: isoOf(parts.createdAt),
    redacted: redactions(parts),
    files: listed,
  });
  files.set("manifest.json", manifest);
  const sums = [...listed, { path: "manifest.json", sha256: sha256Hex(manifest) }].sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifestSha256 = utf8(sums.map(({ path, sha256: sum }) => `${sum}  ${path}\n`).join(""));
  files.set("MANIFEST.sha256", manifestSha256);
  files.set("MANIFEST.note", utf8(await signNote(manifestNoteText(certId, manifestSha256), [issuer])));
  return files;
};

/** GET /v1/certs/{id}/evidence-pack?format=zip: `application/zip`, name `evidence-<cert_id>.zip`. */
export const evidenceZip = async (parts: EvidenceParts): Promise<Uint8Array<ArrayBuffer>> => zipOf(await packFiles(parts));

/**
 * The same pack as one page that checks itself when opened from disk (`text/html`, name `evidence-<cert_id>.html`).
 * `verifierSource` is what verifier/build.ts makes of verifier/page.ts.
 */
export const evidenceHtml = async (parts: EvidenceParts, verifierSource: string): Promise<string> =>
  verifyPageText(parts, disclosedFields(parts), base64Of(await evidenceZip(parts)), verifierSource);
