// The DOM events of the widget. They bubble from the form, so a page needs one listener on document.

export interface Problem {
  code: string;
  message?: string | undefined;
  request_id?: string | undefined;
}

type SvcEventType = "svc:consent" | "svc:consent-error" | "svc:share" | "svc:share-error" | "svc:closed";

/** Never throws: the browser reports errors of listeners itself. */
export function dispatchSvcEvent(from: EventTarget, type: SvcEventType, detail: object): void {
  // Called on the prototype because an input named "dispatchEvent" shadows the method of its form.
  EventTarget.prototype.dispatchEvent.call(from, new CustomEvent(type, { bubbles: true, detail }));
}
