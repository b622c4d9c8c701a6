// The forms on a page as found in its source, from which a field mapping is built. All of this is untrusted text: it is compared and
// copied, never interpreted.

export interface FormControl {
  readonly tag: "input" | "select" | "textarea";
  /** As in the DOM: `text` if missing or unknown, `select-one` for a list. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly autocomplete: string;
  readonly placeholder: string;
  readonly ariaLabel: string;
  readonly label: string;
  /** The value of a checkbox. */
  readonly value: string;
  readonly isDisabled: boolean;
  readonly isChecked: boolean;
  /** `data-svc-field`; null if absent. */
  readonly svcField: string | null;
  /** `data-sp1-entity`; null if absent. */
  readonly entity: string | null;
  /** Matches only this control in the form; null if no selector is certain to. */
  readonly selector: string | null;
  /** Selector of its label. */
  readonly labelSelector: string | null;
}

/** An element of the form that shows text. */
export interface FormText {
  readonly selector: string | null;
  readonly text: string;
  /** Whether it is an inline element, which may be only part of a sentence. */
  readonly isInline: boolean;
}

export interface PageForm {
  /** Matches only this form on the page; null if no selector is certain to. */
  readonly selector: string | null;
  readonly isSearch: boolean;
  readonly controls: readonly FormControl[];
  readonly texts: readonly FormText[];
}

/** A script on the page that has a client ID. It belongs to the service if its URL does. */
export interface ScriptTag {
  readonly src: string;
  readonly clientId: string;
  readonly nonce: string | null;
}

export interface FormPage {
  /** Whether the service stopped parsing the page because it exceeded the work limit for a page. */
  readonly isTooComplex: boolean;
  readonly forms: readonly PageForm[];
  readonly scriptTags: readonly ScriptTag[];
}
