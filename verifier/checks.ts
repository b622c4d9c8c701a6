// The checks of an evidence pack: their ids in the order in which they are made, what each asks in plain words, and how a
// list of findings becomes a verdict.

/** What a check asks; the answer "passed" makes it a true sentence. */
const checkClaims = {
  "zip.structure": "The archive holds the files of a pack and not one byte more.",
  "manifest.files": "Every file is the one that the manifest lists.",
  "manifest.signature": "The issuer signed the manifest.",
  "trust.copies": "The keys in the folder trust are those that its trust document names.",
  "fp.canonical": "The record is written in its one canonical form.",
  "fp.hash": "The fingerprint is the SHA-256 of the record.",
  "fp.arrays": "The lists of recipients are in order and do not contradict each other.",
  "disclosure.hash": "The disclosure is the one that the record names.",
  "subject.commitments": "The commitments to the person's details are those that the record names.",
  "subject.disclosures": "The details that are disclosed are those that were committed to.",
  "policies.hash": "The policies are those whose hashes were kept.",
  "cert.consistency": "The certificate says what the record says, and its issuer signed the record.",
  "anchor.statement": "The statement for the ledger is about this certificate.",
  "anchor.entry_hash": "The ledger's receipt is for this statement.",
  "anchor.note": "The ledger signed the checkpoint in its receipt.",
  "anchor.inclusion": "The ledger holds the statement.",
  "anchor.rekor_body": "The ledger's own entry is about this statement.",
  "attest.inclusion": "The checkpoint that others attest holds the statement too.",
  "attest.cosign": "Witnesses saw no other history of the ledger.",
  "attest.tsa": "A time-stamp authority saw that checkpoint.",
  "revoke.statement": "The statement of the withdrawal is about this certificate.",
  "revoke.entry_hash": "The ledger's receipt is for the statement of the withdrawal.",
  "revoke.note": "The ledger signed the checkpoint in the receipt of the withdrawal.",
  "revoke.inclusion": "The ledger holds the statement of the withdrawal.",
  "revoke.rekor_body": "The ledger's own entry is about the withdrawal.",
  "revoke.attest.inclusion": "The checkpoint that others attest holds the withdrawal too.",
  "revoke.attest.cosign": "Witnesses saw no other history of the ledger that holds the withdrawal.",
  "revoke.attest.tsa": "A time-stamp authority saw the checkpoint with the withdrawal.",
  "entities.receipt": "The issuer signed a receipt of each withdrawal from single recipients, and it says what the certificate says.",
  "entities.anchor": "The ledger holds the statement of each withdrawal from single recipients.",
  "entities.attest": "The checkpoints that others attest hold these withdrawals too.",
  "audit.chain": "The audit entries are whole, linked and about this certificate.",
  "audit.inclusion": "The audit log holds every one of these entries.",
  "audit.heads": "The audit log itself says how far this chain had come.",
  "audit.issuance": "The evidence is the one that the audit log was given when the certificate was issued.",
  "audit.status": "Whether it is withdrawn, and how, is what the audit entries tell.",
  "audit.policies": "The policies are those that the audit log was given when they were linked.",
  "time.order": "The times follow each other.",
  "receipt.canonical": "The receipt is written in its one canonical form and says all that a receipt says.",
  "receipt.signature": "The issuer signed the receipt.",
  "receipt.deadline": "The deadline is the end of the tenth business day.",
};

export type CheckId = keyof typeof checkClaims;

const listCheckIds = (...prefixes: readonly string[]): readonly CheckId[] =>
  (Object.keys(checkClaims) as CheckId[]).filter((id) => prefixes.some((prefix) => id.startsWith(prefix)));
/** On the statement of the issuance. */
export const anchorCheckIds = listCheckIds("anchor.", "attest.");
/** The same on the statement of the withdrawal. */
export const revocationCheckIds = listCheckIds("revoke.");
/** Of the receipt of a withdrawal; the checks on its place in the ledger are those of a pack. */
export const receiptCheckIds = listCheckIds("receipt.");
/** Of a pack. */
export const checkIds = listCheckIds("").filter((id) => !receiptCheckIds.includes(id));

/**
 * `incomplete`: nothing is wrong, but what was asked for is not there (yet), or cannot be checked here. `skipped`: there is
 * nothing to check, or an earlier failure left nothing to check.
 */
export type CheckOutcome = "pass" | "fail" | "incomplete" | "skipped";

export interface Finding {
  readonly outcome: CheckOutcome;
  /** What was found, in one sentence or in the name of a fault. */
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

/** Whose keys were used: the reader's own, the copy that came with the exhibit, or none at all. */
export type TrustSource = "given" | "bundled" | "none";

export interface Report {
  readonly verdict: "valid" | "incomplete" | "invalid";
  /** The first check that failed. */
  readonly failed: CheckId | null;
  readonly cert_id: string | null;
  readonly fingerprint: string | null;
  readonly trust: TrustSource;
  readonly checks: readonly Check[];
  /** Why a verdict is `incomplete`, one sentence each. */
  readonly missing: readonly string[];
  /** What a careful reader wants to know and no check depends on. */
  readonly notes: readonly string[];
}

const untrustedReasons: Readonly<Record<Exclude<TrustSource, "given">, string>> = {
  bundled: "the keys came with what they are to prove; give the verifier the issuer's trust file, from the issuer itself",
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
