// Holds a submission while it is certified, then lets it go. One capturing listener on window decides per event, so
// late, re-rendered and script-driven forms need no binding, and the page's own handlers see exactly one submit event,
// with svc_cert_id already in the form.

import type { Outcome } from "./api-call.ts";
import { type Config, isMeant, tellOfMissingForm } from "./attributes.ts";
import { type Receipt, capture } from "./capture.ts";
import { attachCertificate, certifiedValues, detachCertificate } from "./certificate-input.ts";
import { forgetDisclosure, noteDisclosure } from "./disclosure.ts";
import { announce } from "./events.ts";
import { Misconfiguration, tellOfRefusal, tellOwner } from "./misconfiguration.ts";
import { callForm, onPage } from "./native-form.ts";
import { asSubmitted, submitAgain } from "./second-pass.ts";
import { type Submission, currentValues, forgetAttempt, forgetClicks, noteClick, submissionOf } from "./submission.ts";

/** What the page asks for at this moment. */
export type Configs = () => Config[];

/** Forms held back now, with what gives them back unsent; at most a budget long each. */
const waiting = new Map<HTMLFormElement, () => void>();
/** Forms whose second submit event is running now. */
const passing = new WeakSet<HTMLFormElement>();
/** Forms whose submit method is ours. */
const hooked = new WeakSet<HTMLFormElement>();

export function watchForms(configs: Configs): void {
  addEventListener("submit", (event) => isForm(event.target) && onSubmit(event, event.target, configs), true);
  addEventListener("click", noteClick, true);
  addEventListener("change", ({ target }) => onTick(target as HTMLInputElement, configs), true);
  addEventListener("reset", ({ target }) => isForm(target) && onReset(target, configs), true);
  // Back from the back-forward cache: what was submitted has gone, and what was waiting was left behind.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    for (const giveBack of [...waiting.values()]) giveBack();
    for (const form of onPage<HTMLFormElement>("form")) startOver(form, configs);
  });
  // Opt-in, for pages that call form.submit(). Forms may arrive late, but not later than the visitor's first touch.
  hookForms(configs);
  for (const moment of ["DOMContentLoaded", "focusin", "click"]) addEventListener(moment, () => hookForms(configs), true);
}

/** Certifies what the form holds now without submitting it; null when consent is not given or anything fails. */
export async function certify(form: HTMLFormElement, config: Config): Promise<Receipt | null> {
  detachCertificate(form, config);
  const submission = prepare(form, config);
  return submission && settle(form, config, submission, await capture(config, submission.body));
}

export function hookForms(configs: Configs): void {
  // Each click comes here: a page of hundreds of forms that asks for no hook must not be walked.
  for (const config of configs()) {
    if (config.isHooked) for (const form of onPage<HTMLFormElement>("form")) hookSubmitMethod(form, config, configs);
  }
}

function configOf(form: HTMLFormElement, configs: Configs): Config | undefined {
  return configs().find((config) => isMeant(config, form));
}

/** Components dispatch events of these names too, from elements that are no forms. */
function isForm(target: EventTarget | null): target is HTMLFormElement {
  return target instanceof HTMLFormElement;
}

