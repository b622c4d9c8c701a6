// Implements POST /v1/share/requests. Signs a share request for a business's server. The signature proves to the consent sheet that the
// business sent the request.
import { authorizeWrite } from "../../../core/access/entitlement.ts";
import type { BusinessScope } from "../../../core/access/principal.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { authorizeShareRequest, type ShareRequest } from "./authorize-share-request.ts";
import { createRequestSignature, signatureLifetimeMs } from "./request-signature.ts";
import { createSheetRequest } from "./sheet-request.ts";

export interface SignedShareRequest {
  readonly signature: string;
  readonly expiresAt: Instant;
}

/**
 * Signs the request if the API key belongs to the client's business and environment. Otherwise, returns `client_not_found`. Can also return
 * the errors of `authorizeShareRequest` and `authorizeWrite`, and `invalid_request` for a `return_url` that is not on the request's origin.
 */
export const signShareRequest = async (
  services: ReadDependencies,
  { business, environment }: BusinessScope,
  request: ShareRequest,
  returnUrl: string | undefined,
): Promise<Result<SignedShareRequest>> => {
  const authorized = await authorizeShareRequest(services, request);
  if (!authorized.ok) return authorized;
  const { client } = authorized.value;
  if (client.business.id !== business.id || client.environment !== environment) return refuse("client_not_found");
  const writable = authorizeWrite(client.business.status);
  if (!writable.ok) return writable;
  const sheet = createSheetRequest(services, authorized.value, returnUrl);
  if (returnUrl !== undefined && sheet.returnUrl === null)
    return refuse("invalid_request", "return_url: must be a URL on the request's origin, without a fragment.");
  const now = services.clock();
  return ok({ signature: await createRequestSignature(services, sheet, now), expiresAt: now + signatureLifetimeMs });
};
