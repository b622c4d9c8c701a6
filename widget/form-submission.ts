// Holds a submission while it is certified, then lets it go. One capturing listener on window decides per event, so
// late, re-rendered and script-driven forms need no binding, and the page's own handlers see exactly one submit event,
// with svc_cert_id already in the form.

import type { ApiResult } from "./api-call.ts";
import { type Config, isTargetForm, warnAboutMissingForm } from "./config.ts";
import { type CertificateReceipt, requestCertificate } from "./certificate-request.ts";
import { attachCertificate, getCertifiedValues, detachCertificate } from "./certificate-input.ts";
import { forgetDisclosure, recordDisclosure } from "./disclosure.ts";
import { dispatchSvcEvent } from "./events.ts";
import { Misconfiguration, warnAboutRefusal, warnOwner } from "./misconfiguration.ts";
import { callForm, queryPage } from "./native-form.ts";
import { captureFormState, resubmitForm } from "./resubmission.ts";
import { type Submission, getCurrentValues, forgetAttempt, forgetClicks, recordClick, buildSubmission } from "./submission.ts";

/** What the page asks for at this moment. */
export type GetConfigs = () => Config[];

/** Forms held back now, with what gives them back unsent; at most a budget long each. */
const heldForms = new Map<HTMLFormElement, () => void>();
/** Forms whose second submit event is running now. */
const resubmittingForms = new WeakSet<HTMLFormElement>();
/** Forms whose submit method is ours. */
const hookedForms = new WeakSet<HTMLFormElement>();

export function watchForms(configs: GetConfigs): void {
  addEventListener("submit", (event) => isForm(event.target) && handleSubmit(event, event.target, configs), true);
  addEventListener("click", recordClick, true);
  addEventListener("change", ({ target }) => handleChange(target as HTMLInputElement, configs), true);
  addEventListener("reset", ({ target }) => isForm(target) && handleReset(target, configs), true);
  // Back from the back-forward cache: what was submitted has gone, and what was waiting was left behind.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const giveBack of [...heldForms.values()]) giveBack();
    for (const form of queryPage<HTMLFormElement>("form")) forgetSubmission(form, configs);
  });
  // Opt-in, for pages that call form.submit(). Forms may arrive late, but not later than the visitor's first touch.
  hookForms(configs);
  for (const moment of ["DOMContentLoaded", "focusin", "click"]) addEventListener(moment, () => hookForms(configs), true);
}

/** Certifies what the form holds now without submitting it; null when consent is not given or anything fails. */
export async function certifyForm(form: HTMLFormElement, config: Config): Promise<CertificateReceipt | null> {
  detachCertificate(form, config);
  const submission = prepareSubmission(form, config);
  return submission && applyResult(form, config, submission, await requestCertificate(config, submission.body));
}

export function hookForms(configs: GetConfigs): void {
  // Each click comes here: a page of hundreds of forms that asks for no hook must not be walked.
  for (const config of configs()) {
    if (config.hooksSubmit) for (const form of queryPage<HTMLFormElement>("form")) hookSubmitMethod(form, config, configs);
  }
}

function findConfig(form: HTMLFormElement, configs: GetConfigs): Config | undefined {
  return configs().find((config) => isTargetForm(config, form));
}

/** Components dispatch events of these names too, from elements that are no forms. */
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
    // A script's own event, usually followed by form.submit(). Not ours to hold, but the certificate of other values
    // must not ride along.
    if (!isCertified(form, config)) detachCertificate(form, config);
    return;
  }
  const submitter = event.submitter as HTMLButtonElement | null;
  let isHeld = heldForms.has(form); // the second half of a double click
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

/** The moment of consent, which may be long before the submission: what stands beside the box is remembered. */
function handleChange(box: HTMLInputElement, configs: GetConfigs): void {
  const config = isForm(box.form) && findConfig(box.form, configs);
  try {
    if (config && box.matches(String(config.options.checkboxSelector))) recordDisclosure(box.form, config.options);
  } catch {
    // A selector that is none: told at the submission.
  }
}

/** What to certify, or null: the form then goes out as it is. */
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

/** False when there is nothing to certify. Otherwise `send` is called once, whatever becomes of the certificate. */
function holdSubmission(form: HTMLFormElement, config: Config, submitter: HTMLButtonElement | null, send: () => void): boolean {
  const submission = prepareSubmission(form, config);
  if (!submission) return false;

  const runAsSubmitted = captureFormState(form, submitter);
  // A page that marks the form itself, from its own click handler, keeps its mark.
  const isMarked = callForm(form, "hasAttribute", "aria-busy");
  const giveBack = () => {
    heldForms.delete(form);
    if (!isMarked) callForm(form, "removeAttribute", "aria-busy");
  };
  heldForms.set(form, giveBack);
  if (!isMarked) callForm(form, "setAttribute", "aria-busy", "true");

  const release = (outcome: ApiResult<CertificateReceipt>) => {
    if (heldForms.get(form) !== giveBack) return;
    runAsSubmitted(() => {
      try {
        applyResult(form, config, submission, outcome);
      } finally {
        giveBack();
        runResubmission(form, send);
      }
    });
  };
  // Always a new task: the browser silently drops a re-submission made in the task or a microtask of the first one.
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

/** Attaches the certificate and tells the page, or tells it why not. The last look at the values is here. */
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
  // Every script of the page can hear this, so nothing in it may withdraw the consent.
  dispatchSvcEvent(form, "svc:consent", { cert_id, fingerprint, verify_url });
  return receipt;
}

function hookSubmitMethod(form: HTMLFormElement, meant: Config, configs: GetConfigs): void {
  // Where an input named "submit" shadows the method, there is nothing to hook.
  if (!isTargetForm(meant, form) || hookedForms.has(form) || typeof form.submit !== "function") return;
  hookedForms.add(form);
  const submit = form.submit; // the page's own replacement, if it has one
  const send = () => submit.call(form);
  form.submit = () => {
    if (heldForms.has(form)) return;
    const config = findConfig(form, configs);
    if (config && isCertified(form, config)) return send();
    detachCertificate(form, config);
    if (!config || !holdSubmission(form, config, null, send)) send();
  };
}

/** True when the form carries the certificate of what it holds now. */
function isCertified(form: HTMLFormElement, config: Config): boolean {
  const values = getCertifiedValues(form);
  return values !== undefined && values === getCurrentValues(form, config);
}

/** A reset takes the tick back, and with it what was displayed beside it. */
function handleReset(form: HTMLFormElement, configs: GetConfigs): void {
  forgetSubmission(form, configs);
  forgetDisclosure(form);
  forgetClicks(form);
}

function forgetSubmission(form: HTMLFormElement, configs: GetConfigs): void {
  detachCertificate(form, findConfig(form, configs));
  forgetAttempt(form);
}
