// Entry point of {cdn_url}/v1/svc.js: handles script tags and Svc.initConsent. Only one instance per window handles forms. It reads no
// values and sends nothing before a form is submitted or the page calls certify(). Share mode is a separate file that is loaded only if the
// page has a share tag or its URL contains a response from the consent sheet.

import { type Config, type ConsentOptions, createConfig, configFromTag, isTargetForm, getOwnScriptUrl, findTags } from "./config.ts";
import type { CertificateReceipt } from "./certificate-request.ts";
import { identifyControls } from "./fields.ts";
import { certifyForm, hookForms, watchForms } from "./form-submission.ts";
import { warnOwner } from "./misconfiguration.ts";
import { formPrototype, queryPage } from "./native-form.ts";
import { widgetVersion } from "./submission.ts";

interface ConsentHandle {
  certify(form?: HTMLFormElement): Promise<CertificateReceipt | null>;
  destroy(): void;
}

interface Svc {
  v?: string;
  initConsent?(options: ConsentOptions): ConsentHandle;
  /** The options that the page queued before this script was loaded: window.Svc = { q: [options] }. */
  q?: ConsentOptions[];
}

declare global {
  interface Window {
    Svc?: Svc;
  }
}

/** The file name of the share part. It contains a hash, so that svc.js always loads the version it was built with. */
declare const SHARE_FILE: string;

const existingSvc = window.Svc || {};
const ownScriptUrl = getOwnScriptUrl();
// Only one instance handles forms. If there were two, each would hold the submission that the other one sends again, and the form would
// never be submitted.
if (!existingSvc.v) startConsent(existingSvc.q || []);
// Each copy of the script looks for share tags, because the tag of this copy may not have existed when the first copy ran.
loadShareButtons();
addEventListener("DOMContentLoaded", loadShareButtons);

function loadShareButtons(): void {
  const tags = findTags("share");
  if (!ownScriptUrl || (!tags.length && !/[?&]svc_state=/.test(location.search))) return;
  const loaded: Promise<typeof import("./share/share.ts")> = import(new URL(`/v1/${SHARE_FILE}`, ownScriptUrl).href);
  loaded
    .then(({ addShareButtons }) => addShareButtons(tags, ownScriptUrl, identifyControls))
    .catch(() => warnOwner("svc-share.js is not loaded: allow it in your CSP"));
}

function startConsent(queue: ConsentOptions[]): void {
  let initialized: Config[] = [];
  let tags: HTMLScriptElement[] = [];
  // The browser needs these two features to certify a submission and send it again. If one is missing, the API is defined, but forms are
  // not touched.
  const isSupported = "requestSubmit" in formPrototype && "AbortController" in window;

  // Tags are looked up on each call, because tag managers add tags late. They are also remembered, because loaders remove their tag after
  // it has run. Tags that are still on the page take precedence, because a page that replaces its content also replaces its tag.
  const configs = () => {
    tags = [...new Set([...findTags("consent"), ...tags])];
    return [...initialized, ...tags.map((tag) => configFromTag(tag))];
  };

  const initConsent = (options: ConsentOptions): ConsentHandle => {
    const config = createConfig(options, ownScriptUrl);
    initialized = [config, ...initialized];
    if (isSupported) hookForms(configs);
    return {
      async certify(form = queryPage<HTMLFormElement>("form").find((each) => isTargetForm(config, each))) {
        return form ? certifyForm(form, config) : null;
      },
      destroy() {
        initialized = initialized.filter((each) => each !== config);
      },
    };
  };

  window.Svc = { v: widgetVersion, initConsent };
  if (isSupported) watchForms(configs);
  queue.forEach(initConsent);
}
