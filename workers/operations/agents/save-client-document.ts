// Saves a copy of a client's metadata document.
import { parseDocumentUrl } from "../../../core/agents/oauth-client.ts";
import { upsertOAuthClient } from "../../../storage/oauth-clients.ts";
import { runIsolated } from "../../log.ts";
import { getClientDocument, getClientCopyDatabase } from "./client-documents.ts";
import type { AgentDependencies } from "./dependencies.ts";

/**
 * Saves a copy of the client's metadata document for when its host does not respond. Call this after a person has approved the client.
 * Never throws: the copies are in the first shard, and an outage there must not keep people in other shards from connecting.
 */
export const saveClientDocument = async (services: AgentDependencies, id: string): Promise<void> => {
  const url = parseDocumentUrl(id);
  if (url === null) return;
  await runIsolated(services, "agents", async () => {
    const { client, fetchedAt } = await getClientDocument(services, url);
    if (client !== null && fetchedAt !== null) await upsertOAuthClient(getClientCopyDatabase(services), client, fetchedAt).run();
  });
};
