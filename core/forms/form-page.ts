// The forms of a page as its source has them: what a mapping chooses from, and nothing else. Whatever stands here was written by
// strangers; it is compared and copied, never obeyed.

export interface FormControl {
  readonly tag: "input" | "select" | "textarea";
  /** As a browser names it: `text` where none or an unknown one is given, `select-one` for a list. */
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly autocomplete: string;
  readonly placeholder: string;
  readonly ariaLabel: string;
  readonly label: string;
  /** Of a checkbox. */
  readonly value: string;
  readonly isDisabled: boolean;
  readonly isChecked: boolean;
  /** `data-svc-field`; null where it is not given. */
  readonly svcField: string | null;
  /** `data-sp1-entity`; null where it is not given. */
  readonly entity: string | null;
  /** Matches this control and no other of the form; null where none is sure to. */
  readonly selector: string | null;
  /** Of its label. */
  readonly labelSelector: string | null;
}

/** An element of the form that shows text. */
export interface FormText {
  readonly selector: string | null;
  readonly text: string;
  /** An element that runs within a line: it may be only a part of what is said. */
  readonly isInline: boolean;
}

export interface PageForm {
  /** Matches this form and no other of the page; null where none is sure to. */
  readonly selector: string | null;
  readonly isSearch: boolean;
  readonly controls: readonly FormControl[];
  readonly texts: readonly FormText[];
}

/** A script of the page that says which client it is of: ours, if its address is. */
export interface ScriptTag {
  readonly src: string;
  readonly clientId: string;
  readonly nonce: string | null;
}

export interface FormPage {
  readonly forms: readonly PageForm[];
  readonly scriptTags: readonly ScriptTag[];
}
