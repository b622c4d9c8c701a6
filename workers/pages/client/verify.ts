// The certificate page checks itself in the visitor's browser: the fingerprint is recomputed from the record, and the
// record is put together again from what the page shows, so that a page that shows something else is found out. Nothing is
// fetched. Elements marked `data-bound` hold exactly one member of the record each.
import "./copy.ts";
import "./manage-link.ts";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import { checkProofs } from "./proofs/check-proofs.ts";

type RecordMembers = Readonly<Record<string, Json>>;

const sha256Hex = async (text: string): Promise<string> => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", encodeUtf8(text))));

const getElementText = (element: Element): string => (element instanceof HTMLTimeElement ? element.dateTime : (element.textContent ?? ""));

const listBoundTexts = (root: ParentNode, bound: string): string[] =>
  [...root.querySelectorAll(`[data-bound="${bound}"]`)].map(getElementText);

/** A member may be shown in several places; null where they disagree, which no record can match. */
const getShownValue = (bound: string): string | null => {
  const [first, ...others] = listBoundTexts(document, bound);
  return first !== undefined && others.every((other) => other === first) ? first : null;
};

/** Names listed under an answer, in however many parts; undefined when the page shows no such answer. */
const listShownEntities = (list: string): string[] | undefined => {
  const parts = [...document.querySelectorAll(`[data-list="${list}"]`)];
  return parts.length === 0 ? undefined : parts.flatMap((part) => listBoundTexts(part, "entity")).sort();
};

/** The record as the page shows it. */
const collectShownMembers = async (): Promise<RecordMembers> => {
  const accepted = listShownEntities("entities_accepted");
  const rejected = listShownEntities("entities_rejected");
  return {
    business: { id: getShownValue("business.id"), name: getShownValue("business.name") },
    cert_id: getShownValue("cert_id"),
    disclosure_hash: await sha256Hex(getShownValue("disclosure") ?? ""),
    entities: listBoundTexts(document, "entity").sort(),
    ...(accepted && { entities_accepted: accepted }),
    ...(rejected && { entities_rejected: rejected }),
    origin_domain: getShownValue("origin_domain"),
    purpose: getShownValue("purpose"),
    subject_hash: getShownValue("subject_hash"),
    timestamp: getShownValue("timestamp"),
  };
};

/** Names of the members that the page shows otherwise than the record says. */
const listDifferingMembers = (record: string, members: RecordMembers): string[] => {
  const recorded = JSON.parse(record) as RecordMembers;
  return [...new Set([...Object.keys(recorded), ...Object.keys(members)])]
    .filter(
      (name) =>
        !(name in recorded && name in members) || toCanonicalJson(recorded[name] as Json) !== toCanonicalJson(members[name] as Json),
    )
    .sort();
};

const isCanonicalJson = (text: string): boolean => {
  try {
    return toCanonicalJson(JSON.parse(text) as Json) === text;
  } catch {
    return false; // not JSON, or not in its one canonical spelling
  }
};

const verdictElement = document.querySelector<HTMLElement>("#verdict");

/** Null when everything fits; else the sentence that says what does not. */
const findMismatch = async (says: DOMStringMap): Promise<string | null> => {
  const record = getShownValue("record") ?? "";
  if (!isCanonicalJson(record) || (await sha256Hex(record)) !== getShownValue("fingerprint")) return says.mismatchFingerprint ?? "";
  const members = await collectShownMembers();
  const names = listDifferingMembers(record, members);
  if (getShownValue("disclosure_hash") !== members.disclosure_hash && !names.includes("disclosure_hash")) names.push("disclosure_hash");
  return names.length === 0 ? null : `${says.mismatchPage} ${names.join(", ")}.`;
};

const updateVerdict = async (element: HTMLElement): Promise<void> => {
  const { dataset } = element;
  const sentence = element.querySelector("p");
  if (sentence === null) return;
  if (globalThis.crypto?.subtle === undefined) {
    sentence.textContent = dataset.unable ?? ""; // plain http from another machine: browsers lend no cryptography there
    return;
  }
  const found = await findMismatch(dataset);
  const answer = found === null ? "match" : "mismatch";
  const text = found === null ? (dataset.match ?? "") : `${dataset.mismatch} ${found}`;
  if (dataset.fingerprintCheck === answer && sentence.textContent === text) return;
  dataset.fingerprintCheck = answer;
  sentence.textContent = text;
};

if (verdictElement !== null) {
  // One check after another; whatever changes what the page says is checked again.
  let last = updateVerdict(verdictElement);
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => !verdictElement.contains(target))) last = last.then(() => updateVerdict(verdictElement));
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["datetime"] });
}

void checkProofs();
