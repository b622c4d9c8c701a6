// The body of a certificate request: field values, choices, disclosure and page. It contains no time, so the same submission always has the
// same bytes.

import type { Config } from "./config.ts";
import { getDisclosure, replaceRefusedCharacters } from "./disclosure.ts";
import { collectFields } from "./fields.ts";
import { Misconfiguration, selectElements } from "./misconfiguration.ts";
import { filterByForm, getControls } from "./native-form.ts";
import { isChecked, collectRecipients } from "./recipients.ts";
import { toLine } from "./text.ts";

export const widgetVersion = "1.2.0";

export interface Submission {
  /** Field values and choices as one string. A certificate is attached to the form only if this string has not changed in the meantime. */
  values: string;
  body: string;
}

/** Builds the submission. Returns undefined if consent is not given. Throws Misconfiguration if the page is not set up to certify. */
export function buildSubmission(form: HTMLFormElement, config: Config): Submission | undefined {
  const { options, entities } = config;
  const boxes = findConsentBoxes(form, config);
  const given = collectGivenConsent(form, config, boxes);
  if (!given) return undefined;
  if (!options.clientId || !options.purpose || !entities.length || !config.apiBase) {
    throw new Misconfiguration("data-client-id, data-purpose or data-entities is missing: set it");
  }
  if (!Object.keys(given.fields).length) throw new Misconfiguration("no contact field is filled in: map your fields");
  const disclosure = getDisclosure(form, options);

  const content = Object.assign(
    {
      client_id: options.clientId,
      disclosure_text: disclosure.text,
      entities,
      purpose: toLine(options.purpose),
      page_url: getPageUrl(),
      presentation: Object.assign(describeOptIn(boxes), disclosure.presentation),
      widget: { version: widgetVersion, automated: Boolean(navigator.webdriver) },
      // These texts are shortened to the API's limits, because the API refuses a request whose evidence is too long.
      locale: replaceRefusedCharacters((document.documentElement.lang || navigator.language).slice(0, 35)),
      referrer: document.referrer.slice(0, maxUrlLength),
    },
    given,
  );
  const submission_id = getSubmissionId(form, JSON.stringify(content));
  return { values: JSON.stringify(given), body: JSON.stringify(Object.assign(content, { submission_id })) };
}

/** Returns the form's current `values` for comparison, or undefined if consent is not given or cannot be read. */
export function getCurrentValues(form: HTMLFormElement, config: Config): string | undefined {
  try {
    return JSON.stringify(collectGivenConsent(form, config, findConsentBoxes(form, config)));
  } catch {
    return undefined;
  }
}

/**
 * Finds the consent boxes. The selector can match the boxes, their labels, or elements that contain them. Returns an empty list if the page
 * configures no selector. In that case, submitting the form is the consent.
 */
export function findConsentBoxes(form: HTMLFormElement, { options }: Config): HTMLInputElement[] {
  if (options.checkboxSelector === undefined) return [];
  const selected: (HTMLInputElement & { control?: HTMLInputElement | null })[] = selectElements(options.checkboxSelector, "checkbox");
  const boxes = filterByForm(
    form,
    selected.flatMap(
      (each) =>
        each.control || (each.querySelector("[type=checkbox]") ? [...each.querySelectorAll<HTMLInputElement>("[type=checkbox]")] : each),
    ),
  );
  if (!boxes.length) throw new Misconfiguration("data-checkbox-selector matches nothing: correct it");
  return boxes;
}

/**
 * Collects the given consent. Returns undefined if a consent box is unchecked, or if the form has recipient boxes and all recipients were
 * rejected.
 */
function collectGivenConsent(form: HTMLFormElement, { entities, fieldMap }: Config, boxes: HTMLInputElement[]) {
  const recipients = collectRecipients(form, entities);
  const isDeclined = recipients && !recipients.entities_accepted.length && recipients.entities_rejected.length;
  if (isDeclined || !boxes.every(isChecked)) return undefined;
  return Object.assign(collectFields(form, fieldMap), recipients);
}

/** The elements that the visitor has clicked since the page was loaded or the form was reset, with their ancestors. */
const clickedTargets = new WeakSet<EventTarget>();

/**
 * Records clicks by mouse, touch, keyboard or label. A `change` event is not enough, because its `isTrusted` is true even if a script
 * called click().
 */
export function recordClick(event: Event): void {
  if (event.isTrusted) for (const each of event.composedPath()) clickedTargets.add(each);
}

/** Forgets clicks on the form's controls. After a reset, an earlier click no longer shows who checked a box. */
export function forgetClicks(form: HTMLFormElement): void {
  for (const control of getControls(form)) clickedTargets.delete(control);
}

/**
 * Returns the opt-in type. Returns undefined if a checked box was neither clicked nor checked in the page's HTML: a script checked it, or
 * the browser restored it when the visitor returned to the page.
 */
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
    checkbox_name: replaceRefusedCharacters((box.name || "").slice(0, 200)),
  };
}

const maxUrlLength = 2048;

function getPageUrl(): string {
  // The URL of a srcdoc frame is about:srcdoc, but its base URL is that of the page that contains it.
  const address = location.protocol === "about:" ? document.baseURI : location.href;
  // Browsers never send the fragment to a server, so it is removed.
  return address.replace(/#.*/, "").slice(0, maxUrlLength);
}

const attemptsByForm = new WeakMap<HTMLFormElement, { meaning: string; id: string }>();

/**
 * Returns the idempotency key, which stays the same while the submission is unchanged. As a result, only one certificate is issued if the
 * visitor resends a form that the page's validation refused, or if the browser repeats a request.
 */
function getSubmissionId(form: HTMLFormElement, meaning: string): string {
  const last = attemptsByForm.get(form);
  if (last && last.meaning === meaning) return last.id;
  const id = generateUuid();
  attemptsByForm.set(form, { meaning, id });
  return id;
}

/**
 * Forgets the previous attempt. After a reset, or when the visitor returns to the page, the next submission counts as new even if it is
 * identical.
 */
export function forgetAttempt(form: HTMLFormElement): void {
  attemptsByForm.delete(form);
}

/** Generates a version 4 UUID from a blob's URL, which ends with one. crypto.randomUUID is missing on plain http pages. */
function generateUuid(): string {
  return URL.createObjectURL(new Blob()).slice(-36);
}
