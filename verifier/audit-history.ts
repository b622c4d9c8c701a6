// Compares the audit entries of a pack with its certificate. The audit log cannot be rewritten, but the issuer can rewrite and sign the
// certificate. The details of an entry are in its payload; `audit.chain` has checked the payload against the hash in the entry.
import type { AuditEntry } from "../core/audit/chain.ts";
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import { groupBy } from "./group-by.ts";
import { isIsoInstant, asObject, asStrings, type JsonObject } from "./json.ts";

export interface AuditHistory {
  readonly entries: readonly AuditEntry[];
  /** The payloads in the pack by `seq`. */
  readonly payloads: ReadonlyMap<string, JsonObject>;
  readonly certificate: JsonObject;
}

/** Parses audit/payloads.json. Malformed payloads count as absent; `audit.chain` reports them. */
export const parsePayloads = (parsed: unknown): ReadonlyMap<string, JsonObject> =>
  new Map(
    Object.entries(asObject(parsed) ?? {}).flatMap(([seq, item]): [string, JsonObject][] => {
      const payload = asObject(asObject(item)?.payload);
      return payload === null ? [] : [[seq, payload]];
    }),
  );

const filterEntries = ({ entries }: AuditHistory, type: string): readonly AuditEntry[] => entries.filter((entry) => entry.type === type);

const isSubjectErased = (history: AuditHistory): boolean =>
  isIsoInstant(history.certificate.subject_erased_at) && filterEntries(history, "certificate.subject_erased").length > 0;

/** A payload can be missing because the person's details were erased; otherwise the pack is incomplete. */
const reportMissingPayload = (history: AuditHistory, event: string): Finding =>
  isSubjectErased(history)
    ? skipped(`the person's details were erased at ${history.certificate.subject_erased_at}, together with the payload of ${event}`)
    : incomplete(`the audit payload of ${event} is not in the pack`);

/** Checks the evidence hash and the environment against the payload of the issuance. */
export const checkIssuance = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const [entry] = filterEntries(history, "certificate.issued");
  if (entry === undefined) return skipped("not reached");
  const payload = payloads.get(entry.seq);
  if (payload === undefined) {
    // Evidence in the pack needs the payload that binds it, even after an erasure.
    const hasEvidence = asObject(certificate.evidence) !== null;
    return hasEvidence ? incomplete("the audit payload of the issuance is not in the pack") : reportMissingPayload(history, "the issuance");
  }
  if (payload.evidence_hash !== certificate.evidence_hash) return fail("the issuance committed to different evidence");
  if (payload.environment !== certificate.environment) return fail("the issuance was in a different environment");
  return pass(`entry ${entry.seq}`);
};

/** Payloads contain ISO times; older ones contain milliseconds. */
const parseInstant = (value: unknown): number | null =>
  typeof value === "number" ? value : isIsoInstant(value) ? Date.parse(value) : null;

const findWithdrawalFault = (certificate: JsonObject, withdrawal: JsonObject, entry: AuditEntry): string | null => {
  const { withdrawn_at: withdrawnAt, received_at: receivedAt = null, cease_by: ceaseBy } = withdrawal;
  if (entry.at !== withdrawnAt) return `entry ${entry.seq} is a withdrawal at a different time`;
  if (certificate.cease_by !== ceaseBy) return "the certificate names two different deadlines";
  if (receivedAt !== null && !(isIsoInstant(receivedAt) && receivedAt <= entry.at))
    return "the business received the request after the withdrawal";
  const deadline = getCeaseDeadline(Date.parse(isIsoInstant(receivedAt) ? receivedAt : entry.at));
  return parseInstant(ceaseBy) === deadline ? null : "the deadline is not the end of the tenth business day";
};

