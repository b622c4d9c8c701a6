// Creates the token that GET /v1/authorize returns.
import { shardOfId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { createAuthorizationToken } from "./authorization-token.ts";
import { toTokenBinding, type AuthorizedRequest } from "./authorize-share-request.ts";

/**
 * Creates a token for a program that shows the request itself and then sends the decision. The token contains no evidence that the business
 * sent the request.
 */
export const createShareRequestToken = (services: ReadDependencies, request: AuthorizedRequest): Promise<string> => {
  const { clientId } = request.client;
  const content = { requestedScope: request.requestedScope, issuedAt: services.clock(), evidence: null };
  return createAuthorizationToken(services, shardOfId(clientId), content, toTokenBinding({ ...request, clientId }));
};
