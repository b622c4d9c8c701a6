// Checks on the withdrawals from single recipients that a certificate names: the signed receipt of each, and its place in the ledger.
// What all of them come to is one finding a question.
import { toCanonicalJson } from "../core/canonical-json.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { maxPackedEntityWithdrawals } from "../core/certificates/evidence-parts.ts";
import { minuteMs } from "../core/time.ts";
import { checkAnchor, type AnchorContext, type AnchorEvidence } from "./anchor.ts";
import { fail, incomplete, pass, skipped, type CheckId, type Finding, type Findings } from "./checks.ts";
import { groupBy } from "./group-by.ts";
import { asObject, parseCanonical, asString, type JsonObject } from "./json.ts";
import { checkDeadline, checkReceiptSignature, parseSignedReceipt, buildReceiptStatement } from "./receipt.ts";

/** What is shown of one act. */
export interface EntityWithdrawalEvidence {
  readonly receipt: string | null;
  readonly signature: string | null;
  readonly anchor: AnchorEvidence;
}

type ListedEntities = readonly JsonObject[];

const parseWithdrawalNumber = (one: JsonObject): number =>
  Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(asString(one.receipt_url) ?? "")?.[1] ?? 0);

/** Recipients by the number of the act that named them. */
const groupEntitiesByWithdrawal = (certificate: JsonObject): ReadonlyMap<number, ListedEntities> => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  return groupBy(
    listed.map(asObject).filter((one) => one !== null),
    parseWithdrawalNumber,
  );
};

/** The worst of them; `passed` where each passed or had nothing to check. */
const selectWorstFinding = (findings: readonly Finding[], passed: Finding): Finding =>
  findings.find(({ outcome }) => outcome === "fail") ??
  findings.find(({ outcome }) => outcome === "incomplete") ??
  (findings.some(({ outcome }) => outcome === "pass") ? passed : (findings[0] ?? skipped("not reached")));

const prefixWithNumber = (number: number, { outcome, detail }: Finding): Finding => ({
  outcome,
  detail: `withdrawal ${number}: ${detail}`,
});

/** Does the receipt say of this act what the certificate says? */
const findContradiction = (
  receipt: NonNullable<ReturnType<typeof parseSignedReceipt>>,
  listed: ListedEntities,
  preimage: Preimage,
  fingerprint: string,
): string | null => {
  const said = receipt as unknown as JsonObject;
  const bound: JsonObject = {
    cert_id: preimage.cert_id,
    business: preimage.business as unknown as JsonObject,
    origin_domain: preimage.origin_domain,
    fingerprint,
    entities: listed.map((one) => String(one.entity)).sort(),
  };
  const other = Object.keys(bound).find((name) => toCanonicalJson(said[name] ?? null) !== toCanonicalJson(bound[name] ?? null));
  if (other !== undefined) return `its receipt names another ${other}`;
  const differs = ["withdrawn_at", "cease_by", "method", "received_at"].find((name) =>
    listed.some((one) => one[name] !== undefined && toCanonicalJson(one[name]) !== toCanonicalJson(said[name] ?? null)),
  );
  return differs === undefined ? null : `its receipt names another ${differs}`;
};

const maxClockSkewMs = 5 * minuteMs; // between an authority's clock and the issuer's

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
  const nothing = (receipt: Finding): EntityWithdrawalFindings => ({ receipt, anchor: [], attest: [] });
  if (text === null) {
    // Certificates have named the method since packs hold the receipts.
    const isOlder = listed.every(({ method }) => method === undefined) && anchor.statement === null;
    return nothing(isOlder ? skipped("the pack is from before receipts were in it") : incomplete("its receipt is not in the pack"));
  }
  const receipt = parseSignedReceipt(text);
  if (receipt === null || receipt.entities === undefined) return nothing(fail("its receipt is not canonical JSON of exactly its members"));
  const fault = findContradiction(receipt, listed, about.preimage, about.fingerprint);
  if (fault !== null) return nothing(fail(fault));
  const deadline = checkDeadline(receipt);
  const signed = await checkReceiptSignature(context.crypto, text, receipt, parseCanonical(signature), context.trust);
  const found: Findings = new Map();
  const { time } = await checkAnchor(found, "revoked", buildReceiptStatement(receipt, text), anchor, context);
  const stepsOf = (ids: readonly CheckId[]): Finding[] => ids.flatMap((id) => found.get(id) ?? []);
  const isEarly = time !== null && time < Date.parse(receipt.withdrawn_at) - maxClockSkewMs;
  return {
    receipt: selectWorstFinding([signed, deadline], signed),
    anchor: stepsOf(anchorStepIds),
    attest: [...stepsOf(attestationStepIds), ...(isEarly ? [fail("a time stamp is older than the withdrawal")] : [])],
  };
};

/** `shown` are the numbers of which anything is there; `exhibitOf` gives what. */
export const checkEntityWithdrawals = async (
  findings: Findings,
  certificate: JsonObject,
  about: { readonly preimage: Preimage; readonly fingerprint: string },
  shown: readonly number[],
  exhibitOf: (number: number) => EntityWithdrawalEvidence,
  context: AnchorContext,
): Promise<void> => {
  const acts = groupEntitiesByWithdrawal(certificate);
  const stray = shown.find((number) => !acts.has(number));
  if (stray !== undefined) {
    findings.set("entities.receipt", fail(`the proof of withdrawal ${stray} is shown, and the certificate names none of that number`));
    return;
  }
  if (acts.size === 0) {
    findings.set("entities.receipt", skipped("nobody was withdrawn from alone"));
    return;
  }
  const packed = [...acts].filter(([number]) => number <= maxPackedEntityWithdrawals);
  const each = await Promise.all(
    packed.map(async ([number, listed]) => ({ number, ...(await checkEntityWithdrawal(listed, exhibitOf(number), about, context)) })),
  );
  const all = acts.size === packed.length ? "" : `; ${acts.size - packed.length} later ones by their audit entries`;
  const checked = pass(`${packed.length} withdrawals from single recipients${all}`);
  const of = (name: "anchor" | "attest") => each.flatMap((act) => act[name].map((finding) => prefixWithNumber(act.number, finding)));
  findings.set(
    "entities.receipt",
    selectWorstFinding(
      each.map(({ number, receipt }) => prefixWithNumber(number, receipt)),
      checked,
    ),
  );
  findings.set("entities.anchor", selectWorstFinding(of("anchor"), checked));
  findings.set("entities.attest", selectWorstFinding(of("attest"), checked));
};
