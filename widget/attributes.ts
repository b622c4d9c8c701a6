// What the page asks for: the data attributes of a script tag, or the same names as options of Svc.initConsent,
// settled into one Config. Anything given but unusable certifies nothing; it never stops a form.

import { type FieldMap, fieldMapFrom } from "./fields.ts";
import { callForm, onPage } from "./native-form.ts";
import { entitiesFrom } from "./recipients.ts";

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
  budgetMs: number;
  isHooked: boolean;
}

/** svc.js, or the copy named after its own hash for pages that pin it. */
const ownAddress = /\/svc(-[0-9a-f]{12})?\.js([?#]|$)/;

export function configFrom(options: ConsentOptions, scriptAddress: string): Config {
  const { apiBase, programmaticSubmit = false } = options;
  return {
    options,
    entities: entitiesFrom(options.entities),
    fieldMap: fieldMapFrom(options.fieldMap),
    apiBase: apiBase || (scriptAddress && `${new URL(scriptAddress).origin}/v1`),
    // 3 s by default. Above about 5 s the browser takes a form that opens a new tab for a popup and drops the
    // submission, so 4.5 s is the ceiling; below half a second a first connection rarely makes it.
    budgetMs: Math.min(4500, Math.max(500, Number(options.timeout) || 3000)),
    isHooked: programmaticSubmit !== false && programmaticSubmit !== "false",
  };
}

/**
 * Script tags that ask for consent mode, whoever loaded them and whenever they arrived: ours by their address, and the
 * one running now under whatever address a site serves it.
 */
export function consentTags(): HTMLScriptElement[] {
  return onPage<HTMLScriptElement>("script[data-client-id][data-mode=consent]").filter(isOwn);
}

/** The address this code was loaded from. A module has no current script, so the first tag of ours stands in. */
export function ownScriptAddress(): string {
  const current = document.currentScript as HTMLScriptElement | null;
  return (current || onPage<HTMLScriptElement>("script").find(isOwn) || { src: "" }).src;
}

function isOwn(tag: HTMLScriptElement): boolean {
  return tag === document.currentScript || ownAddress.test(tag.src);
}

/** Default: the first form of the page. A selector that is no selector matches no form. */
export function isMeant({ options }: Config, form: HTMLFormElement): boolean {
  // null is what looking up a form that is not there yet gives; it must not turn into "the first form of the page".
  const wanted = options.form === undefined ? options.formSelector : options.form;
  try {
    return typeof wanted === "string"
      ? callForm(form, "matches", wanted)
      : form === (wanted === undefined ? document.querySelector("form") : wanted);
  } catch {
    return false;
  }
}