const checkWithdrawal = (history: AuditHistory, withdrawal: JsonObject): Finding => {
  const { certificate, payloads } = history;
  const [entry, second] = filterEntries(history, "certificate.revoked");
  if (entry === undefined) return incomplete("the audit entry of the withdrawal is not in the pack");
  if (second !== undefined) return fail(`entry ${second.seq} is a second withdrawal`);
  const fault = findWithdrawalFault(certificate, withdrawal, entry);
  if (fault !== null) return fail(fault);
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return reportMissingPayload(history, "the withdrawal");
  if (payload.fingerprint !== certificate.fingerprint) return fail(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
  const mismatch = ["method", "scope"].find((name) => payload[name] !== withdrawal[name]);
  if (mismatch !== undefined) return fail(`entry ${entry.seq} is a withdrawal with a different ${mismatch}`);
  if (parseInstant(payload.cease_by) !== parseInstant(withdrawal.cease_by)) return fail(`entry ${entry.seq} names a different deadline`);
  return pass(`withdrawn ${entry.at}, entry ${entry.seq}`);
};

/** The withdrawals from single recipients that the certificate lists. `names` is the canonical JSON of the sorted recipients. */
const listEntityWithdrawals = ({
  certificate,
}: AuditHistory): readonly (readonly [at: string, names: string, ceaseBy: unknown, method: unknown])[] => {
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const acts = groupBy(listed, (entity) => String(entity?.receipt_url));
  return [...acts.values()].map((act) => [
    String(act[0]?.withdrawn_at),
    toCanonicalJson(act.map((entity) => String(entity?.entity)).sort()),
    act[0]?.cease_by,
    act[0]?.method,
  ]);
};

/** Each withdrawal from single recipients must match one entry in time, names, deadline and method, and vice versa. */
const checkWithdrawnEntities = (history: AuditHistory): Finding | null => {
  const acts = [...listEntityWithdrawals(history)];
  for (const entry of filterEntries(history, "certificate.entities_withdrawn")) {
    const payload = history.payloads.get(entry.seq);
    if (payload === undefined) return reportMissingPayload(history, "a withdrawal from single recipients");
    if (payload.fingerprint !== history.certificate.fingerprint)
      return fail(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
    const names = toCanonicalJson(payload.entities ?? null);
    const at = acts.findIndex(
      ([withdrawnAt, actNames, ceaseBy, method]) =>
        withdrawnAt === entry.at &&
        actNames === names &&
        parseInstant(ceaseBy) === parseInstant(payload.cease_by) &&
        (method === undefined || method === payload.method), // absent from older certificates
    );
    if (at === -1) return fail(`entry ${entry.seq} withdrew from recipients, but the certificate does not show it`);
    acts.splice(at, 1);
  }
  return acts.length === 0 ? null : incomplete("the audit entry of a withdrawal from single recipients is not in the pack");
};

/** Each acknowledged recipient on the certificate must be named by an entry with the same time, and vice versa. */
const checkCeasedEntities = (history: AuditHistory): Finding | null => {
  const { certificate, payloads } = history;
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const unmatched = new Map(
    listed.flatMap((entity) =>
      isIsoInstant(entity?.cease_acknowledged_at) ? [[String(entity.entity), entity.cease_acknowledged_at]] : [],
    ),
  );
  for (const entry of filterEntries(history, "business.entities_ceased")) {
    const payload = payloads.get(entry.seq);
    if (payload === undefined) return reportMissingPayload(history, "the acknowledgment of single recipients");
    if (payload.fingerprint !== certificate.fingerprint) return fail(`entry ${entry.seq} is an acknowledgment of a different fingerprint`);
    for (const name of asStrings(payload.entities) ?? []) {
      if (unmatched.get(name) !== entry.at)
        return fail(`entry ${entry.seq} acknowledged a recipient, but the certificate does not show it`);
      unmatched.delete(name);
    }
  }
  return unmatched.size === 0 ? null : incomplete("the audit entry of a recipient's acknowledgment is not in the pack");
};

/** The entry and the time on the certificate must both be present and equal, or both be absent. */
const checkDatedEvent = (history: AuditHistory, type: string, claimed: unknown, description: string): Finding | null => {
  const entries = filterEntries(history, type);
  const [entry] = entries;
  if (entry === undefined) return isIsoInstant(claimed) ? incomplete(`the audit entry of ${description} is not in the pack`) : null;
  const isMatch = entries.length === 1 && entry.at === claimed;
  return isMatch ? null : fail(`entry ${entry.seq} is ${description}, but the certificate does not show it`);
};

const checkWithdrawalState = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const withdrawal = asObject(certificate.withdrawal);
  if (certificate.status === "revoked" && withdrawal !== null) return checkWithdrawal(history, withdrawal);
  const [entry] = filterEntries(history, "certificate.revoked");
  return entry === undefined
    ? pass("no entry withdraws the certificate")
    : fail(`entry ${entry.seq} withdrew the certificate, which claims to be active`);
};

/** Checks withdrawal, acknowledgments and erasure against the entries. Returns the worst finding. */
export const checkStatus = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const acknowledgedAt = asObject(certificate.withdrawal)?.cease_acknowledged_at;
  const findings = [
    checkWithdrawalState(history),
    checkWithdrawnEntities(history),
    checkCeasedEntities(history),
    checkDatedEvent(history, "business.ceased", acknowledgedAt, "the acknowledgment"),
    checkDatedEvent(history, "certificate.subject_erased", certificate.subject_erased_at, "the erasure"),
  ].filter((finding) => finding !== null);
  const problems = (["fail", "incomplete"] as const).map((outcome) => findings.find((finding) => finding.outcome === outcome));
  return problems.find((finding) => finding !== undefined) ?? (findings[0] as Finding);
};

const policyKinds = ["privacy", "terms"] as const;

/** Checks the policies against the entry that linked them. */
export const checkPolicyLinks = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const policies = Array.isArray(certificate.policies) ? certificate.policies.map(asObject) : [];
  const listed = policies.map((policy) => `${policy?.kind}-${policy?.content_hash}`).sort();
  const entry = filterEntries(history, "policy.linked").at(-1);
  if (entry === undefined) {
    return listed.length === 0 ? skipped("no policies were linked") : incomplete("the audit entry of the policies is not in the pack");
  }
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return reportMissingPayload(history, "the policies");
  const linked = policyKinds.filter((kind) => payload[kind] !== null).map((kind) => `${kind}-${payload[kind]}`);
  return linked.sort().join("\n") === listed.join("\n") ? pass(`entry ${entry.seq}`) : fail(`entry ${entry.seq} linked different policies`);
};
