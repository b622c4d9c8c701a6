// Compares the audit entries in a pack with its certificate. This is needed because the issuer can rewrite the certificate and sign it
// again, but cannot rewrite the audit log. Each entry must match a claim on the certificate, and each claim must match an entry.
// `audit.chain` checks the payloads against their entries. Payloads contain no personal data, so an erasure is no reason for a payload to
// be missing.
import type { AuditEntry } from "../core/audit/chain.ts";
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { toCanonicalJson, type Json, type JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import { boundDetailsSince } from "./format-changes.ts";
import { asObject, asStrings, findDifferingMembers } from "./json.ts";
import { groupEntitiesByWithdrawal, type ListedEntities } from "./withdrawn-entities.ts";

export interface AuditHistory {
  readonly entries: readonly AuditEntry[];
  /** The payloads in the pack by `seq`. */
  readonly payloads: ReadonlyMap<string, JsonObject>;
  readonly certificate: JsonObject;
}

/** Parses audit/payloads.json. Leaves out malformed payloads, because `audit.chain` reports them. */
export const parsePayloads = (parsed: unknown): ReadonlyMap<string, JsonObject> =>
  new Map(
    Object.entries(asObject(parsed) ?? {}).flatMap(([seq, item]): [string, JsonObject][] => {
      const payload = asObject(asObject(item)?.payload);
      return payload === null ? [] : [[seq, payload]];
    }),
  );

const filterEntries = ({ entries }: AuditHistory, type: string): readonly AuditEntry[] => entries.filter((entry) => entry.type === type);

const missingPayload = (event: string): Finding => incomplete(`the audit payload of ${event} is not in the pack`);

const missingEntry = (event: string): Finding => fail(`no audit entry in the pack is ${event} that the certificate shows`);

/** Returns the first finding with the worst outcome. The order is: failed, incomplete, any other. */
const selectWorst = (findings: readonly Finding[]): Finding =>
  findings.find(({ outcome }) => outcome === "fail") ??
  findings.find(({ outcome }) => outcome === "incomplete") ??
  (findings[0] as Finding);

/** In payloads, times are ISO text. In older payloads, they are milliseconds. */
const parseInstant = (value: unknown): number | null => (typeof value === "number" ? value : isIsoTime(value) ? Date.parse(value) : null);

/**
 * Compares a payload member that every entry since `boundDetailsSince` contains. Returns null in three cases: the values match, an older
 * entry lacks the member, or `expected` is undefined because the pack does not contain the expected value.
 */
const compareBoundDetail = (entry: AuditEntry, payload: JsonObject, name: string, expected: Json | undefined): Finding | null => {
  const logged = payload[name];
  if (logged === undefined)
    return entry.at < boundDetailsSince ? null : incomplete(`the audit payload of entry ${entry.seq} has no ${name}`);
  if (expected === undefined || toCanonicalJson(logged) === toCanonicalJson(expected)) return null;
  return fail(`entry ${entry.seq} logged a different ${name}`);
};

const isOtherFingerprint = (payload: JsonObject, certificate: JsonObject): boolean => payload.fingerprint !== certificate.fingerprint;

/**
 * The members that say how the submitted data was changed. A certificate contains only those that apply, and the payload must contain the
 * same ones.
 */
export const submissionNoteNames = ["fields_unrecognized", "fields_truncated", "text_replaced"] as const;

/** Checks the evidence hash, environment, submission notes, privacy signal and capture method against the issuance's payload. */
export const checkIssuance = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const [entry] = filterEntries(history, "certificate.issued");
  if (entry === undefined) return skipped("not reached");
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return missingPayload("the issuance");
  if (payload.evidence_hash !== certificate.evidence_hash) return fail("the issuance committed to different evidence");
  if (payload.environment !== certificate.environment) return fail("the issuance was in a different environment");
  const [note] = submissionNoteNames.filter(
    (name) => toCanonicalJson(payload[name] ?? null) !== toCanonicalJson(certificate[name] ?? null),
  );
  if (note !== undefined) return fail(`entry ${entry.seq} logged a different ${note}`);
  return selectWorst([
    compareBoundDetail(entry, payload, "gpc", asObject(certificate.signals)?.gpc ?? null) ?? pass(`entry ${entry.seq}`),
    compareBoundDetail(entry, payload, "captured_via", asObject(certificate.evidence)?.captured_via) ?? pass(`entry ${entry.seq}`),
  ]);
};

