// Entry of {cdn_url}/v1/svc.js: the script tags of the page and Svc.initConsent, one instance per window.
// Nothing is read, sent or stored before a form is submitted. Share mode is a file of its own, loaded where it is asked for.

import { type Config, type ConsentOptions, configFrom, configOfTag, isMeant, ownScriptAddress, tagsOf } from "./attributes.ts";
import type { Receipt } from "./capture.ts";
import { identifiedIn } from "./fields.ts";
import { certify, hookForms, watchForms } from "./form.ts";
import { tellOwner } from "./misconfiguration.ts";
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

/** Name of the share part, with its hash: the two files are built together and fit each other. */
declare const SHARE_FILE: string;

const before = window.Svc || {};
const ownAddress = ownScriptAddress();
// Two live instances would hold back each other's re-submissions without end.
if (!before.v) start(before.q || []);
// Each copy of the script looks for share tags: the first may have run before this one's tag was there.
offerShares();
if (document.readyState === "loading") addEventListener("DOMContentLoaded", offerShares);

function offerShares(): void {
  const tags = tagsOf("share");
  if (!ownAddress || (!tags.length && !/[?&]svc_state=/.test(location.search))) return;
  const loaded: Promise<typeof import("./share/share.ts")> = import(new URL(`/v1/${SHARE_FILE}`, ownAddress).href);
  loaded.then(({ offer }) => offer(tags, ownAddress, identifiedIn)).catch(() => tellOwner("the share part could not be loaded"));
}

function start(queue: ConsentOptions[]): void {
  const initialized = new Set<Config>();
  const tags = new Set<HTMLScriptElement>();
  // Without these two the second pass is impossible: define the API, leave every form alone.
  const isSupported = "requestSubmit" in HTMLFormElement.prototype && "AbortController" in window;

  // Looked up again at each submit: tag managers add tags late, and loaders remove theirs once it has run.
  const configs = () => {
    for (const tag of tagsOf("consent")) tags.add(tag);
    return [...initialized, ...Array.from(tags, configOfTag)];
  };

  const initConsent = (options: ConsentOptions): Handle => {
    const config = configFrom(options, ownAddress);
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
  for (const tag of tagsOf("consent")) tags.add(tag);
  if (isSupported) watchForms(configs);
  queue.forEach(initConsent);
}
