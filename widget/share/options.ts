// The options of a share tag, and the consent sheet URL that is built from them.

import { getDisplayedText, findDisclosureElements } from "../disclosure.ts";
import { Misconfiguration } from "../misconfiguration.ts";

/** Each option is set as a data attribute, with its name in kebab case. */
export interface ShareOptions {
  clientId?: string;
  purpose?: string;
  scope?: string;
  needed?: string;
  durationDays?: string;
  disclosureSelector?: string;
  disclosureText?: string;
  formSelector?: string;
  fieldMap?: string;
  apiBase?: string;
  appBase?: string;
}

/** The data that all requests of one share button have in common. It is the same after the page is reloaded. */
export interface ShareRequestBase {
  /** The options as JSON, followed by the number of earlier tags with the same options. */
  key: string;
  options: ShareOptions;
}

/** The consent sheet's origin in this deployment; empty if the whole service has one origin. */
declare const APP_URL: string;

export interface ShareUrls {
  api: string;
  sheet: string;
}

export function resolveShareUrls({ apiBase, appBase }: ShareOptions, scriptAddress: string): ShareUrls {
  const api = apiBase || `${new URL(scriptAddress).origin}/v1`;
  return { api, sheet: `${new URL(appBase || APP_URL || api, location.href).origin}/authorize` };
}

const fieldGroups = new Map([
  ["name", ["first_name", "last_name"]],
  ["address", ["address_line1", "address_line2", "city", "state", "zip", "country"]],
]);

function splitKeys(list: string): string[] {
  return list.split(/[\s,]+/).filter(Boolean);
}

/** Formats the scope. If `needed` is set, every key that it does not list becomes optional, as if the key ended in a question mark. */
function formatScope({ scope = "", needed }: ShareOptions): string {
  if (needed === undefined) return splitKeys(scope).join(" ");
  const keys = (list: string) => splitKeys(list.replace(/\?/g, " ")).flatMap((key) => fieldGroups.get(key) || [key]);
  const neededKeys = keys(needed);
  return keys(scope)
    .map((key) => (neededKeys.includes(key) ? key : `${key}?`))
    .join(" ");
}

/**
 * Returns the disclosure, or an empty string if neither `disclosureSelector` nor `disclosureText` is set. As in consent mode,
 * `disclosureText` is used only if the selector matches nothing.
 */
function getShareDisclosure({ disclosureSelector, disclosureText = "" }: ShareOptions): string {
  const found = findDisclosureElements(disclosureSelector);
  const text = found.length ? found.map(getDisplayedText).find(Boolean) : disclosureText.trim();
  if (text || (disclosureSelector === undefined && !disclosureText)) return text || "";
  throw new Misconfiguration("no disclosure is displayed: set data-disclosure-selector");
}

export const isFramed = self !== top;

export type DisplayMode = "popup" | "page";

/**
 * Builds the sheet's URL for one request. Throws Misconfiguration if an option is missing, or if the disclosure is not displayed or is too
 * long.
 */
export function buildRequestUrl(options: ShareOptions, sheet: string, state: string, challenge: string, display: DisplayMode): string {
  const { clientId, purpose, durationDays } = options;
  const scope = formatScope(options);
  if (!clientId || !purpose || !scope) {
    throw new Misconfiguration("data-client-id, data-purpose or data-scope is missing: set it");
  }
  const query = new URLSearchParams({
    client_id: clientId,
    origin: self.origin,
    scope,
    purpose,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state,
    locale: (document.documentElement.lang || navigator.language).slice(0, 35),
    display,
  });
  const disclosure = getShareDisclosure(options);
  if (durationDays) query.set("duration_days", durationDays);
  if (disclosure) query.set("disclosure_text", disclosure);
  // A page in a frame gets no return URL, for two reasons: the sheet refuses to be framed, and a frame's storage is separate from the
  // page's.
  if (!isFramed) query.set("return_url", getReturnUrl());
  const address = `${sheet}?${query}`;
  // URLs are limited to 16 KB. The disclosure is not shortened, because the person would then see a different disclosure.
  if (disclosure.length > 6000 || address.length > 16_000) throw new Misconfiguration("the disclosure is too long: shorten it");
  return address;
}

/** Returns this page's URL without its fragment. Also removes the query if the URL would exceed the API's limit of 2,048 characters. */
function getReturnUrl(): string {
  const address = location.href.replace(/#.*/, "");
  return address.length > 2048 ? address.replace(/\?.*/, "") : address;
}
