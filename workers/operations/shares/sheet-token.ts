// Creates and checks tokens for the consent sheet. They are bound to the request, browser and person, and contain the evidence that the
// business sent the request.
import { shardOfId } from "../../../core/ids.ts";
import type { RequestEvidence } from "../../../core/shares/request-evidence.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { createAuthorizationToken, parseAuthorizationToken, isTokenExpired, type TokenBinding } from "./authorization-token.ts";
import { toTokenBinding } from "./authorize-share-request.ts";
import type { SheetBrowser } from "./sheet-browser.ts";
import { getRequestEvidence, type SheetRequest } from "./sheet-request.ts";

const toSheetTokenBinding = ({ request, key }: SheetRequest, browser: SheetBrowser, personId: string | null): TokenBinding => ({
  ...toTokenBinding({ ...request, clientId: request.client.clientId }),
  request: key,
  browser: browser.id,
  person: personId,
});

/** Creates the token for the sheet's form. `verifySheetToken` accepts it only for the same request, browser and person. */
export const createSheetToken = (
  services: ReadDependencies,
  sheet: SheetRequest,
  browser: SheetBrowser,
  personId: string | null,
): Promise<string> => {
  const content = {
    requestedScope: sheet.request.requestedScope,
    issuedAt: services.clock(),
    evidence: getRequestEvidence(sheet, browser),
  };
  return createAuthorizationToken(
    services,
    shardOfId(sheet.request.client.clientId),
    content,
    toSheetTokenBinding(sheet, browser, personId),
  );
};

/**
 * Returns the evidence in the token. Returns `foreign` if the token is invalid or belongs to another request, browser or person, and
 * `expired` if it is at least ten minutes old.
 */
export const verifySheetToken = async (
  services: ReadDependencies,
  sheet: SheetRequest,
  browser: SheetBrowser,
  personId: string | null,
  token: string,
): Promise<"foreign" | "expired" | { readonly evidence: RequestEvidence | null }> => {
  const content = await parseAuthorizationToken(services, token, toSheetTokenBinding(sheet, browser, personId));
  if (content === null) return "foreign";
  return isTokenExpired(content, services.clock()) ? "expired" : { evidence: content.evidence };
};
