// Holds a submission while it is certified, then submits the form again. For each type of event, one capturing listener on window handles
// all forms, so forms that are added or re-rendered later need no setup. The page's own submit handlers see exactly one submit event, after
// the certificate has been attached or the request for it has failed.

import type { ApiResult } from "./api-call.ts";
import { type Config, isTargetForm, warnAboutMissingForm } from "./config.ts";
import { type CertificateReceipt, requestCertificate } from "./certificate-request.ts";
import { attachCertificate, getCertifiedValues, detachCertificate } from "./certificate-input.ts";
import { forgetDisclosure, recordDisclosure } from "./disclosure.ts";
import { dispatchSvcEvent } from "./events.ts";
import { Misconfiguration, warnAboutRefusal, warnOwner } from "./misconfiguration.ts";
import { callForm, queryPage } from "./native-form.ts";
import { captureFormState, resubmitForm } from "./resubmission.ts";
import {
  type Submission,
  findConsentBoxes,
  getCurrentValues,
  forgetAttempt,
  forgetClicks,
  recordClick,
  buildSubmission,
} from "./submission.ts";

export type GetConfigs = () => Config[];

/** The forms that are being certified, each with a function that stops holding the form without submitting it. */
const heldForms = new Map<HTMLFormElement, () => void>();
/** Forms that are being submitted again after they were held. */
const resubmittingForms = new WeakSet<HTMLFormElement>();
/** Forms whose submit() method this script has replaced. */
const hookedForms = new WeakSet<HTMLFormElement>();

export function watchForms(configs: GetConfigs): void {
  addEventListener("submit", (event) => isForm(event.target) && handleSubmit(event, event.target, configs), true);
  addEventListener("click", recordClick, true);
  addEventListener("change", ({ target }) => handleChange(target as HTMLInputElement, configs), true);
  addEventListener("reset", ({ target }) => isForm(target) && handleReset(target, configs), true);
  // The browser restored the page from the back-forward cache, so the earlier submission is over and its certificate is used. Releases
  // held forms and forgets their submissions.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const unhold of heldForms.values()) unhold();
    for (const form of queryPage<HTMLFormElement>("form")) forgetSubmission(form, configs);
  });
  // Pages that call form.submit() opt in to the hook. A form may be added late, but it exists by the time the visitor interacts with it, so
  // forms are hooked at every interaction.
  hookForms(configs);
  for (const moment of ["DOMContentLoaded", "focusin", "click"]) addEventListener(moment, () => hookForms(configs), true);
}

/** Certifies the current values without submitting the form. Returns null if consent is not given or anything fails. */
export async function certifyForm(form: HTMLFormElement, config: Config): Promise<CertificateReceipt | null> {
  detachCertificate(form, config);
  const submission = prepareSubmission(form, config);
  return submission && applyResult(form, config, submission, await requestCertificate(config, submission.body));
}

export function hookForms(configs: GetConfigs): void {
  // Searches for forms only if a configuration needs the hook, because `hookForms` runs on every click and a page may have hundreds of
  // forms.
  for (const config of configs()) {
    if (config.hooksSubmit) for (const form of queryPage<HTMLFormElement>("form")) hookSubmitMethod(form, config, configs);
  }
}

function findConfig(form: HTMLFormElement, configs: GetConfigs): Config | undefined {
  return configs().find((config) => isTargetForm(config, form));
}

/** Some components dispatch `submit` or `reset` events from elements that are not forms. */
function isForm(target: EventTarget | null): target is HTMLFormElement {
  return target instanceof HTMLFormElement;
}