const findWithdrawalFault = (certificate: JsonObject, withdrawal: JsonObject, entry: AuditEntry): string | null => {
  const { withdrawn_at: withdrawnAt, received_at: receivedAt = null, cease_by: ceaseBy } = withdrawal;
  if (entry.at !== withdrawnAt) return `entry ${entry.seq} is a withdrawal at a different time`;
  if (certificate.cease_by !== ceaseBy) return "the certificate names two different deadlines";
  if (receivedAt !== null && !(isIsoTime(receivedAt) && receivedAt <= entry.at))
    return "the business received the request after the withdrawal";
  const deadline = getCeaseDeadline(Date.parse(isIsoTime(receivedAt) ? receivedAt : entry.at));
  return parseInstant(ceaseBy) === deadline ? null : "the deadline is not the end of the tenth business day";
};

const checkWithdrawal = (history: AuditHistory, withdrawal: JsonObject): Finding => {
  const { certificate, payloads } = history;
  const [entry, second] = filterEntries(history, "certificate.revoked");
  if (entry === undefined) return missingEntry("the withdrawal");
  if (second !== undefined) return fail(`entry ${second.seq} is a second withdrawal`);
  const fault = findWithdrawalFault(certificate, withdrawal, entry);
  if (fault !== null) return fail(fault);
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return missingPayload("the withdrawal");
  if (isOtherFingerprint(payload, certificate)) return fail(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
  const mismatch = ["method", "scope"].find((name) => payload[name] !== withdrawal[name]);
  if (mismatch !== undefined) return fail(`entry ${entry.seq} is a withdrawal with a different ${mismatch}`);
  if (parseInstant(payload.cease_by) !== parseInstant(withdrawal.cease_by)) return fail(`entry ${entry.seq} names a different deadline`);
  return (
    compareBoundDetail(entry, payload, "received_at", withdrawal.received_at ?? null) ?? pass(`withdrawn ${entry.at}, entry ${entry.seq}`)
  );
};

const checkWithdrawalState = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const withdrawal = asObject(certificate.withdrawal);
  if (certificate.status === "revoked" && withdrawal !== null) return checkWithdrawal(history, withdrawal);
  const [entry] = filterEntries(history, "certificate.revoked");
  if (entry !== undefined) return fail(`entry ${entry.seq} withdrew the certificate, which claims to be active`);
  const { cease_by: ceaseBy = null } = certificate;
  return ceaseBy === null ? pass("no entry withdraws the certificate") : fail("the certificate is active but names a deadline");
};

/** Compares one withdrawal of consent for individual recipients with its entry, recipient by recipient. Returns null if all match. */
const compareEntityWithdrawal = (history: AuditHistory, number: number, listed: ListedEntities, entry: AuditEntry): Finding | null => {
  const { certificate, payloads } = history;
  if (listed.some(({ withdrawn_at: at }) => at !== entry.at)) return fail(`entry ${entry.seq} is withdrawal ${number} at a different time`);
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return missingPayload("a withdrawal for individual recipients");
  if (isOtherFingerprint(payload, certificate)) return fail(`entry ${entry.seq} is the withdrawal of a different fingerprint`);
  const names = listed.map(({ entity }) => String(entity)).sort();
  if (toCanonicalJson(payload.entities ?? null) !== toCanonicalJson(names))
    return fail(`entry ${entry.seq} withdrew from other recipients than the certificate shows`);
  if (listed.some(({ cease_by: ceaseBy }) => parseInstant(ceaseBy) !== parseInstant(payload.cease_by)))
    return fail(`entry ${entry.seq} names a different deadline`);
  // If the method is missing, this check still passes. `entities.receipt` refuses it unless the entry was written before receipts existed.
  if (listed.some(({ method }) => method !== undefined && method !== payload.method))
    return fail(`entry ${entry.seq} is a withdrawal with a different method`);
  const [differing = null] = listed.flatMap(
    ({ received_at: receivedAt = null }) => compareBoundDetail(entry, payload, "received_at", receivedAt) ?? [],
  );
  return differing;
};

