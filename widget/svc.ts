// Entry of {cdn_url}/v1/svc.js: the script tags of the page and Svc.initConsent, one instance per window.
// Nothing is read, sent or stored before a form is submitted.

import { type Config, type ConsentOptions, configFrom, configOfTag, consentTags, isMeant, ownScriptAddress } from "./attributes.ts";
import type { Receipt } from "./capture.ts";
import { certify, hookForms, watchForms } from "./form.ts";
import { onPage } from "./native-form.ts";
import { widgetVersion } from "./submission.ts";

interface Handle {
  certify(form?: HTMLFormElement): Promise<Receipt | null>;
  destroy(): void;
}

interface Svc {
  v?: string;
  initConsent?(options: ConsentOptions): Handle;
  /** Before this script arrives a page may leave its options here: window.Svc = { q: [options] }. */
  q?: ConsentOptions[];
}

declare global {
  interface Window {
    Svc?: Svc;
  }
}

const before = window.Svc || {};
// Two live instances would hold back each other's re-submissions without end.
if (!before.v) start(before.q || []);

function start(queue: ConsentOptions[]): void {
  const scriptAddress = ownScriptAddress();
  const initialized = new Set<Config>();
  const tags = new Set<HTMLScriptElement>();
  // Without these two the second pass is impossible: define the API, leave every form alone.
  const isSupported = "requestSubmit" in HTMLFormElement.prototype && "AbortController" in window;

  // Looked up again at each submit: tag managers add tags late, and loaders remove theirs once it has run.
  const configs = () => {
    for (const tag of consentTags()) tags.add(tag);
    return [...initialized, ...Array.from(tags, configOfTag)];
  };

  const initConsent = (options: ConsentOptions): Handle => {
    const config = configFrom(options, scriptAddress);
    initialized.add(config);
    if (isSupported) hookForms(configs);
    return {
      async certify(form = onPage<HTMLFormElement>("form").find((each) => isMeant(config, each))) {
        return form ? certify(form, config) : null;
      },
      destroy() {
        initialized.delete(config);
      },
    };
  };

  window.Svc = { v: widgetVersion, initConsent };
  for (const tag of consentTags()) tags.add(tag);
  if (isSupported) watchForms(configs);
  queue.forEach(initConsent);
}
