// What the page asks for: the data attributes of a script tag, or the same names as options of Svc.initConsent,
// settled into one Config. Anything given but unusable certifies nothing; it never stops a form.

import { type FieldMap, parseFieldMap } from "./fields.ts";
import { warnOwner } from "./misconfiguration.ts";
import { callForm, queryPage } from "./native-form.ts";
import { parseEntities } from "./recipients.ts";

/** Every option is the camelCase of a data attribute; attributes give strings. */
export interface ConsentOptions {
  clientId?: string;
  purpose?: string;
  entities?: string | string[];
  form?: HTMLFormElement | string | null;
  formSelector?: string;
  checkboxSelector?: string;
  disclosureSelector?: string;
  disclosureText?: string;
  certificateInput?: string;
  fieldMap?: string | Record<string, string>;
  apiBase?: string;
  timeout?: number | string;
  programmaticSubmit?: boolean | string;
}

export interface Config {
  options: ConsentOptions;
  entities: string[];
  fieldMap: FieldMap;
  apiBase: string;
  timeoutMs: number;
  hooksSubmit: boolean;
}

/** svc.js, or the copy named after its own hash for pages that pin it. */
const ownScriptPattern = /\/svc(-[0-9a-f]{12})?\.js([?#]|$)/;

export function createConfig(options: ConsentOptions, scriptAddress: string): Config {
  const { apiBase, programmaticSubmit = false } = options;
  return {
    options,
    entities: parseEntities(options.entities),
    fieldMap: parseFieldMap(options.fieldMap),
    apiBase: apiBase || (scriptAddress && `${new URL(scriptAddress).origin}/v1`),
    // 3 s by default. Above about 5 s the browser takes a form that opens a new tab for a popup and drops the
    // submission, so 4.5 s is the ceiling; below half a second a first connection rarely makes it.
    timeoutMs: Math.min(4500, Math.max(500, Number(options.timeout) || 3000)),
    hooksSubmit: programmaticSubmit !== false && programmaticSubmit !== "false",
  };
}

/** What is not on the tag must not come from Object.prototype, where query strings read carelessly may have put it. */
export function configFromTag({ dataset, src }: HTMLScriptElement): Config {
  return createConfig(Object.assign(Object.create(null), dataset), src);
}

/**
 * Script tags that ask for a mode, whoever loaded them and whenever they arrived: ours by their address, and the
 * one running now under whatever address a site serves it.
 */
export function findTags(mode: "consent" | "share"): HTMLScriptElement[] {
  return queryPage<HTMLScriptElement>("script[data-client-id]").filter((tag) => isOwnTag(tag) && hasMode(tag, mode));
}

function hasMode(tag: HTMLScriptElement, wanted: string): boolean {
  const mode = tag.getAttribute("data-mode");
  // Said by the copy that watches the forms; every copy looks for share tags.
  if (wanted === "consent" && mode !== "consent" && mode !== "share") warnOwner("data-mode is neither consent nor share");
  return mode === wanted;
}

/** The address this code was loaded from. A module has no current script, so the first tag of ours stands in. */
export function getOwnScriptUrl(): string {
  const current = document.currentScript;
  // An <img name="currentScript"> stands in for the document's property, and its address would be sent the submissions.
  if (current instanceof HTMLScriptElement) return current.src;
  return queryPage<HTMLScriptElement>("script").find(isOwnTag)?.src || "";
}

function isOwnTag(tag: HTMLScriptElement): boolean {
  return tag === document.currentScript || ownScriptPattern.test(tag.src);
}

// null is what looking up a form that is not there yet gives; it must not turn into "the first form of the page".
function getTargetForm({ options }: Config): HTMLFormElement | string | null | undefined {
  return options.form === undefined ? options.formSelector : options.form;
}

/** Default: the first form of the page. A selector that is no selector matches no form. */
export function isTargetForm(config: Config, form: HTMLFormElement): boolean {
  const wanted = getTargetForm(config);
  try {
    return typeof wanted === "string"
      ? callForm(form, "matches", wanted)
      : form === (wanted === undefined ? document.querySelector("form") : wanted);
  } catch {
    return false;
  }
}

/** Asked only when a form is submitted that no tag means: before that, the form may be yet to come. */
export function warnAboutMissingForm(config: Config): void {
  const isFound = queryPage<HTMLFormElement>("form").some((form) => isTargetForm(config, form));
  if (typeof getTargetForm(config) === "string" && !isFound) warnOwner("the form selector finds no form");
}
