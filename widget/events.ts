// The widget's DOM events. They are dispatched on the form or, if a share button has no form, on the button or document. They bubble, so a
// page needs only one listener on document.

export interface Problem {
  code: string;
  message?: string | undefined;
  request_id?: string | undefined;
}

type SvcEventType = "svc:consent" | "svc:consent-error" | "svc:share" | "svc:share-error" | "svc:closed";

/** Dispatches an event. Never throws: browsers catch and report errors that listeners throw. */
export function dispatchSvcEvent(from: EventTarget, type: SvcEventType, detail: object): void {
  // Called on the prototype, because an input named "dispatchEvent" would shadow the form's method.
  EventTarget.prototype.dispatchEvent.call(from, new CustomEvent(type, { bubbles: true, detail }));
}
