// The script of the page that contains a pack and checks it. It uses no network and no storage.
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
  skipped: "– Not checked",
};
const outcomeTones: Readonly<Record<CheckOutcome, string>> = { pass: "good", fail: "bad", incomplete: "caution", skipped: "" };
const verdictMessages: Readonly<Record<Report["verdict"], readonly [string, string]>> = {
  valid: ["good", "✓ Valid. Every check passed."],
  incomplete: ["caution", "? Nothing is wrong, but the proof is incomplete."],
  invalid: ["bad", "✗ Not valid."],
};

/** Describes the result if the reader has not provided any keys. The wording is neutral and starts with what the checks proved. */
const describeBundledTrust = ({ checks, missing }: Report): readonly [string, readonly string[]] => {
  const passed = checks.filter(({ outcome }) => outcome === "pass").length;
  const missingEvidence = missing.filter((line) => !line.startsWith("trust: "));
  return [
    `${passed} checks passed and none failed, with the pack's own copy of the keys.`,
    [
      missingEvidence.length === 0
        ? "Proven so far: the pack has not changed since it was signed, and its record, disclosure, ledger proofs and audit entries are consistent."
        : "Proven so far: the pack has not changed since it was signed, and its contents are consistent.",
      "Not proven yet: whose keys these are, because they came with the pack. Get the trust file from the issuer and select it below to repeat the checks.",
      ...missingEvidence.map((line) => `Missing: ${line}`),
    ],
  ];
};

const createElement = <N extends keyof HTMLElementTagNameMap>(
  name: N,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[N] => {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

const getRequiredElement = (id: string): HTMLElement => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page must have an element with the id ${id}`);
  return element;
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
  const hasBundledTrustOnly = pageFault === null && report.verdict === "incomplete" && report.trust === "bundled";
  const [provenSentence, explanation] = describeBundledTrust(report);
  const [tone, sentence] = hasBundledTrustOnly ? ["", provenSentence] : verdictMessages[pageFault === null ? report.verdict : "invalid"];
  const verdict = getRequiredElement("verdict");
  verdict.className = `verdict ${tone}`;
  verdict.dataset.verdict = pageFault === null ? report.verdict : "invalid";
  verdict.dataset.failed = report.failed ?? (pageFault === null ? "" : "page");
  const reasons =
    failed !== undefined
      ? [`${failed.asks} This failed (${failed.id}): ${failed.detail}`]
      : hasBundledTrustOnly
        ? explanation
        : report.missing;
  const lines = pageFault === null ? reasons : [pageFault, ...reasons];
  const heading = createElement("p", "");
  heading.append(createElement("strong", sentence));
  verdict.replaceChildren(heading, ...[...lines, ...report.notes].map((line) => createElement("p", line)));
  const body = createElement("tbody", "");
  body.append(...report.checks.map(createCheckRow));
  getRequiredElement("checks").replaceChildren(createElement("caption", "Checked on this device. Nothing was sent."), body);
};

/** Replaces a displayed certificate that differs from the one in the pack. Returns the message to show, or null. */
const renderPackedCertificate = (zip: Uint8Array): string | null => {
  const files = parseZip(zip, Number.MAX_SAFE_INTEGER);
  const text = files.ok ? decodeText(files.files.get("certificate.html")) : null;
  const packed = text === null ? null : new DOMParser().parseFromString(text, "text/html").getElementById("certificate");
  if (packed === null) return null; // the checks report what is wrong with the archive
  const displayed = getRequiredElement("certificate");
  if (packed.isEqualNode(displayed)) return null;
  displayed.replaceWith(document.importNode(packed, true));
  return "The certificate shown on this page did not match the pack. It has been replaced by the one from the pack.";
};

const packBytes = fromBase64(getRequiredElement("pack").textContent ?? "") ?? new Uint8Array(0);
const pageFault = renderPackedCertificate(packBytes);
const trustInput = getRequiredElement("trust") as HTMLInputElement;
const fingerprintInput = getRequiredElement("fingerprint") as HTMLInputElement;

let latestRun = 0;

const checkPack = async (): Promise<void> => {
  latestRun += 1;
  const run = latestRun;
  let trust: Trust | null = null;
  const file = trustInput.files?.[0];
  if (file !== undefined) {
    const parsed = parseIJson(new Uint8Array(await file.arrayBuffer()));
    trust = parsed.ok ? trustOf(parsed.value) : null;
    trustInput.setCustomValidity(trust === null ? "Select a valid trust document." : "");
    trustInput.reportValidity();
  }
  const expected = fingerprintInput.value.trim().toLowerCase();
  const report = await verifyPack(packBytes, {
    ...defaultVerificationOptions,
    trust,
    expectedFingerprint: expected === "" ? null : expected,
  });
  if (run === latestRun) renderReport(report, pageFault); // if a newer run has started, it renders its own report
};

const renderRunFailure = (error: unknown): void => {
  getRequiredElement("verdict").replaceChildren(
    createElement("p", `The check failed to run: ${error instanceof Error ? error.message : error}`),
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
