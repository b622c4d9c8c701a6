// Checks the certificate page in the visitor's browser without asking the service. It recomputes the fingerprint from the record, then
// rebuilds the record from the visible text to detect a page that shows something else. Each element marked `data-bound` shows exactly one
// value to compare.
import "./copy.ts";
import "./manage-link.ts";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import { findCheckItem, showOutcome } from "./proofs/check-list.ts";
import { refreshWhilePending } from "./proofs/refresh-while-pending.ts";
import { checkProofs } from "./proofs/check-proofs.ts";

type RecordMembers = Readonly<Record<string, Json>>;

const sha256Hex = async (text: string): Promise<string> => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", encodeUtf8(text))));

const getElementText = (element: Element): string => (element instanceof HTMLTimeElement ? element.dateTime : (element.textContent ?? ""));

const listBoundTexts = (root: ParentNode, bound: string): string[] =>
  [...root.querySelectorAll(`[data-bound="${bound}"]`)].map(getElementText);

/**
 * Returns the value that the page shows for a member. Returns null if no element shows the member, or if several elements show different
 * values.
 */
const getShownValue = (bound: string): string | null => {
  const [first, ...others] = listBoundTexts(document, bound);
  return first !== undefined && others.every((other) => other === first) ? first : null;
};

/** Returns the recipient names of a list, which the page may show in several parts. Returns undefined if the page has no such list. */
const listShownEntities = (list: string): string[] | undefined => {
  const parts = [...document.querySelectorAll(`[data-list="${list}"]`)];
  return parts.length === 0 ? undefined : parts.flatMap((part) => listBoundTexts(part, "entity")).sort();
};

/** Rebuilds the record from the text that the page shows. */
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

/** Lists the members whose shown value differs from the record. */
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
    return false; // the text is not JSON, or is JSON that has no canonical form
  }
};

/** Returns null if the page matches. Otherwise returns the sentence from `messages` that names the mismatch. */
const findMismatch = async (messages: DOMStringMap): Promise<string | null> => {
  const record = getShownValue("record") ?? "";
  if (!isCanonicalJson(record) || (await sha256Hex(record)) !== getShownValue("fingerprint")) return messages.mismatchFingerprint ?? "";
  const members = await collectShownMembers();
  const names = listDifferingMembers(record, members);
  if (getShownValue("disclosure_hash") !== members.disclosure_hash && !names.includes("disclosure_hash")) names.push("disclosure_hash");
  return names.length === 0 ? null : `${messages.mismatchPage} ${names.join(", ")}.`;
};

const checkPage = async (): Promise<void> => {
  const item = findCheckItem("fingerprint");
  const messages = document.querySelector<HTMLElement>("#verdict")?.dataset;
  if (item === null || messages === undefined) return;
  // Browsers provide `crypto.subtle` only over HTTPS and on localhost.
  if (globalThis.crypto?.subtle === undefined) return showOutcome(item, "incomplete", messages.unable);
  const mismatch = await findMismatch(messages);
  // Programs read this attribute, because the wording and the layout of the page may change.
  item.dataset.fingerprintCheck = mismatch === null ? "match" : "mismatch";
  if (mismatch === null) showOutcome(item, "pass");
  else showOutcome(item, "fail", `${messages.fail}. ${mismatch}`);
};

// Checks run one at a time. Every change to the page's text outside the list of checks starts another check.
let lastCheck = checkPage();
const observer = new MutationObserver((changes) => {
  const list = document.querySelector("#checks");
  if (changes.some(({ target }) => list?.contains(target) !== true)) lastCheck = lastCheck.then(checkPage);
});
observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["datetime"] });

void checkProofs();
refreshWhilePending(checkProofs);

const printButton = document.querySelector<HTMLButtonElement>("#print");
if (printButton !== null) {
  printButton.hidden = false;
  printButton.addEventListener("click", () => window.print());
}
