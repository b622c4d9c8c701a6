// The checks that need no more than the public answer of the service (GET /v1/certs/{id}/verify): what a page can do in the
// visitor's browser.
import { base64Of, bytesOfBase64, utf8 } from "../core/bytes.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import { sha256, sha256Hex } from "../core/hash.ts";
import { parseCheckpoint, withoutCosignatures } from "../core/ledger/checkpoint.ts";
import { leafHash } from "../core/ledger/merkle.ts";
import type { NoteCrypto } from "../core/ledger/note.ts";
import { receiptText, type Receipt } from "../core/ledger/receipt.ts";
import { tlogProofText } from "../core/ledger/tlog-proof.ts";
import type { AnchorExhibit } from "./anchor.ts";
import { anchorCheckIds, reportOf, revocationCheckIds, type CheckId, type Findings, type Report } from "./checks.ts";
import { canVerify, unableNote, webCrypto } from "./crypto.ts";
import { isObject, objectOf, stringOf, stringsOf, type JsonObject } from "./json.ts";
import { checkArrays, checkCanonical, checkCertificate, checkDisclosure, checkFingerprint, preimageOf } from "./record.ts";
import { anchorContext, checkAnchors, type Demands } from "./verify-pack.ts";

const publicChecks: readonly CheckId[] = [
  "fp.canonical",
  "fp.hash",
  "fp.arrays",
  "disclosure.hash",
  "cert.consistency",
  ...anchorCheckIds,
  ...revocationCheckIds,
  "time.order",
];

const nothing: AnchorExhibit = {
  statement: null,
  published: null,
  receipt: null,
  entryProof: null,
  rekorBody: null,
  attestedProof: null,
  attestedNote: null,
  timestampReply: null,
};

/** The proof as text; null when its parts are not spelt as parts of one. */
const proofText = (index: unknown, hashes: unknown, checkpoint: unknown): string | null => {
  const proof = stringsOf(hashes)?.map(bytesOfBase64);
  if (typeof index !== "string" || !/^[0-9]{1,19}$/.test(index) || typeof checkpoint !== "string" || !proof?.every((hash) => hash !== null))
    return null;
  return tlogProofText({ index: BigInt(index), hashes: proof, checkpoint });
};

/** The receipt that a published anchor was made of. Only ledgers that hold the statement itself publish enough for that. */
const receiptOf = (anchor: JsonObject, statement: string): string | null => {
  const note = stringOf(anchor.signed_root) ?? "";
  const receipt = {
    v: 1,
    ledger: anchor.ledger,
    kind: stringOf(anchor.ledger)?.split(":")[0],
    tx_ref: anchor.tx_ref,
    entry_hash: anchor.entry_hash,
    leaf_index: anchor.leaf_index,
    leaf_hash: base64Of(leafHash(sha256, utf8(statement))),
    inclusion_proof: anchor.inclusion_proof,
    signed_root: note,
    tree_size: anchor.tree_size,
    root_hash: base64Of(parseCheckpoint(note)?.root ?? new Uint8Array(0)),
    submitted_at: anchor.anchored_at,
    verified_at: anchor.anchored_at,
  };
  return Object.values(receipt).every((value) => value !== undefined) ? receiptText(receipt as unknown as Receipt) : "";
};

export const exhibitOf = (anchor: JsonObject | null): AnchorExhibit => {
  const statement = stringOf(anchor?.statement);
  if (anchor === null || statement === null) return { ...nothing, published: anchor };
  if (anchor.status !== "anchored") return { ...nothing, statement, published: anchor };
  const attested = objectOf(anchor.attested);
  const attestations = Array.isArray(attested?.attestations) ? attested.attestations : [];
  const token = attestations.find((one) => isObject(one) && one.kind === "rfc3161");
  return {
    statement,
    published: anchor,
    receipt: receiptOf(anchor, statement),
    entryProof: stringOf(anchor.tlog_proof) ?? proofText(anchor.leaf_index, anchor.inclusion_proof, anchor.signed_root),
    rekorBody: null,
    attestedProof: attested === null ? null : proofText(anchor.leaf_index, attested.inclusion_proof, attested.signed_root),
    attestedNote: attested === null ? null : withoutCosignatures(stringOf(attested.signed_root) ?? ""),
    timestampReply: isObject(token) ? bytesOfBase64(stringOf(token.token) ?? "") : null,
  };
};

/** Checks what the service publishes about a certificate, as parsed JSON. */
export const verifyPublic = async (view: JsonObject, demands: Demands, crypto: NoteCrypto = webCrypto): Promise<Report> => {
  const findings: Findings = new Map();
  const isAble = await canVerify(crypto);
  const trust = isAble ? demands.trust : null;
  const canonical = stringOf(view.canonical);
  const preimage = preimageOf(canonical);
  findings.set("fp.canonical", checkCanonical(preimage));
  findings.set("fp.hash", checkFingerprint(canonical, view.fingerprint, demands.expectedFingerprint));
  if (preimage !== null && canonical !== null) {
    findings.set("fp.arrays", checkArrays(preimage));
    findings.set(
      "disclosure.hash",
      checkDisclosure(stringOf(view.disclosure_text) ?? canonicalJson(view.disclosure_text ?? null), preimage),
    );
    findings.set("cert.consistency", await checkCertificate(crypto, view, preimage, canonical, trust));
    await checkAnchors(
      findings,
      view,
      preimage,
      sha256Hex(canonical),
      (_, published) => exhibitOf(published),
      anchorContext(crypto, trust, demands),
    );
  }
  return reportOf(
    findings,
    {
      cert_id: preimage?.cert_id ?? null,
      fingerprint: canonical === null ? null : sha256Hex(canonical),
      trust: demands.trust === null ? "none" : "given",
      notes: isAble ? [] : [unableNote],
    },
    publicChecks,
  );
};
