// What the audit entries of a pack say happened, against what its certificate says of itself. The entries are in a log that
// cannot be rewritten; the certificate is a file that its issuer can write anew and sign again. What an entry says in full is in
// its payload, whose hash the entry holds (audit.chain has compared them).
import type { AuditEntry } from "../core/audit/chain.ts";
import { getCeaseDeadline } from "../core/cease-deadline.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import { groupBy } from "./group-by.ts";
import { isIsoInstant, asObject, asStrings, type JsonObject } from "./json.ts";

export interface AuditHistory {
  readonly entries: readonly AuditEntry[];
  /** Payload by `seq`: those that are in the pack. */
  readonly payloads: ReadonlyMap<string, JsonObject>;
  readonly certificate: JsonObject;
}

/** The payloads of audit/payloads.json; what is malformed there is found by audit.chain and counts as absent here. */
export const parsePayloads = (parsed: unknown): ReadonlyMap<string, JsonObject> =>
  new Map(
    Object.entries(asObject(parsed) ?? {}).flatMap(([seq, one]): [string, JsonObject][] => {
      const payload = asObject(asObject(one)?.payload);
      return payload === null ? [] : [[seq, payload]];
    }),
  );

const filterEntries = ({ entries }: AuditHistory, type: string): readonly AuditEntry[] => entries.filter((entry) => entry.type === type);

const isSubjectErased = (history: AuditHistory): boolean =>
  isIsoInstant(history.certificate.subject_erased_at) && filterEntries(history, "certificate.subject_erased").length > 0;

/** A payload may be gone with the person's details; otherwise somebody left it out. */
const reportMissingPayload = (history: AuditHistory, of: string): Finding =>
  isSubjectErased(history)
    ? skipped(`the person's details were erased at ${history.certificate.subject_erased_at}, and with them the payload of ${of}`)
    : incomplete(`the audit payload of ${of} is not in the pack`);

/** Is the evidence, and that it is live or a trial, what the entry of the issuance committed to? */
export const checkIssuance = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const [entry] = filterEntries(history, "certificate.issued");
  if (entry === undefined) return skipped("not reached");
  const payload = payloads.get(entry.seq);
  if (payload === undefined) {
    // Erased or not: evidence that is shown needs what binds it.
    const isShown = asObject(certificate.evidence) !== null;
    return isShown ? incomplete("the audit payload of the issuance is not in the pack") : reportMissingPayload(history, "the issuance");
  }
  if (payload.evidence_hash !== certificate.evidence_hash) return fail("the issuance committed to other evidence");
  if (payload.environment !== certificate.environment) return fail("the issuance was in another environment");
  return pass(`entry ${entry.seq}`);
};

/** Times stand in payloads as the certificate writes them; before, as milliseconds. */
const parseInstant = (value: unknown): number | null =>
  typeof value === "number" ? value : isIsoInstant(value) ? Date.parse(value) : null;

const findWithdrawalFault = (certificate: JsonObject, withdrawal: JsonObject, entry: AuditEntry): string | null => {
  const { withdrawn_at: withdrawnAt, received_at: receivedAt = null, cease_by: until } = withdrawal;
  if (entry.at !== withdrawnAt) return `entry ${entry.seq} is a withdrawal at another time`;
  if (certificate.cease_by !== until) return "the certificate names two deadlines";
  if (receivedAt !== null && !(isIsoInstant(receivedAt) && receivedAt <= entry.at)) return "the business was told after the withdrawal";
  const deadline = getCeaseDeadline(Date.parse(isIsoInstant(receivedAt) ? receivedAt : entry.at));
  return parseInstant(until) === deadline ? null : "the deadline is not the end of the tenth business day";
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
  if (payload.fingerprint !== certificate.fingerprint) return fail(`entry ${entry.seq} is the withdrawal of another fingerprint`);
  const other = ["method", "scope"].find((name) => payload[name] !== withdrawal[name]);
  if (other !== undefined) return fail(`entry ${entry.seq} is a withdrawal of another ${other}`);
  if (parseInstant(payload.cease_by) !== parseInstant(withdrawal.cease_by)) return fail(`entry ${entry.seq} names another deadline`);
  return pass(`withdrawn ${entry.at}, entry ${entry.seq}`);
};

/** Recipients that the certificate says were withdrawn from at one moment, and until when their contact must cease. */
const listEntityWithdrawals = ({
  certificate,
}: AuditHistory): readonly (readonly [at: string, names: string, until: unknown, method: unknown])[] => {
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const acts = groupBy(listed, (one) => String(one?.receipt_url));
  return [...acts.values()].map((act) => [
    String(act[0]?.withdrawn_at),
    toCanonicalJson(act.map((one) => String(one?.entity)).sort()),
    act[0]?.cease_by,
    act[0]?.method,
  ]);
};