/** Compares the nth withdrawal of consent for individual recipients with the nth entry. There must be as many entries as withdrawals. */
const checkWithdrawnEntities = (history: AuditHistory): readonly Finding[] => {
  const acts = [...groupEntitiesByWithdrawal(history.certificate)].sort(([a], [b]) => a - b);
  const entries = filterEntries(history, "certificate.entities_withdrawn");
  const unshown = entries[acts.length];
  if (unshown !== undefined) return [fail(`entry ${unshown.seq} withdrew from recipients, but the certificate does not show it`)];
  if (acts.some(([number], at) => number !== at + 1)) return [fail("the withdrawals for individual recipients are not numbered from 1")];
  return acts.flatMap(([number, listed], at) => {
    const entry = entries[at];
    if (entry === undefined) return missingEntry("a withdrawal for individual recipients");
    return compareEntityWithdrawal(history, number, listed, entry) ?? [];
  });
};

/**
 * Compares the acknowledgments for recipients on the certificate with the audit entries. Each acknowledgment on the certificate must be in
 * an entry with the same time, and each recipient in an entry must be acknowledged on the certificate.
 */
const checkCeasedEntities = (history: AuditHistory): readonly Finding[] => {
  const { certificate, payloads } = history;
  const listed = [...groupEntitiesByWithdrawal(certificate).values()].flat();
  const deadlines = new Map(listed.map(({ entity, cease_by: ceaseBy }) => [String(entity), String(ceaseBy)]));
  const unmatched = new Map(
    listed.flatMap(({ entity, cease_acknowledged_at: at = null }) => (at === null ? [] : [[String(entity), at] as const])),
  );
  for (const entry of filterEntries(history, "business.entities_ceased")) {
    const payload = payloads.get(entry.seq);
    if (payload === undefined) return [missingPayload("the acknowledgment for individual recipients")];
    if (isOtherFingerprint(payload, certificate)) return [fail(`entry ${entry.seq} is an acknowledgment of a different fingerprint`)];
    const names = asStrings(payload.entities) ?? [];
    for (const name of names) {
      if (unmatched.get(name) !== entry.at)
        return [fail(`entry ${entry.seq} acknowledged a recipient, but the certificate does not show it`)];
      unmatched.delete(name);
    }
    const isOnTime = names.every((name) => entry.at <= (deadlines.get(name) ?? ""));
    if (payload.on_time !== undefined && payload.on_time !== isOnTime)
      return [fail(`entry ${entry.seq} was acknowledged under a different deadline`)];
  }
  return unmatched.size === 0 ? [] : [missingEntry("the acknowledgment of a recipient")];
};

/**
 * Checks one type of event against its entries. If the certificate contains the time of the event (`claimed`), there must be exactly one
 * entry, with that time. Otherwise, there must be no entry. `bound` contains the expected members of the entry's payload.
 */
