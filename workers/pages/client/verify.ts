// The certificate page checks itself in the visitor's browser: the fingerprint is recomputed from the record, and the
// record is put together again from what the page shows, so that a page that shows something else is found out. Nothing is
// fetched. Elements marked `data-bound` hold exactly one member of the record each.
import "./copy.ts";
import "./manage-link.ts";
import { hexOf, utf8 } from "../../../core/bytes.ts";
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import { checkProofs } from "./proofs/check-proofs.ts";

type Members = Readonly<Record<string, Json>>;

const sha256Hex = async (text: string): Promise<string> => hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));

const textOf = (element: Element): string => (element instanceof HTMLTimeElement ? element.dateTime : (element.textContent ?? ""));

const textsIn = (root: ParentNode, bound: string): string[] => [...root.querySelectorAll(`[data-bound="${bound}"]`)].map(textOf);

/** A member may be shown in several places; null where they disagree, which no record can match. */
const shown = (bound: string): string | null => {
  const [first, ...others] = textsIn(document, bound);
  return first !== undefined && others.every((other) => other === first) ? first : null;
};

/** Names listed under an answer, in however many parts; undefined when the page shows no such answer. */
const listed = (list: string): string[] | undefined => {
  const parts = [...document.querySelectorAll(`[data-list="${list}"]`)];
  return parts.length === 0 ? undefined : parts.flatMap((part) => textsIn(part, "entity")).sort();
};

/** The record as the page shows it. */
const shownMembers = async (): Promise<Members> => {
  const accepted = listed("entities_accepted");
  const rejected = listed("entities_rejected");
  return {
    business: { id: shown("business.id"), name: shown("business.name") },
    cert_id: shown("cert_id"),
    disclosure_hash: await sha256Hex(shown("disclosure") ?? ""),
    entities: textsIn(document, "entity").sort(),
    ...(accepted && { entities_accepted: accepted }),
    ...(rejected && { entities_rejected: rejected }),
    origin_domain: shown("origin_domain"),
    purpose: shown("purpose"),
    subject_hash: shown("subject_hash"),
    timestamp: shown("timestamp"),
  };
};

/** Names of the members that the page shows otherwise than the record says. */
const differing = (record: string, members: Members): string[] => {
  const recorded = JSON.parse(record) as Members;
  return [...new Set([...Object.keys(recorded), ...Object.keys(members)])]
    .filter(
      (name) => !(name in recorded && name in members) || canonicalJson(recorded[name] as Json) !== canonicalJson(members[name] as Json),
    )
    .sort();
};

const isRecord = (text: string): boolean => {
  try {
    return canonicalJson(JSON.parse(text) as Json) === text;
  } catch {
    return false; // not JSON, or not in its one canonical spelling
  }
};

const verdict = document.querySelector<HTMLElement>("#verdict");

/** Null when everything fits; else the sentence that says what does not. */
const fault = async (says: DOMStringMap): Promise<string | null> => {
  const record = shown("record") ?? "";
  if (!isRecord(record) || (await sha256Hex(record)) !== shown("fingerprint")) return says.mismatchFingerprint ?? "";
  const members = await shownMembers();
  const names = differing(record, members);
  if (shown("disclosure_hash") !== members.disclosure_hash && !names.includes("disclosure_hash")) names.push("disclosure_hash");
  return names.length === 0 ? null : `${says.mismatchPage} ${names.join(", ")}.`;
};

const check = async (element: HTMLElement): Promise<void> => {
  const { dataset } = element;
  const sentence = element.querySelector("p");
  if (sentence === null) return;
  if (globalThis.crypto?.subtle === undefined) {
    sentence.textContent = dataset.unable ?? ""; // plain http from another machine: browsers lend no cryptography there
    return;
  }
  const found = await fault(dataset);
  const answer = found === null ? "match" : "mismatch";
  const text = found === null ? (dataset.match ?? "") : `${dataset.mismatch} ${found}`;
  if (dataset.fingerprintCheck === answer && sentence.textContent === text) return;
  dataset.fingerprintCheck = answer;
  sentence.textContent = text;
};

if (verdict !== null) {
  // One check after another; whatever changes what the page says is checked again.
  let last = check(verdict);
  const observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => !verdict.contains(target))) last = last.then(() => check(verdict));
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["datetime"] });
}

void checkProofs();