/** Each withdrawal from single recipients has its entry, and the other way round: same moment, same names, same deadline. */
const checkWithdrawnEntities = (history: AuditHistory): Finding | null => {
  const acts = [...listEntityWithdrawals(history)];
  for (const entry of filterEntries(history, "certificate.entities_withdrawn")) {
    const payload = history.payloads.get(entry.seq);
    if (payload === undefined) return reportMissingPayload(history, "a withdrawal from single recipients");
    if (payload.fingerprint !== history.certificate.fingerprint) return fail(`entry ${entry.seq} is the withdrawal of another fingerprint`);
    const names = toCanonicalJson(payload.entities ?? null);
    const at = acts.findIndex(
      ([when, named, until, method]) =>
        when === entry.at &&
        named === names &&
        parseInstant(until) === parseInstant(payload.cease_by) &&
        (method === undefined || method === payload.method), // certificates have named it only since businesses record such withdrawals
    );
    if (at === -1) return fail(`entry ${entry.seq} withdrew from recipients, and the certificate does not say so`);
    acts.splice(at, 1);
  }
  return acts.length === 0 ? null : incomplete("the audit entry of a withdrawal from single recipients is not in the pack");
};

/** Each recipient that the certificate says has ceased contact is named by an entry of that time, and the other way round. */
const checkCeasedEntities = (history: AuditHistory): Finding | null => {
  const { certificate, payloads } = history;
  const listed = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const open = new Map(
    listed.flatMap((one) => (isIsoInstant(one?.cease_acknowledged_at) ? [[String(one.entity), one.cease_acknowledged_at]] : [])),
  );
  for (const entry of filterEntries(history, "business.entities_ceased")) {
    const payload = payloads.get(entry.seq);
    if (payload === undefined) return reportMissingPayload(history, "the acknowledgement of single recipients");
    if (payload.fingerprint !== certificate.fingerprint) return fail(`entry ${entry.seq} is an acknowledgement under another fingerprint`);
    for (const name of asStrings(payload.entities) ?? []) {
      if (open.get(name) !== entry.at) return fail(`entry ${entry.seq} acknowledged a recipient, and the certificate does not say so`);
      open.delete(name);
    }
  }
  return open.size === 0 ? null : incomplete("the audit entry of the acknowledgement of a recipient is not in the pack");
};

/** An event that the certificate dates, and its entry: both or neither, at the same time. */
const checkDatedEvent = (history: AuditHistory, type: string, claimed: unknown, what: string): Finding | null => {
  const entries = filterEntries(history, type);
  const [entry] = entries;
  if (entry === undefined) return isIsoInstant(claimed) ? incomplete(`the audit entry of ${what} is not in the pack`) : null;
  const isSame = entries.length === 1 && entry.at === claimed;
  return isSame ? null : fail(`entry ${entry.seq} is ${what}, and the certificate does not say so`);
};

const checkWithdrawalState = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const withdrawal = asObject(certificate.withdrawal);
  if (certificate.status === "revoked" && withdrawal !== null) return checkWithdrawal(history, withdrawal);
  const [entry] = filterEntries(history, "certificate.revoked");
  return entry === undefined ? pass("no entry withdraws it") : fail(`entry ${entry.seq} withdrew what the certificate calls active`);
};

/** Is the certificate withdrawn, the withdrawal acknowledged, the person erased, exactly as the entries tell? */
export const checkStatus = (history: AuditHistory): Finding => {
  const { certificate } = history;
  const acknowledgedAt = asObject(certificate.withdrawal)?.cease_acknowledged_at;
  const findings = [
    checkWithdrawalState(history),
    checkWithdrawnEntities(history),
    checkCeasedEntities(history),
    checkDatedEvent(history, "business.ceased", acknowledgedAt, "the acknowledgement"),
    checkDatedEvent(history, "certificate.subject_erased", certificate.subject_erased_at, "the erasure"),
  ].filter((finding) => finding !== null);
  const worst = (["fail", "incomplete"] as const).map((outcome) => findings.find((finding) => finding.outcome === outcome));
  return worst.find((finding) => finding !== undefined) ?? (findings[0] as Finding);
};

const policyKinds = ["privacy", "terms"] as const;

/** Are the policies those that the entry of their linking names? */
export const checkPolicyLinks = (history: AuditHistory): Finding => {
  const { certificate, payloads } = history;
  const policies = Array.isArray(certificate.policies) ? certificate.policies.map(asObject) : [];
  const listed = policies.map((policy) => `${policy?.kind}-${policy?.content_hash}`).sort();
  const entry = filterEntries(history, "policy.linked").at(-1);
  if (entry === undefined) {
    return listed.length === 0 ? skipped("none were linked") : incomplete("the audit entry of the policies is not in the pack");
  }
  const payload = payloads.get(entry.seq);
  if (payload === undefined) return reportMissingPayload(history, "the policies");
  const linked = policyKinds.filter((kind) => payload[kind] !== null).map((kind) => `${kind}-${payload[kind]}`);
  return linked.sort().join("\n") === listed.join("\n") ? pass(`entry ${entry.seq}`) : fail(`entry ${entry.seq} linked other policies`);
};
