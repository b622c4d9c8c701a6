// Checks a certificate's withdrawals of consent for individual recipients. Each withdrawal has a signed receipt and a ledger statement.
// Each check has one finding for all withdrawals together.
import { toCanonicalJson, type JsonObject } from "../core/canonical-json.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { maxPackedEntityWithdrawals } from "../core/certificates/evidence-parts.ts";
import { minuteMs } from "../core/time.ts";
import { checkAnchor, type AnchorContext, type AnchorEvidence } from "./anchor.ts";
import { fail, incomplete, pass, skipped, type CheckId, type Finding, type Findings } from "./checks.ts";
import { entityReceiptsSince } from "./format-changes.ts";
import { parseCanonical } from "./json.ts";
import { checkDeadline, checkReceiptSignature, parseSignedReceipt, buildReceiptStatement } from "./receipt.ts";
import { groupEntitiesByWithdrawal, type ListedEntities } from "./withdrawn-entities.ts";

export interface EntityWithdrawalEvidence {
  readonly receipt: string | null;
  readonly signature: string | null;
  readonly anchor: AnchorEvidence;
}

/**
 * Returns whether the withdrawal for a recipient has the older format. In the current format, the certificate says how the withdrawal was
 * made and when the business received the request, and the pack contains the receipt.
 */
const isOlderEntity = ({ withdrawn_at: at, method, received_at: receivedAt }: JsonObject): boolean =>
  String(at) < entityReceiptsSince && method === undefined && receivedAt === undefined;

/** Returns the worst finding. If no check failed or is incomplete and at least one passed, returns `passed`. */
const selectWorstFinding = (findings: readonly Finding[], passed: Finding): Finding =>
  findings.find(({ outcome }) => outcome === "fail") ??
  findings.find(({ outcome }) => outcome === "incomplete") ??
  (findings.some(({ outcome }) => outcome === "pass") ? passed : (findings[0] ?? skipped("not reached")));

const prefixWithNumber = (number: number, { outcome, detail }: Finding): Finding => ({
  outcome,
  detail: `withdrawal ${number}: ${detail}`,
});

/** Compares a withdrawal's receipt with the certificate. Returns null if they match. */
const findContradiction = (
  receipt: NonNullable<ReturnType<typeof parseSignedReceipt>>,
  listed: ListedEntities,
  preimage: Preimage,
  fingerprint: string,
): string | null => {
  const members = receipt as unknown as JsonObject;
  const expected: JsonObject = {
    cert_id: preimage.cert_id,
    business: preimage.business as unknown as JsonObject,
    origin_domain: preimage.origin_domain,
    fingerprint,
    entities: listed.map(({ entity }) => String(entity)).sort(),
  };
  const isDifferent = (name: string): boolean => toCanonicalJson(members[name] ?? null) !== toCanonicalJson(expected[name] ?? null);
  const expectedMismatch = Object.keys(expected).find(isDifferent);
  if (expectedMismatch !== undefined) return `its receipt has a different ${expectedMismatch}`;
  const mismatch = ["withdrawn_at", "cease_by", "method", "received_at"].find((name) =>
    listed.some(
      (entity) =>
        !(entity[name] === undefined && isOlderEntity(entity)) &&
        toCanonicalJson(entity[name] === undefined ? "absent" : entity[name]) !== toCanonicalJson(members[name] ?? null),
    ),
  );
  return mismatch === undefined ? null : `its receipt has a different ${mismatch}`;
};

const maxClockSkewMs = 5 * minuteMs; // allowed difference between the clocks of a timestamp authority and the issuer

interface EntityWithdrawalFindings {
  readonly receipt: Finding;
  readonly anchor: readonly Finding[];
  readonly attest: readonly Finding[];
}

const anchorStepIds: readonly CheckId[] = ["revoke.statement", "revoke.entry_hash", "revoke.note", "revoke.inclusion", "revoke.rekor_body"];
const attestationStepIds: readonly CheckId[] = ["revoke.attest.inclusion", "revoke.attest.cosign", "revoke.attest.tsa"];

