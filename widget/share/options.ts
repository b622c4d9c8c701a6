// What a share tag asks for: its data attributes, settled into where the request goes and what it says.

import { getDisplayedText, findDisclosureElements } from "../disclosure.ts";
import { Misconfiguration } from "../misconfiguration.ts";

/** Every option is the camelCase of a data attribute. */
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

/** Origin of the consent sheet in this deployment; empty where the whole service is one origin. */
declare const APP_URL: string;

export interface ShareUrls {
  api: string;
  sheet: string;
}

export function resolveShareUrls({ apiBase, appBase }: ShareOptions, scriptAddress: string): ShareUrls {
  const api = apiBase || `${new URL(scriptAddress).origin}/v1`;
  return { api, sheet: `${new URL(appBase || APP_URL || api, location.href).origin}/authorize` };
}

/** Groups stand for their keys wherever keys are compared. */
const fieldGroups = new Map([
  ["name", ["first_name", "last_name"]],
  ["address", ["address_line1", "address_line2", "city", "state", "zip", "country"]],
]);

function splitKeys(list: string): string[] {
  return list.split(/[\s,]+/).filter(Boolean);
}

/** With `needed` every other key becomes optional to the person, as if it had been marked by a question mark. */
function formatScope({ scope = "", needed }: ShareOptions): string {
  if (needed === undefined) return splitKeys(scope).join(" ");
  const keys = (list: string) => splitKeys(list.replace(/\?/g, " ")).flatMap((key) => fieldGroups.get(key) || [key]);
  const must = keys(needed);
  return keys(scope)
    .map((key) => (must.includes(key) ? key : `${key}?`))
    .join(" ");
}

/** As consent mode: what is displayed beats the literal, which speaks only where nothing is found. */
function getShareDisclosure({ disclosureSelector, disclosureText = "" }: ShareOptions): string {
  const found = findDisclosureElements(disclosureSelector);
  const text = found.length ? found.map(getDisplayedText).find(Boolean) : disclosureText.trim();
  if (text || (disclosureSelector === undefined && !disclosureText)) return text || "";
  throw new Misconfiguration("no disclosure is displayed");
}

export const isFramed = self !== top;

export type DisplayMode = "popup" | "page";

/** The address of the sheet for one request. Throws, with the reason, when the page is not set up to ask. */
export function buildRequestUrl(options: ShareOptions, sheet: string, state: string, challenge: string, display: DisplayMode): string {
  const { clientId, purpose, durationDays } = options;
  const scope = formatScope(options);
  if (!clientId || !purpose || !scope) throw new Misconfiguration("client id, purpose or scope missing");
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
  // A frame is no place to come back to: the sheet refuses to be framed, and storage there is not the page's.
  if (!isFramed) query.set("return_url", getReturnUrl());
  const address = `${sheet}?${query}`;
  // Addresses end at 16 KB; a text that is cut off would be another text.
  if (disclosure.length > 6000 || address.length > 16_000) throw new Misconfiguration("the disclosure is too long");
  return address;
}

/** This page without its fragment. Longer than the API takes: without its query. */
function getReturnUrl(): string {
  const address = location.href.replace(/#.*/, "");
  return address.length > 2048 ? address.replace(/\?.*/, "") : address;
}
