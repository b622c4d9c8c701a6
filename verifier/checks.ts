// The checks of an evidence pack: their IDs in order, their descriptions, and how findings become a verdict.

/** The claim that each check proves if it passes. */
const checkClaims = {
  "zip.structure": "The archive holds only the files of a pack and no other bytes.",
  "manifest.files": "Every file matches the manifest.",
  "manifest.signature": "The issuer signed the manifest.",
  "trust.copies": "The key files match the trust document in the pack.",
  "fp.canonical": "The record is in canonical form.",
  "fp.hash": "The fingerprint is the SHA-256 of the record.",
  "fp.arrays": "The lists of recipients are sorted and consistent.",
  "disclosure.hash": "The disclosure matches the hash in the record.",
  "subject.commitments": "The commitments to the person's details match the hash in the record.",
  "subject.disclosures": "The disclosed details match their commitments.",
  "policies.hash": "The policy texts match their hashes.",
  "cert.consistency": "The certificate matches the record, its page shows the same, and the issuer signed the record.",
  "anchor.statement": "The ledger statement is about this certificate.",
  "anchor.entry_hash": "The ledger's receipt is for this statement.",
  "anchor.note": "The ledger signed the checkpoint in its receipt.",
  "anchor.inclusion": "The ledger holds the statement.",
  "anchor.rekor_body": "The ledger's entry is about this statement.",
  "attest.inclusion": "The attested checkpoint includes the statement.",
  "attest.cosign": "Witnesses confirm that the ledger has a single history.",
  "attest.tsa": "A timestamp authority stamped that checkpoint.",
  "revoke.statement": "The statement of the withdrawal is about this certificate.",
  "revoke.entry_hash": "The ledger's receipt is for the statement of the withdrawal.",
  "revoke.note": "The ledger signed the checkpoint in the receipt of the withdrawal.",
  "revoke.inclusion": "The ledger holds the statement of the withdrawal.",
  "revoke.rekor_body": "The ledger's entry is about the withdrawal.",
  "revoke.attest.inclusion": "The attested checkpoint includes the withdrawal.",
  "revoke.attest.cosign": "Witnesses confirm that the ledger with the withdrawal has a single history.",
  "revoke.attest.tsa": "A timestamp authority stamped the checkpoint with the withdrawal.",
  "entities.receipt":
    "The issuer signed a receipt for each withdrawal for individual recipients, and each receipt matches the certificate.",
  "entities.anchor": "The ledger contains the statement for each withdrawal for individual recipients.",
  "entities.attest": "The attested checkpoints include these withdrawals.",
  "audit.chain": "The audit entries are well-formed, linked and about this certificate.",
  "audit.inclusion": "The audit log holds all these entries.",
  "audit.heads": "The audit log recorded the head of this chain.",
  "audit.issuance": "The evidence matches the audit entry of the issuance.",
  "audit.status": "The withdrawal status matches the audit entries.",
  "audit.policies": "The policies match the audit entry that linked them.",
  "time.order": "The times are in order.",
  "receipt.canonical": "The receipt is complete and in canonical form.",
  "receipt.signature": "The issuer signed the receipt.",
  "receipt.deadline": "The deadline is the end of the tenth business day.",
};

export type CheckId = keyof typeof checkClaims;

const listCheckIds = (...prefixes: readonly string[]): readonly CheckId[] =>
  (Object.keys(checkClaims) as CheckId[]).filter((id) => prefixes.some((prefix) => id.startsWith(prefix)));

/** The checks on the issuance statement. */
export const anchorCheckIds = listCheckIds("anchor.", "attest.");
/** The checks on the statement of a withdrawal. */
export const revocationCheckIds = listCheckIds("revoke.");
/** The checks on a withdrawal receipt, without its ledger statement. */
export const receiptCheckIds = listCheckIds("receipt.");
/** The checks on a pack. */
export const checkIds = listCheckIds("").filter((id) => !receiptCheckIds.includes(id));

/**
 * `incomplete`: no fault was found, but required evidence is missing or cannot be checked here. `skipped`: there is nothing to check, or an
 * earlier failure prevented the check.
 */
export type CheckOutcome = "pass" | "fail" | "incomplete" | "skipped";

export interface Finding {
  readonly outcome: CheckOutcome;
  /** A sentence, a value such as a hash, or the name of a fault. Can be empty if the check passed. */
  readonly detail: string;
}

export const pass = (detail = ""): Finding => ({ outcome: "pass", detail });
export const fail = (detail: string): Finding => ({ outcome: "fail", detail });
export const incomplete = (detail: string): Finding => ({ outcome: "incomplete", detail });
export const skipped = (detail: string): Finding => ({ outcome: "skipped", detail });

export type Findings = Map<CheckId, Finding>;

export interface Check extends Finding {
  readonly id: CheckId;
  readonly asks: string;
}

/** The source of the keys: the reader's own trust document, the copy in the pack, or none. */
export type TrustSource = "given" | "bundled" | "none";

export interface Report {
  readonly verdict: "valid" | "incomplete" | "invalid";
  /** The first check that failed. */
  readonly failed: CheckId | null;
  readonly cert_id: string | null;
  readonly fingerprint: string | null;
  readonly trust: TrustSource;
  readonly checks: readonly Check[];
  /** The reasons for the verdict `incomplete`. */
  readonly missing: readonly string[];
  /** Additional information that does not affect the verdict. */
  readonly notes: readonly string[];
}

const untrustedReasons: Readonly<Record<Exclude<TrustSource, "given">, string>> = {
  bundled: "the keys came with the pack; provide the issuer's trust file, obtained from the issuer",
  none: "there are no keys to check signatures with",
};

export const buildReport = (
  findings: Findings,
  about: Pick<Report, "cert_id" | "fingerprint" | "trust" | "notes">,
  ids: readonly CheckId[] = checkIds,
): Report => {
  const checks = ids.map((id): Check => ({ id, asks: checkClaims[id], ...(findings.get(id) ?? skipped("not reached")) }));
  const failed = checks.find(({ outcome }) => outcome === "fail")?.id ?? null;
  const missing = checks.filter(({ outcome }) => outcome === "incomplete").map(({ id, detail }) => `${id}: ${detail}`);
  if (about.trust !== "given") missing.unshift(`trust: ${untrustedReasons[about.trust]}`);
  const verdict = failed !== null ? "invalid" : missing.length > 0 ? "incomplete" : "valid";
  return { verdict, failed, checks, missing: failed === null ? missing : [], ...about };
};