function handleSubmit(event: SubmitEvent, form: HTMLFormElement, configs: GetConfigs): void {
  if (resubmittingForms.has(form)) return;
  const config = findConfig(form, configs);
  if (!config) {
    configs().forEach(warnAboutMissingForm);
    return;
  }
  if (!event.isTrusted) {
    // A script dispatched the event and usually calls form.submit() next. Unless submit() is hooked, that submission cannot wait for a
    // certificate, so a certificate for other values must be removed from the form.
    if (!isCertified(form, config)) detachCertificate(form, config);
    return;
  }
  const submitter = event.submitter as HTMLButtonElement | null;
  let isHeld = heldForms.has(form); // true for the second click of a double click, which is ignored
  if (!isHeld) {
    detachCertificate(form, config);
    // A cancel button (formmethod=dialog in a form that posts) closes the dialog and submits nothing.
    if (event.defaultPrevented || submitter?.formMethod === "dialog") return;
    isHeld = holdSubmission(form, config, submitter, () => resubmitForm(form, submitter));
  }
  if (isHeld) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** Records the disclosure when a consent box changes, which may happen long before the submission. */
function handleChange(box: HTMLInputElement, configs: GetConfigs): void {
  const config = isForm(box.form) && findConfig(box.form, configs);
  try {
    if (config && findConsentBoxes(box.form, config).includes(box)) recordDisclosure(box.form, config.options);
  } catch {
    // An invalid selector is reported later, when the form is submitted.
  }
}

/** Returns the submission to certify, or null to send the form without a certificate. */
function prepareSubmission(form: HTMLFormElement, config: Config): Submission | null {
  try {
    return buildSubmission(form, config) || null;
  } catch (error) {
    const { message } = error as Error;
    dispatchSvcEvent(form, "svc:consent-error", { code: "config", message });
    if (error instanceof Misconfiguration) warnOwner(message);
    return null;
  }
}

/**
 * Returns false if there is nothing to certify. Otherwise, holds the form, and calls `send` once the request has ended, whether or not
 * there is a certificate. `send` is not called if the browser restores the page from the back-forward cache first.
 */
function holdSubmission(form: HTMLFormElement, config: Config, submitter: HTMLButtonElement | null, send: () => void): boolean {
  const submission = prepareSubmission(form, config);
  if (!submission) return false;

  const runAsSubmitted = captureFormState(form, submitter);
  // Keeps an aria-busy attribute that the page's own click handler has set.
  const isAlreadyBusy = callForm(form, "hasAttribute", "aria-busy");
  const unhold = () => {
    heldForms.delete(form);
    if (!isAlreadyBusy) callForm(form, "removeAttribute", "aria-busy");
  };
  heldForms.set(form, unhold);
  if (!isAlreadyBusy) callForm(form, "setAttribute", "aria-busy", "true");

  const release = (outcome: ApiResult<CertificateReceipt>) => {
    if (heldForms.get(form) !== unhold) return;
    runAsSubmitted(() => {
      try {
        applyResult(form, config, submission, outcome);
      } finally {
        unhold();
        runResubmission(form, send);
      }
    });
  };
  // The release runs in a new task, because the browser silently drops a second submission in the same task or microtask as the first one.
  void requestCertificate(config, submission.body).then((outcome) => setTimeout(() => release(outcome)));
  return true;
}

function runResubmission(form: HTMLFormElement, send: () => void): void {
  resubmittingForms.add(form);
  try {
    send();
  } finally {
    resubmittingForms.delete(form);
  }
}

/** If the form still has the certified values, attaches the certificate. Dispatches the event for the result. */
function applyResult(
  form: HTMLFormElement,
  config: Config,
  submission: Submission,
  outcome: ApiResult<CertificateReceipt>,
): CertificateReceipt | null {
  const { data: receipt, problem } = outcome;
  if (!receipt || getCurrentValues(form, config) !== submission.values) {
    dispatchSvcEvent(form, "svc:consent-error", problem || { code: "values_changed" });
    if (problem) warnAboutRefusal(problem.code);
    return null;
  }
  const { cert_id, fingerprint, verify_url } = receipt;
  attachCertificate(form, config, receipt, submission.values);
  // Every script on the page can listen to this event, so it contains nothing with which a script could withdraw the consent.
  dispatchSvcEvent(form, "svc:consent", { cert_id, fingerprint, verify_url });
  return receipt;
}

function hookSubmitMethod(form: HTMLFormElement, hookConfig: Config, configs: GetConfigs): void {
  // `form.submit` is not a function if an input is named "submit". Scripts of the page then cannot call it either.
  if (!isTargetForm(hookConfig, form) || hookedForms.has(form) || typeof form.submit !== "function") return;
  hookedForms.add(form);
  const submit = form.submit; // this may be the page's own replacement
  const send = () => submit.call(form);
  form.submit = () => {
    if (heldForms.has(form)) return;
    const config = findConfig(form, configs);
    if (config && isCertified(form, config)) return send();
    detachCertificate(form, config);
    if (!config || !holdSubmission(form, config, null, send)) send();
  };
}

/** Returns true if the attached certificate covers the current values. */
function isCertified(form: HTMLFormElement, config: Config): boolean {
  const values = getCertifiedValues(form);
  return values !== undefined && values === getCurrentValues(form, config);
}

function handleReset(form: HTMLFormElement, configs: GetConfigs): void {
  forgetSubmission(form, configs);
  forgetDisclosure(form);
  forgetClicks(form);
}

function forgetSubmission(form: HTMLFormElement, configs: GetConfigs): void {
  detachCertificate(form, findConfig(form, configs));
  forgetAttempt(form);
}
