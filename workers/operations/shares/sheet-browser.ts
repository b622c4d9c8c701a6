// The signed cookie that identifies a browser on the consent sheet.
import { toBase64Url, encodeUtf8, fromBase64Url } from "../../../core/bytes.ts";
import type { RequestEvidence } from "../../../core/shares/request-evidence.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** Evidence that is available only when the sheet opens. The cookie stores it for later steps. */
export type ArrivalEvidence = Extract<RequestEvidence, "referer" | "message" | "request_signature">;

/** A browser and, for each request key, the evidence that the business sent the request. */
export interface SheetBrowser {
  readonly id: string;
  readonly evidence: readonly (readonly [requestKey: string, evidence: ArrivalEvidence])[];
}

const maxRequests = 5;

export const findArrivalEvidence = ({ evidence }: SheetBrowser, requestKey: string): ArrivalEvidence | null =>
  evidence.find(([key]) => key === requestKey)?.[1] ?? null;

export const withArrivalEvidence = (browser: SheetBrowser, requestKey: string, evidence: ArrivalEvidence): SheetBrowser => ({
  ...browser,
  evidence: [...browser.evidence.filter(([key]) => key !== requestKey), [requestKey, evidence]],
});

const toMacPurpose = (payload: string): string => `sheet browser\n${payload}`;

/** Serializes the cookie with the evidence for the five newest requests. */
export const serializeSheetBrowser = async (services: Stores, browser: SheetBrowser): Promise<string> => {
  const payload = toBase64Url(encodeUtf8(JSON.stringify([browser.id, ...browser.evidence.slice(-maxRequests)])));
  return `${payload}.${await services.vault.linkToken(toMacPurpose(payload))}`;
};

/** Parses the cookie. Returns a new browser if the cookie is missing or not signed by this service. */
export const parseSheetBrowser = async (services: ReadDependencies, cookie: string | undefined): Promise<SheetBrowser> => {
  const [payload = "", mac = ""] = (cookie ?? "").split(".");
  const bytes = fromBase64Url(payload);
  if (payload === "" || bytes === null || !(await services.vault.isLinkToken(toMacPurpose(payload), mac)))
    return { id: toBase64Url(services.random(16)), evidence: [] };
  const [id, ...evidence] = JSON.parse(new TextDecoder().decode(bytes)) as [string, ...SheetBrowser["evidence"]];
  return { id, evidence };
};
