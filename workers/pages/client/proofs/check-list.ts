// Shows the outcome of each check on the certificate page, and the verdict that follows from all of them.
import type { CheckOutcome } from "../../../../verifier/checks.ts";

/** The name of an icon: the outcome of a check, or `genuine` for the verdict that the certificate is genuine. */
type IconOutcome = CheckOutcome | "genuine";

const itemClasses: Readonly<Record<CheckOutcome, string>> = { pass: "", fail: "bad", incomplete: "wait", skipped: "open" };

const createIcon = (outcome: IconOutcome): Element | null => {
  const icons = document.querySelector<HTMLTemplateElement>("#outcome-icons");
  const icon = icons?.content.querySelector(`[data-outcome="${outcome}"] svg`);
  return icon === null || icon === undefined ? null : document.importNode(icon, true);
};

const replaceIcon = (parent: Element, outcome: IconOutcome): void => {
  const icon = createIcon(outcome);
  if (icon !== null) parent.querySelector("svg")?.replaceWith(icon);
};

export const findCheckItem = (name: string): HTMLElement | null => document.querySelector(`#checks [data-proof="${name}"]`);

/** Returns the verdict, or null if no check has failed and at least one has no outcome yet. */
const decideVerdict = (outcomes: readonly (string | undefined)[]): "pass" | "fail" | "incomplete" | null => {
  if (outcomes.includes("fail")) return "fail";
  if (outcomes.includes(undefined)) return null;
  return outcomes.includes("incomplete") ? "incomplete" : "pass";
};

const verdictTones = { pass: "good", fail: "bad", incomplete: "caution" } as const;

/** Shows the verdict in the heading, in the badge next to it, and in the link that phones show at the top of the page. */
const showVerdict = (): void => {
  const element = document.querySelector<HTMLElement>("#verdict");
  const items = [...document.querySelectorAll<HTMLElement>("#checks > li")];
  const verdict = decideVerdict(items.map(({ dataset }) => dataset.outcome));
  if (element === null || verdict === null || element.dataset.verdict === verdict) return;
  const { dataset } = element;
  const isSound = ["fingerprint", "signature"].every((name) => findCheckItem(name)?.dataset.outcome === "pass");
  const pill = document.createElement("span");
  pill.className = `pill ${verdictTones[verdict]}`;
  const icon = createIcon(verdict === "pass" ? "genuine" : verdict);
  pill.append(...(icon === null ? [] : [icon]), dataset[verdict] ?? "");
  element.replaceChildren(pill);
  dataset.verdict = verdict;
  const heading = document.querySelector("#check-heading");
  const headingText = verdict === "fail" ? dataset.notGenuine : isSound ? dataset.genuine : undefined;
  if (heading !== null && headingText !== undefined) heading.textContent = headingText;
  const jump = document.querySelector("#jump-verdict");
  if (jump !== null) jump.textContent = dataset[verdict] ?? "";
  document.querySelector("#check")?.classList.toggle("off", verdict !== "pass" || dataset.active === undefined);
};

/** Shows a check's outcome. `text` replaces the sentence that the list has for this outcome. */
export const showOutcome = (item: HTMLElement, outcome: CheckOutcome, text = item.dataset[outcome] ?? ""): void => {
  const { dataset } = item;
  const [title, line] = [item.querySelector("strong"), item.querySelector<HTMLElement>(".outcome")];
  if (title === null || line === null || (dataset.outcome === outcome && line.textContent === text)) return;
  dataset.label ??= title.textContent ?? "";
  dataset.outcome = outcome;
  title.textContent = outcome === "pass" ? (dataset.passed ?? "") : dataset.label;
  line.textContent = text;
  line.hidden = text === "";
  item.className = itemClasses[outcome];
  replaceIcon(item, outcome);
  showVerdict();
};
