// The forms that the service found in a page's source. The field mapping is built from them. All of this text is untrusted: the service
// compares and copies it but never interprets it.

export interface FormControl {
  readonly tag: "input" | "select" | "textarea";
  /** The type as in the DOM: `text` if it is missing or unknown, `select-one` for a list. */
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
  /** The value of `data-svc-field`; null if the attribute is missing. */
  readonly svcField: string | null;
  /** The value of `data-sp1-entity`; null if the attribute is missing. */
  readonly entity: string | null;
  /** A selector that matches this control and is certain to match no other control in the form; null if there is none. */
  readonly selector: string | null;
  readonly labelSelector: string | null;
}

/** An element of the form that shows text. */
export interface FormText {
  readonly selector: string | null;
  readonly text: string;
  /** True if it is an inline element, which may be only part of a sentence. */
  readonly isInline: boolean;
}

export interface PageForm {
  /** A selector that matches this form and is certain to match no other form on the page; null if there is none. */
  readonly selector: string | null;
  readonly isSearch: boolean;
  readonly controls: readonly FormControl[];
  readonly texts: readonly FormText[];
}

/** A script tag with a client ID. It loads this service's script only if `src` is that script's URL. */
export interface ScriptTag {
  readonly src: string;
  readonly clientId: string;
  readonly nonce: string | null;
}

export interface FormPage {
  /** True if the service stopped parsing the page because it is too complex. */
  readonly isTooComplex: boolean;
  readonly forms: readonly PageForm[];
  readonly scriptTags: readonly ScriptTag[];
}