const checkEntityWithdrawal = async (
  listed: ListedEntities,
  { receipt: text, signature, anchor }: EntityWithdrawalEvidence,
  about: { readonly preimage: Preimage; readonly fingerprint: string },
  context: AnchorContext,
): Promise<EntityWithdrawalFindings> => {
  const withoutAnchor = (receipt: Finding): EntityWithdrawalFindings => ({ receipt, anchor: [], attest: [] });
  if (text === null) {
    // A missing receipt is accepted only for a withdrawal in the older format. A newer withdrawal cannot pass as an older one, because
    // `audit.status` checks its time against the audit log.
    const isOlder = listed.every(isOlderEntity) && anchor.statement === null;
    return withoutAnchor(isOlder ? skipped("the pack predates the inclusion of receipts") : incomplete("its receipt is not in the pack"));
  }
  const receipt = parseSignedReceipt(text);
  if (receipt === null || receipt.entities === undefined)
    return withoutAnchor(fail("its receipt is not canonical JSON with exactly its members"));
  const fault = findContradiction(receipt, listed, about.preimage, about.fingerprint);
  if (fault !== null) return withoutAnchor(fail(fault));
  const deadline = checkDeadline(receipt);
  const signed = await checkReceiptSignature(context.crypto, text, receipt, parseCanonical(signature), context.trust);
  const anchorFindings: Findings = new Map();
  const { time } = await checkAnchor(anchorFindings, "revoked", buildReceiptStatement(receipt, text), anchor, context);
  const selectFindings = (ids: readonly CheckId[]): Finding[] => ids.flatMap((id) => anchorFindings.get(id) ?? []);
  const isEarly = time !== null && time < Date.parse(receipt.withdrawn_at) - maxClockSkewMs;
  return {
    receipt: selectWorstFinding([signed, deadline], signed),
    anchor: selectFindings(anchorStepIds),
    attest: [...selectFindings(attestationStepIds), ...(isEarly ? [fail("a timestamp is older than the withdrawal")] : [])],
  };
};

/**
 * Checks all withdrawals. `presentNumbers` lists the withdrawals that have at least one file in the pack, and `loadEvidence` returns those
 * files.
 */
export const checkEntityWithdrawals = async (
  findings: Findings,
  certificate: JsonObject,
  about: { readonly preimage: Preimage; readonly fingerprint: string },
  presentNumbers: readonly number[],
  loadEvidence: (number: number) => EntityWithdrawalEvidence,
  context: AnchorContext,
): Promise<void> => {
  const acts = groupEntitiesByWithdrawal(certificate);
  const stray = presentNumbers.find((number) => !acts.has(number));
  if (stray !== undefined) {
    findings.set("entities.receipt", fail(`the pack proves withdrawal ${stray}, but the certificate does not name it`));
    return;
  }
  if (acts.size === 0) {
    findings.set("entities.receipt", skipped("there is no withdrawal for individual recipients"));
    return;
  }
  const packed = [...acts].filter(([number]) => number <= maxPackedEntityWithdrawals || presentNumbers.includes(number));
  const results = await Promise.all(
    packed.map(async ([number, listed]) => ({ number, ...(await checkEntityWithdrawal(listed, loadEvidence(number), about, context)) })),
  );
  const suffix = acts.size === packed.length ? "" : `; ${acts.size - packed.length} later ones are covered by audit entries only`;
  const checked = pass(`${packed.length} withdrawals for individual recipients${suffix}`);
  const collectFindings = (name: "anchor" | "attest") =>
    results.flatMap((act) => act[name].map((finding) => prefixWithNumber(act.number, finding)));
  findings.set(
    "entities.receipt",
    selectWorstFinding(
      results.map(({ number, receipt }) => prefixWithNumber(number, receipt)),
      checked,
    ),
  );
  findings.set("entities.anchor", selectWorstFinding(collectFindings("anchor"), checked));
  findings.set("entities.attest", selectWorstFinding(collectFindings("attest"), checked));
};
