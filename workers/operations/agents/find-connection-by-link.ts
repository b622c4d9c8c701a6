// Finds the connection that an emailed link ends, so that the page can show the assistant's name.
import { findConnection, type ConnectionSummary } from "../../../storage/agent-tokens.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { isDisconnectLink } from "./disconnect-link.ts";

/** `connection` is null if the link is valid, but the token's row has already been deleted. */
export interface LinkedConnection {
  readonly connection: ConnectionSummary | null;
}

/** Returns null if the link is invalid. Ended connections are returned too. */
export const findConnectionByLink = async (services: ReadDependencies, id: string, token: string): Promise<LinkedConnection | null> => {
  if (!(await isDisconnectLink(services, id, token))) return null;
  return { connection: await findConnection(services.shards.forId(id), services.vault, id, services.clock()) };
};
