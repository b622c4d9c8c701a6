import { shardOfId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { createAuthorizationToken } from "./authorization-token.ts";
import { toTokenBinding, type AuthorizedRequest } from "./authorize-share-request.ts";

/** For programs that show the request themselves. */
export const createShareRequestToken = (services: ReadDependencies, request: AuthorizedRequest): Promise<string> => {
  const { clientId } = request.client;
  const content = { asked: request.asked, at: services.clock(), hasEvidence: false };
  return createAuthorizationToken(services, shardOfId(clientId), content, toTokenBinding({ ...request, clientId }));
};