function onSubmit(event: SubmitEvent, form: HTMLFormElement, configs: Configs): void {
  if (passing.has(form)) return;
  const config = configOf(form, configs);
  if (!config) {
    configs().forEach(tellOfMissingForm);
    return;
  }
  if (!event.isTrusted) {
    // A script's own event, usually followed by form.submit(). Not ours to hold, but the certificate of other values
    // must not ride along.
    if (!isCertified(form, config)) detachCertificate(form, config);
    return;
  }
  const submitter = event.submitter as HTMLButtonElement | null;
  let isHeld = waiting.has(form); // the second half of a double click
  if (!isHeld) {
    detachCertificate(form, config);
    // A cancel button (formmethod=dialog in a form that posts) closes the dialog and submits nothing.
    if (event.defaultPrevented || submitter?.formMethod === "dialog") return;
    isHeld = hold(form, config, submitter, () => submitAgain(form, submitter));
  }
  if (isHeld) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** The moment of consent, which may be long before the submission: what stands beside the box is remembered. */
function onTick(box: HTMLInputElement, configs: Configs): void {
  const config = isForm(box.form) && configOf(box.form, configs);
  try {
    if (config && box.matches(String(config.options.checkboxSelector))) noteDisclosure(box.form, config.options);
  } catch {
    // A selector that is none: told at the submission.
  }
}

/** What to certify, or null: the form then goes out as it is. */
function prepare(form: HTMLFormElement, config: Config): Submission | null {
  try {
    return submissionOf(form, config) || null;
  } catch (error) {
    const { message } = error as Error;
    announce(form, "svc:consent-error", { code: "config", message });
    if (error instanceof Misconfiguration) tellOwner(message);
    return null;
  }
}

/** False when there is nothing to certify. Otherwise `send` is called once, whatever becomes of the certificate. */
function hold(form: HTMLFormElement, config: Config, submitter: HTMLButtonElement | null, send: () => void): boolean {
  const submission = prepare(form, config);
  if (!submission) return false;

  const runAsSubmitted = asSubmitted(form, submitter);
  // A page that marks the form itself, from its own click handler, keeps its mark.
  const isMarked = callForm(form, "hasAttribute", "aria-busy");
  const giveBack = () => {
    waiting.delete(form);
    if (!isMarked) callForm(form, "removeAttribute", "aria-busy");
  };
  waiting.set(form, giveBack);
  if (!isMarked) callForm(form, "setAttribute", "aria-busy", "true");

  const release = (outcome: Outcome<Receipt>) => {
    if (waiting.get(form) !== giveBack) return;
    runAsSubmitted(() => {
      try {
        settle(form, config, submission, outcome);
      } finally {
        giveBack();
        pass(form, send);
      }
    });
  };
  // Always a new task: the browser silently drops a re-submission made in the task or a microtask of the first one.
  void capture(config, submission.body).then((outcome) => setTimeout(() => release(outcome)));
  return true;
}

function pass(form: HTMLFormElement, send: () => void): void {
  passing.add(form);
  try {
    send();
  } finally {
    passing.delete(form);
  }
}

/** Attaches the certificate and tells the page, or tells it why not. The last look at the values is here. */
function settle(form: HTMLFormElement, config: Config, submission: Submission, outcome: Outcome<Receipt>): Receipt | null {
  const { data: receipt, problem } = outcome;
  if (!receipt || currentValues(form, config) !== submission.values) {
    announce(form, "svc:consent-error", problem || { code: "values_changed" });
    if (problem) tellOfRefusal(problem.code);
    return null;
  }
  const { cert_id, fingerprint, verify_url } = receipt;
  attachCertificate(form, config, receipt, submission.values);
  // Every script of the page can hear this, so nothing in it may withdraw the consent.
  announce(form, "svc:consent", { cert_id, fingerprint, verify_url });
  return receipt;
}

function hookSubmitMethod(form: HTMLFormElement, meant: Config, configs: Configs): void {
  // Where an input named "submit" shadows the method, there is nothing to hook.
  if (!isMeant(meant, form) || hooked.has(form) || typeof form.submit !== "function") return;
  hooked.add(form);
  const submit = form.submit; // the page's own replacement, if it has one
  const send = () => submit.call(form);
  form.submit = () => {
    if (waiting.has(form)) return;
    const config = configOf(form, configs);
    if (config && isCertified(form, config)) return send();
    detachCertificate(form, config);
    if (!config || !hold(form, config, null, send)) send();
  };
}

/** True when the form carries the certificate of what it holds now. */
function isCertified(form: HTMLFormElement, config: Config): boolean {
  const values = certifiedValues(form);
  return values !== undefined && values === currentValues(form, config);
}

/** A reset takes the tick back, and with it what was displayed beside it. */
function onReset(form: HTMLFormElement, configs: Configs): void {
  startOver(form, configs);
  forgetDisclosure(form);
  forgetClicks(form);
}

function startOver(form: HTMLFormElement, configs: Configs): void {
  detachCertificate(form, configOf(form, configs));
  forgetAttempt(form);
}
