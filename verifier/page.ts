// The script of the page that carries a pack and checks it: no network, nothing kept, every result in words.
import { fromBase64 } from "../core/bytes.ts";
import { parseZip } from "../core/certificates/evidence-zip.ts";
import { parseIJson } from "../core/i-json.ts";
import type { Check, CheckOutcome, Report } from "./checks.ts";
import { decodeText } from "./json.ts";
import { trustOf, type Trust } from "./trust.ts";
import { defaultVerificationOptions, verifyPack } from "./verify-pack.ts";

const outcomeLabels: Readonly<Record<CheckOutcome, string>> = {
  pass: "✓ Passed",
  fail: "✗ Failed",
  incomplete: "? Missing",
  skipped: "– Not asked",
};
const outcomeTones: Readonly<Record<CheckOutcome, string>> = { pass: "good", fail: "bad", incomplete: "caution", skipped: "" };
const verdictMessages: Readonly<Record<Report["verdict"], readonly [string, string]>> = {
  valid: ["good", "✓ Valid. Every check passed."],
  incomplete: ["caution", "? Nothing is wrong, but the proof is not complete."],
  invalid: ["bad", "✗ Not valid."],
};

/** Without keys of the reader's own: first what is proven, and by whose word; neither green nor a question. */
const describeBundledTrust = ({ checks, missing }: Report): readonly [string, readonly string[]] => {
  const passed = checks.filter(({ outcome }) => outcome === "pass").length;
  const open = missing.filter((line) => !line.startsWith("trust: "));
  return [
    `${passed} checks passed and none failed, with the pack's own copy of the keys.`,
    [
      open.length === 0
        ? "Proven so far: nothing in this pack was changed since it was signed, and the record, the text that was shown, the proofs of the ledger and the audit entries agree with each other."
        : "Proven so far: nothing in this pack was changed since it was signed, and what is in it agrees with itself.",
      "Not proven yet: whose keys these are, because they came with the pack. Choose the issuer's trust file below, got from the issuer itself, and the same checks are made with it.",
      ...open.map((line) => `Not there yet: ${line}`),
    ],
  ];
};

const createElement = <N extends keyof HTMLElementTagNameMap>(
  name: N,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[N] => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

const getRequiredElement = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};

const createCheckRow = ({ id, outcome, asks, detail }: Check): HTMLTableRowElement => {
  const row = createElement("tr", "", { "data-check": id, "data-outcome": outcome });
  const question = createElement("th", asks, { scope: "row" });
  question.append(createElement("small", `${id}${detail === "" ? "" : ` — ${detail}`}`));
  row.append(createElement("td", outcomeLabels[outcome], { class: outcomeTones[outcome] }), question);
  return row;
};

const renderReport = (report: Report, pageFault: string | null): void => {
  const failed = report.checks.find(({ id }) => id === report.failed);
  const isByItself = pageFault === null && report.verdict === "incomplete" && report.trust === "bundled";
  const [proven, explained] = describeBundledTrust(report);
  const [tone, sentence] = isByItself ? ["", proven] : verdictMessages[pageFault === null ? report.verdict : "invalid"];
  const verdict = getRequiredElement("verdict");
  verdict.className = `verdict ${tone}`;
  verdict.dataset.verdict = pageFault === null ? report.verdict : "invalid";
  verdict.dataset.failed = report.failed ?? (pageFault === null ? "" : "page");
  const reasons =
    failed !== undefined ? [`${failed.asks} This failed (${failed.id}): ${failed.detail}`] : isByItself ? explained : report.missing;
  const lines = pageFault === null ? reasons : [pageFault, ...reasons];
  const heading = createElement("p", "");
  heading.append(createElement("strong", sentence));
  verdict.replaceChildren(heading, ...[...lines, ...report.notes].map((line) => createElement("p", line)));
  const body = createElement("tbody", "");
  body.append(...report.checks.map(createCheckRow));
  getRequiredElement("checks").replaceChildren(
    createElement("caption", "In the order in which they are made. Checked on this device; nothing was sent."),
    body,
  );
};

/** What the page shows must be what the pack holds: the pack's own page, and nothing else, is put in its place. */
const renderPackedCertificate = (zip: Uint8Array): string | null => {
  const files = parseZip(zip, Number.MAX_SAFE_INTEGER);
  const text = files.ok ? decodeText(files.files.get("certificate.html")) : null;
  const packed = text === null ? null : new DOMParser().parseFromString(text, "text/html").getElementById("certificate");
  if (packed === null) return null; // the checks have named what is wrong with the archive
  const shown = getRequiredElement("certificate");
  if (packed.isEqualNode(shown)) return null;
  shown.replaceWith(document.importNode(packed, true));
  return "What this page showed of the certificate was not what the pack holds. It is replaced below by what the pack holds.";
};

const packBytes = fromBase64(getRequiredElement("pack").textContent ?? "") ?? new Uint8Array(0);
const pageFault = renderPackedCertificate(packBytes);
const trustInput = getRequiredElement("trust") as HTMLInputElement;
const fingerprintInput = getRequiredElement("fingerprint") as HTMLInputElement;

let latestRun = 0;

const checkPack = async (): Promise<void> => {
  latestRun += 1;
  const mine = latestRun;
  let trust: Trust | null = null;
  const file = trustInput.files?.[0];
  if (file !== undefined) {
    const parsed = parseIJson(new Uint8Array(await file.arrayBuffer()));
    trust = parsed.ok ? trustOf(parsed.value) : null;
    trustInput.setCustomValidity(trust === null ? "This is not a trust document." : "");
    trustInput.reportValidity();
  }
  const expected = fingerprintInput.value.trim().toLowerCase();
  const report = await verifyPack(packBytes, {
    ...defaultVerificationOptions,
    trust,
    expectedFingerprint: expected === "" ? null : expected,
  });
  if (mine === latestRun) renderReport(report, pageFault); // a later choice is being checked
};

const renderRunFailure = (error: unknown): void => {
  getRequiredElement("verdict").replaceChildren(
    createElement("p", `The check could not be made here: ${error instanceof Error ? error.message : error}`),
  );
};
const runCheck = (): void => {
  checkPack().catch(renderRunFailure);
};

trustInput.addEventListener("change", runCheck);
fingerprintInput.addEventListener("change", runCheck);
getRequiredElement("save").addEventListener("click", () => {
  const link = createElement("a", "", { download: document.title.replace(/^Certificate /, "evidence-").concat(".zip") });
  link.href = URL.createObjectURL(new Blob([packBytes], { type: "application/zip" }));
  link.click();
  URL.revokeObjectURL(link.href);
});
runCheck();
