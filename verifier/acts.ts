// Checks on the withdrawals from single recipients that a certificate names: the signed receipt of each, and its place in the ledger.
// What all of them come to is one finding a question.
import { canonicalJson } from "../core/canonical-json.ts";
import type { Preimage } from "../core/certificates/fingerprint.ts";
import { maxPackedActs } from "../core/certificates/evidence-parts.ts";
import { minuteMs } from "../core/time.ts";
import { checkAnchor, type AnchorContext, type AnchorExhibit } from "./anchor.ts";
import { fail, incomplete, pass, skipped, type CheckId, type Finding, type Findings } from "./checks.ts";
import { groupedBy } from "./grouped.ts";
import { objectOf, parseCanonical, stringOf, type JsonObject } from "./json.ts";
import { checkDeadline, checkReceiptSigned, receiptOf, statementOf } from "./receipt.ts";

/** What is shown of one act. */
export interface ActExhibit {
  readonly receipt: string | null;
  readonly signature: string | null;
  readonly anchor: AnchorExhibit;
}

type Listed = readonly JsonObject[];

const numberOf = (one: JsonObject): number => Number(/[?&]withdrawal=([1-9][0-9]{0,5})$/.exec(stringOf(one.receipt_url) ?? "")?.[1] ?? 0);

/** Recipients by the number of the act that named them. */
const listedActs = (certificate: JsonObject): ReadonlyMap<number, Listed> => {
  const listed = Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : [];
  return groupedBy(
    listed.map(objectOf).filter((one) => one !== null),
    numberOf,
  );
};

/** The worst of them; `passed` where each passed or had nothing to check. */
const worst = (findings: readonly Finding[], passed: Finding): Finding =>
  findings.find(({ outcome }) => outcome === "fail") ??
  findings.find(({ outcome }) => outcome === "incomplete") ??
  (findings.some(({ outcome }) => outcome === "pass") ? passed : (findings[0] ?? skipped("not reached")));

const ofAct = (number: number, { outcome, detail }: Finding): Finding => ({ outcome, detail: `withdrawal ${number}: ${detail}` });

/** Does the receipt say of this act what the certificate says? */
const contradiction = (
  receipt: NonNullable<ReturnType<typeof receiptOf>>,
  listed: Listed,
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
  const other = Object.keys(bound).find((name) => canonicalJson(said[name] ?? null) !== canonicalJson(bound[name] ?? null));
  if (other !== undefined) return `its receipt names another ${other}`;
  const differs = ["withdrawn_at", "cease_by", "method", "received_at"].find((name) =>
    listed.some((one) => one[name] !== undefined && canonicalJson(one[name]) !== canonicalJson(said[name] ?? null)),
  );
  return differs === undefined ? null : `its receipt names another ${differs}`;
};

const clockSlackMs = 5 * minuteMs; // between an authority's clock and the issuer's

interface ActFindings {
  readonly receipt: Finding;
  readonly anchor: readonly Finding[];
  readonly attest: readonly Finding[];
}

const anchorSteps: readonly CheckId[] = ["revoke.statement", "revoke.entry_hash", "revoke.note", "revoke.inclusion", "revoke.rekor_body"];
const attestSteps: readonly CheckId[] = ["revoke.attest.inclusion", "revoke.attest.cosign", "revoke.attest.tsa"];

const checkAct = async (
  listed: Listed,
  { receipt: text, signature, anchor }: ActExhibit,
  about: { readonly preimage: Preimage; readonly fingerprint: string },
  context: AnchorContext,
): Promise<ActFindings> => {
  const nothing = (receipt: Finding): ActFindings => ({ receipt, anchor: [], attest: [] });
  if (text === null) {
    // Certificates have named the method since packs hold the receipts.
    const isOlder = listed.every(({ method }) => method === undefined) && anchor.statement === null;
    return nothing(isOlder ? skipped("the pack is from before receipts were in it") : incomplete("its receipt is not in the pack"));
  }
  const receipt = receiptOf(text);
  if (receipt === null || receipt.entities === undefined) return nothing(fail("its receipt is not canonical JSON of exactly its members"));
  const fault = contradiction(receipt, listed, about.preimage, about.fingerprint);
  if (fault !== null) return nothing(fail(fault));
  const deadline = checkDeadline(receipt);
  const signed = await checkReceiptSigned(context.crypto, text, receipt, parseCanonical(signature), context.trust);
  const found: Findings = new Map();
  const { time } = await checkAnchor(found, "revoked", statementOf(receipt, text), anchor, context);
  const stepsOf = (ids: readonly CheckId[]): Finding[] => ids.flatMap((id) => found.get(id) ?? []);
  const isEarly = time !== null && time < Date.parse(receipt.withdrawn_at) - clockSlackMs;
  return {
    receipt: worst([signed, deadline], signed),
    anchor: stepsOf(anchorSteps),
    attest: [...stepsOf(attestSteps), ...(isEarly ? [fail("a time stamp is older than the withdrawal")] : [])],
  };
};

/** `shown` are the numbers of which anything is there; `exhibitOf` gives what. */
export const checkActs = async (
  findings: Findings,
  certificate: JsonObject,
  about: { readonly preimage: Preimage; readonly fingerprint: string },
  shown: readonly number[],
  exhibitOf: (number: number) => ActExhibit,
  context: AnchorContext,
): Promise<void> => {
  const acts = listedActs(certificate);
  const stray = shown.find((number) => !acts.has(number));
  if (stray !== undefined) {
    findings.set("entities.receipt", fail(`the proof of withdrawal ${stray} is shown, and the certificate names none of that number`));
    return;
  }
  if (acts.size === 0) {
    findings.set("entities.receipt", skipped("nobody was withdrawn from alone"));
    return;
  }
  const packed = [...acts].filter(([number]) => number <= maxPackedActs);
  const each = await Promise.all(
    packed.map(async ([number, listed]) => ({ number, ...(await checkAct(listed, exhibitOf(number), about, context)) })),
  );
  const all = acts.size === packed.length ? "" : `; ${acts.size - packed.length} later ones by their audit entries`;
  const checked = pass(`${packed.length} withdrawals from single recipients${all}`);
  const of = (name: "anchor" | "attest") => each.flatMap((act) => act[name].map((finding) => ofAct(act.number, finding)));
  findings.set(
    "entities.receipt",
    worst(
      each.map(({ number, receipt }) => ofAct(number, receipt)),
      checked,
    ),
  );
  findings.set("entities.anchor", worst(of("anchor"), checked));
  findings.set("entities.attest", worst(of("attest"), checked));
};
