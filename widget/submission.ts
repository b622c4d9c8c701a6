// One submission as the certificate will tell it: the values and ticks of the form at this moment, the disclosure,
// the page. Nothing in it varies with time, so the same submission sent again has the same bytes.

import type { Config } from "./config.ts";
import { getDisclosure } from "./disclosure.ts";
import { collectFields } from "./fields.ts";
import { Misconfiguration, selectElements } from "./misconfiguration.ts";
import { filterByForm, getControls } from "./native-form.ts";
import { isChecked, collectRecipients } from "./recipients.ts";

export const widgetVersion = "1.2.0";

export interface Submission {
  /** What the visitor filled in and ticked; a certificate is attached only while this is unchanged. */
  values: string;
  body: string;
}

/** Undefined when consent is not given. Throws, with the reason, when the page is not set up to certify. */
export function buildSubmission(form: HTMLFormElement, config: Config): Submission | undefined {
  const { options, entities } = config;
  const boxes = findConsentBoxes(form, config);
  const given = collectGivenConsent(form, config, boxes);
  if (!given) return undefined;
  if (!options.clientId || !options.purpose || !entities.length || !config.apiBase) {
    throw new Misconfiguration("client id, purpose or entities missing");
  }
  // Not for the console: the visitor may have left them empty.
  if (!Object.keys(given.fields).length) throw Error("no contact field found");
  const disclosure = getDisclosure(form, options);

  const content = Object.assign(
    {
      client_id: options.clientId,
      disclosure_text: disclosure.text,
      entities,
      purpose: options.purpose,
      page_url: getPageUrl(),
      presentation: Object.assign(describeOptIn(boxes), disclosure.presentation),
      widget: { version: widgetVersion, automated: Boolean(navigator.webdriver) },
      // Lengths as the API takes them: evidence that is too long must not cost the certificate.
      locale: (document.documentElement.lang || navigator.language).slice(0, 35),
      referrer: document.referrer.slice(0, maxUrlLength),
    },
    given,
  );
  const submission_id = getSubmissionId(form, JSON.stringify(content));
  return { values: JSON.stringify(given), body: JSON.stringify(Object.assign(content, { submission_id })) };
}

/** What is given now as one comparable string; undefined when consent is not given (any more) or cannot be read. */
export function getCurrentValues(form: HTMLFormElement, config: Config): string | undefined {
  try {
    return JSON.stringify(collectGivenConsent(form, config, findConsentBoxes(form, config)));
  } catch {
    return undefined;
  }
}

/** No boxes when the page configures none: submitting the form is then the whole consent. */
function findConsentBoxes(form: HTMLFormElement, { options }: Config): HTMLInputElement[] {
  if (options.checkboxSelector === undefined) return [];
  const boxes = filterByForm(form, selectElements(options.checkboxSelector, "checkbox"));
  if (!boxes.length) throw new Misconfiguration("the checkbox selector finds nothing in this form");
  return boxes;
}

/** Undefined when a consent box is unticked, or when recipients were asked for one by one and all were declined. */
function collectGivenConsent(form: HTMLFormElement, { entities, fieldMap }: Config, boxes: HTMLInputElement[]) {
  const recipients = collectRecipients(form, entities);
  const isDeclined = recipients && !recipients.entities_accepted.length && recipients.entities_rejected.length;
  if (isDeclined || !boxes.every(isChecked)) return undefined;
  return Object.assign({ fields: collectFields(form, fieldMap) }, recipients);
}

/** What the person has clicked on since the page was loaded. */
const clickedTargets = new WeakSet<EventTarget>();

/** By mouse, finger, key or label. Not `change`: that is trusted too when a script calls click(). */
export function recordClick(event: Event): void {
  if (event.isTrusted) for (const each of event.composedPath()) clickedTargets.add(each);
}

/** A reset takes the ticks back. */
export function forgetClicks(form: HTMLFormElement): void {
  for (const control of getControls(form)) clickedTargets.delete(control);
}

/** Not stated where it was not seen: ticked by a script, or by the browser on return to the page. */
function getOptInType(boxes: HTMLInputElement[]) {
  const untouched = boxes.filter((each) => !clickedTargets.has(each));
  if (untouched.some((each) => each.defaultChecked)) return "pre_selected";
  return untouched.length ? undefined : "manual";
}

function describeOptIn(boxes: HTMLInputElement[]) {
  const [box] = boxes;
  if (!box || boxes.some((each) => each.disabled)) return { opt_in_type: "non_interactive" };
  return {
    opt_in_type: getOptInType(boxes),
    checkbox_name: (box.name || "").slice(0, 200),
  };
}

const maxUrlLength = 2048;

function getPageUrl(): string {
  // A srcdoc frame is about:srcdoc; its base address is the page that holds it.
  const address = location.protocol === "about:" ? document.baseURI : location.href;
  // The fragment never left the browser before and does not now.
  return address.replace(/#.*/, "").slice(0, maxUrlLength);
}

const attemptsByForm = new WeakMap<HTMLFormElement, { meaning: string; id: string }>();

/**
 * The idempotency key: the same as long as the submission says the same, so that one refused by the page's own
 * validation and sent again unchanged, or a request the browser repeats by itself, stays one certificate.
 */
function getSubmissionId(form: HTMLFormElement, meaning: string): string {
  const last = attemptsByForm.get(form);
  if (last && last.meaning === meaning) return last.id;
  const id = generateUuid();
  attemptsByForm.set(form, { meaning, id });
  return id;
}

/** After a reset, or on return to the page, what is submitted next is a new submission even if it says the same. */
export function forgetAttempt(form: HTMLFormElement): void {
  attemptsByForm.delete(form);
}

/** UUID version 4. Not crypto.randomUUID, which plain http pages do not have. */
function generateUuid(): string {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)));
  const hex = bytes.map((byte) => (byte + 256).toString(16).slice(1)).join("");
  // Digit 13 is the version, digit 17 the variant; of the 128 random bits 120 stay.
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}
