import { parseDocumentUrl } from "../../../core/agents/oauth-client.ts";
import { upsertOAuthClient } from "../../../storage/oauth-clients.ts";
import { getClientDocument, getClientCopyDatabase, type ClientLookupServices } from "./client-documents.ts";

/** Once a person has allowed it: what its document said serves for a while if its host falls silent. */
export const saveClientDocument = async (services: ClientLookupServices, id: string): Promise<void> => {
  const url = parseDocumentUrl(id);
  if (url === null) return;
  const { client, fetchedAt } = await getClientDocument(services, url);
  if (client !== null && fetchedAt !== null) await upsertOAuthClient(getClientCopyDatabase(services), client, fetchedAt).run();
};
