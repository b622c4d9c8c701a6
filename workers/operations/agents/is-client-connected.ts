// Checks whether a client already has access to the person's account.
import type { Session } from "../../../core/access/session.ts";
import { listTokenIdsByClient } from "../../../storage/agent-tokens.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getRedirectHost, getSessionDatabase, type ConnectionRequest } from "./connection-request.ts";

/** Returns whether the person already has an active token for the client and redirect host of the request. */
export const isClientConnected = async (services: ReadDependencies, session: Session, request: ConnectionRequest): Promise<boolean> => {
  const connection = { principalId: session.userId, clientId: request.client.id, redirectHost: getRedirectHost(request.redirectUri) };
  return (await listTokenIdsByClient(getSessionDatabase(services, session), connection, services.clock())).length > 0;
};
