// Entry of {cdn_url}/v1/svc.js: the script tags of the page and Svc.initConsent, one instance per window.
// Nothing is read, sent or stored before a form is submitted. Share mode is a file of its own, loaded where it is asked for.

import { type Config, type ConsentOptions, createConfig, configFromTag, isTargetForm, getOwnScriptUrl, findTags } from "./config.ts";
import type { CertificateReceipt } from "./certificate-request.ts";
import { identifyControls } from "./fields.ts";
import { certifyForm, hookForms, watchForms } from "./form-submission.ts";
import { warnOwner } from "./misconfiguration.ts";
import { queryPage } from "./native-form.ts";
import { widgetVersion } from "./submission.ts";

interface ConsentHandle {
  certify(form?: HTMLFormElement): Promise<CertificateReceipt | null>;
  destroy(): void;
}

interface Svc {
  v?: string;
  initConsent?(options: ConsentOptions): ConsentHandle;
  /** Before this script arrives a page may leave its options here: window.Svc = { q: [options] }. */
  q?: ConsentOptions[];
}

declare global {
  interface Window {
    Svc?: Svc;
  }
}

/** Name of the share part, with its hash: the two files are built together and fit each other. */
declare const SHARE_FILE: string;

const existingSvc = window.Svc || {};
const ownScriptUrl = getOwnScriptUrl();
// Two live instances would hold back each other's re-submissions without end.
if (!existingSvc.v) startConsent(existingSvc.q || []);
// Each copy of the script looks for share tags: the first may have run before this one's tag was there.
loadShareButtons();
if (document.readyState === "loading") addEventListener("DOMContentLoaded", loadShareButtons);

function loadShareButtons(): void {
  const tags = findTags("share");
  if (!ownScriptUrl || (!tags.length && !/[?&]svc_state=/.test(location.search))) return;
  const loaded: Promise<typeof import("./share/share.ts")> = import(new URL(`/v1/${SHARE_FILE}`, ownScriptUrl).href);
  loaded
    .then(({ addShareButtons }) => addShareButtons(tags, ownScriptUrl, identifyControls))
    .catch(() => warnOwner("the share part could not be loaded"));
}

function startConsent(queue: ConsentOptions[]): void {
  const initialized = new Set<Config>();
  const tags = new Set<HTMLScriptElement>();
  // Without these two the second pass is impossible: define the API, leave every form alone.
  const isSupported = "requestSubmit" in HTMLFormElement.prototype && "AbortController" in window;

  // Looked up again at each submit: tag managers add tags late, and loaders remove theirs once it has run.
  const configs = () => {
    for (const tag of findTags("consent")) tags.add(tag);
    return [...initialized, ...Array.from(tags, configFromTag)];
  };

  const initConsent = (options: ConsentOptions): ConsentHandle => {
    const config = createConfig(options, ownScriptUrl);
    initialized.add(config);
    if (isSupported) hookForms(configs);
    return {
      async certify(form = queryPage<HTMLFormElement>("form").find((each) => isTargetForm(config, each))) {
        return form ? certifyForm(form, config) : null;
      },
      destroy() {
        initialized.delete(config);
      },
    };
  };

  window.Svc = { v: widgetVersion, initConsent };
  for (const tag of findTags("consent")) tags.add(tag);
  if (isSupported) watchForms(configs);
  queue.forEach(initConsent);
}
