import type { Session } from "../../../core/access/session.ts";
import { listTokenIdsByClient } from "../../../storage/agent-tokens.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getRedirectHost, getSessionDatabase, type ConnectionRequest } from "./connection-request.ts";

/** Whether the same program is connected already, by the same way back. */
export const isClientConnected = async (services: ReadDependencies, session: Session, request: ConnectionRequest): Promise<boolean> => {
  const of = { principalId: session.userId, clientId: request.client.id, redirectHost: getRedirectHost(request.redirectUri) };
  return (await listTokenIdsByClient(getSessionDatabase(services, session), of, services.clock())).length > 0;
};