const checkDatedEvent = (
  history: AuditHistory,
  event: { readonly type: string; readonly claimed: unknown; readonly description: string; readonly bound: JsonObject },
): readonly Finding[] => {
  const { type, claimed, description, bound } = event;
  const entries = filterEntries(history, type);
  const [entry] = entries;
  if (entry === undefined) return claimed === null || claimed === undefined ? [] : [missingEntry(description)];
  if (entries.length !== 1 || entry.at !== claimed)
    return [fail(`entry ${entry.seq} is ${description}, but the certificate does not show it`)];
  const payload = history.payloads.get(entry.seq);
  if (payload === undefined) return [missingPayload(description)];
  const { cease_by: ceaseBy } = payload;
  const logged = typeof ceaseBy === "number" ? { ...payload, cease_by: new Date(ceaseBy).toISOString() } : payload;
  const [mismatch] = findDifferingMembers(bound, logged).filter((name) => Object.hasOwn(bound, name));
  return mismatch === undefined ? [] : [fail(`entry ${entry.seq} is ${description} with a different ${mismatch}`)];
};

/** Checks the withdrawals, the acknowledgments and the erasure against the entries. Returns the worst finding. */
export const checkStatus = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const { fingerprint = null } = certificate;
  const withdrawal = asObject(certificate.withdrawal);
  const acknowledgedAt = withdrawal?.cease_acknowledged_at;
  const ceaseBy = withdrawal?.cease_by ?? null;
  return selectWorst([
    checkWithdrawalState(history),
    ...checkWithdrawnEntities(history),
    ...checkCeasedEntities(history),
    ...checkDatedEvent(history, {
      type: "business.ceased",
      claimed: acknowledgedAt,
      description: "the acknowledgment",
      bound: { fingerprint, cease_by: ceaseBy, on_time: String(acknowledgedAt) <= String(ceaseBy) },
    }),
    ...checkDatedEvent(history, {
      type: "certificate.subject_erased",
      claimed: certificate.subject_erased_at,
      description: "the erasure",
      bound: { fingerprint },
    }),
  ]);
};

const policyKinds = ["privacy", "terms"] as const;

/** Returns the ID, the source URL and the capture time of each policy. */
const toSources = (policies: readonly (JsonObject | null)[]): JsonObject =>
  Object.fromEntries(
    policyKinds.map((kind) => {
      const policy = policies.find((candidate) => candidate?.kind === kind);
      const source = policy && { captured_at: policy.captured_at ?? null, id: policy.id ?? null, source_url: policy.source_url ?? null };
      return [kind, source ?? null];
    }),
  );

const checkUnlinkedPolicies = (history: AuditHistory, isListed: boolean): Finding => {
  const { certificate } = history;
  if (!isListed && certificate.policies_status === "pending") return skipped("no policies were linked");
  // For a certificate issued before `boundDetailsSince`, the link to an earlier capture may have no audit entry.
  const isOlder = filterEntries(history, "certificate.issued").some(({ at }) => at < boundDetailsSince);
  if (!isOlder) return missingEntry("the link to policies");
  return isListed ? incomplete("the audit entry of the policies is not in the pack") : skipped("no policies were linked");
};

/** Checks the policies against the audit entry that links them: the hash of each policy, and where and when the policy was found. */
export const checkPolicyLinks = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const policies = Array.isArray(certificate.policies) ? certificate.policies.map(asObject) : [];
  const listed = policies.map((policy) => `${policy?.kind}-${policy?.content_hash}`).sort();
  const entry = filterEntries(history, "policy.linked").at(-1);
  if (entry === undefined) return checkUnlinkedPolicies(history, listed.length > 0);
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return missingPayload("the policies");
  const linked = policyKinds.filter((kind) => payload[kind] !== null).map((kind) => `${kind}-${payload[kind]}`);
  if (linked.sort().join("\n") !== listed.join("\n")) return fail(`entry ${entry.seq} linked different policies`);
  if (certificate.policies_status !== (listed.length > 0 ? "captured" : "unavailable"))
    return fail("the certificate's status of the policies contradicts its policies");
  return compareBoundDetail(entry, payload, "sources", toSources(policies)) ?? pass(`entry ${entry.seq}`);
};
