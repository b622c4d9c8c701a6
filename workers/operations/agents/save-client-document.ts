// Saves a copy of a client's metadata document.
import { parseDocumentUrl } from "../../../core/agents/oauth-client.ts";
import { upsertOAuthClient } from "../../../storage/oauth-clients.ts";
import { getClientDocument, getClientCopyDatabase } from "./client-documents.ts";
import type { AgentDependencies } from "./dependencies.ts";

/** Call this after a person has approved the client. The copy is used if the client's host does not respond. */
export const saveClientDocument = async (services: AgentDependencies, id: string): Promise<void> => {
  const url = parseDocumentUrl(id);
  if (url === null) return;
  const { client, fetchedAt } = await getClientDocument(services, url);
  if (client !== null && fetchedAt !== null) await upsertOAuthClient(getClientCopyDatabase(services), client, fetchedAt).run();
};
