// The DOM events the page can listen to. They bubble from the form, so one listener on document serves every form.

import { callForm } from "./native-form.ts";

export interface Problem {
  code: string;
  message?: string | undefined;
  request_id?: string | undefined;
}

/** A listener that throws is reported by the browser and does not come back here. */
export function announce(form: HTMLFormElement, type: "svc:consent" | "svc:consent-error", detail: object): void {
  callForm(form, "dispatchEvent", new CustomEvent(type, { bubbles: true, detail }));
}
