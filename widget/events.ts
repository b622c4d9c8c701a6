// The DOM events the page can listen to. They bubble from the form, so one listener on document serves every form.

export interface Problem {
  code: string;
  message?: string | undefined;
  request_id?: string | undefined;
}

type SvcEventType = "svc:consent" | "svc:consent-error" | "svc:share" | "svc:share-error" | "svc:closed";

/** A listener that throws is reported by the browser and does not come back here. */
export function dispatchSvcEvent(from: EventTarget, type: SvcEventType, detail: object): void {
  // The prototype's method: an input named "dispatchEvent" shadows that of its form.
  EventTarget.prototype.dispatchEvent.call(from, new CustomEvent(type, { bubbles: true, detail }));
}
