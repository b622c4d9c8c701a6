// The configuration of consent mode. It comes from the data attributes of a script tag or from the options of Svc.initConsent, which have
// the same names. If a required option is missing or an option is invalid, the form is still submitted, but without a certificate.

import { type FieldMap, parseFieldMap } from "./fields.ts";
import { warnOwner } from "./misconfiguration.ts";
import { callForm, queryPage } from "./native-form.ts";
import { parseEntities } from "./recipients.ts";

/** Each option can also be set as a data attribute, with its name in kebab case. Attribute values are strings. */
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

/** Matches the URLs of svc.js and of its copy with a hash in the name, which pages can pin. */
const ownScriptPattern = /\/svc(-[0-9a-f]{12})?\.js([?#]|$)/;

export function createConfig(options: ConsentOptions, scriptAddress: string): Config {
  const { apiBase, programmaticSubmit = false } = options;
  return {
    options,
    entities: parseEntities(options.entities),
    fieldMap: parseFieldMap(options.fieldMap),
    apiBase: apiBase || (scriptAddress && `${new URL(scriptAddress).origin}/v1`),
    // The default is 3 s. The maximum is 4.5 s: if a form opens a new tab, the browser treats it as a popup after about 5 s and drops the
    // submission. The minimum is half a second, because a first connection is rarely faster.
    timeoutMs: Math.min(4500, Math.max(500, Number(options.timeout) || 3000)),
    hooksSubmit: programmaticSubmit !== false && programmaticSubmit !== "false",
  };
}

/** Creates a configuration from a script tag. The null prototype protects the options from a polluted Object.prototype. */
export function configFromTag({ dataset, src }: HTMLScriptElement): Config {
  return createConfig(Object.assign(Object.create(null), dataset), src);
}

/** Finds the script tags of a mode: tags with a recognized URL, and the tag that is running now. */
export function findTags(mode: "consent" | "share"): HTMLScriptElement[] {
  return queryPage<HTMLScriptElement>("script[data-client-id]").filter((tag) => isOwnTag(tag) && hasMode(tag, mode));
}

function hasMode(tag: HTMLScriptElement, expectedMode: string): boolean {
  const mode = tag.getAttribute("data-mode");
  // Warns only when consent tags are looked for, which only one copy of the script does. Every copy looks for share tags, so the warning
  // would appear several times.
  if (expectedMode === "consent" && mode !== "consent" && mode !== "share") warnOwner("data-mode is unknown: correct it");
  return mode === expectedMode;
}

/**
 * Returns the URL that this code was loaded from. In a module, `document.currentScript` is null, so the first tag with an svc.js URL is
 * used instead.
 */
export function getOwnScriptUrl(): string {
  const current = document.currentScript;
  // Checks the type, because an <img name="currentScript"> shadows the document's property, and submissions would then be sent to the
  // image's origin.
  if (current instanceof HTMLScriptElement) return current.src;
  return queryPage<HTMLScriptElement>("script").find(isOwnTag)?.src || "";
}

function isOwnTag(tag: HTMLScriptElement): boolean {
  return tag === document.currentScript || ownScriptPattern.test(tag.src);
}

// Returns the target form or its selector. A null form means that the page looked up its form too early. In this case, the default (the
// first form on the page) must not apply.
function getTargetForm({ options }: Config): HTMLFormElement | string | null | undefined {
  return options.form === undefined ? options.formSelector : options.form;
}

/** Returns whether the form is the target form. By default, this is the first form on the page. An invalid selector matches no form. */
export function isTargetForm(config: Config, form: HTMLFormElement): boolean {
  const target = getTargetForm(config);
  try {
    return typeof target === "string"
      ? callForm(form, "matches", target)
      : form === (target === undefined ? document.querySelector("form") : target);
  } catch {
    return false;
  }
}

/**
 * Warns if the configuration has a selector that matches no form on the page. Call this only after the visitor has submitted a form that no
 * configuration targets. The target may not be rendered earlier.
 */
export function warnAboutMissingForm(config: Config): void {
  const isFound = queryPage<HTMLFormElement>("form").some((form) => isTargetForm(config, form));
  if (typeof getTargetForm(config) === "string" && !isFound) warnOwner("data-form-selector matches nothing: correct it");
}
