// Authenticates an OAuth client at the token endpoint.
import { registeredClientPrefix, parseDocumentUrl } from "../../../core/agents/oauth-client.ts";
import type { Stores } from "../dependencies.ts";
import { isRegisteredClientSecret, parseRegisteredClient } from "./registered-clients.ts";

/**
 * Returns true if the secret is correct for this client. Registered clients that are not public send the secret from their registration.
 * Public clients and clients with a metadata document must not send a secret. Instead, their authorization codes are bound to their ID. An
 * empty secret counts as none (RFC 6749 section 3.2).
 */
export const isValidClientSecret = async (services: Stores, id: string, sent: string | null): Promise<boolean> => {
  const secret = sent === "" ? null : sent;
  if (!id.startsWith(registeredClientPrefix)) return parseDocumentUrl(id) !== null && secret === null;
  const client = await parseRegisteredClient(services, id);
  if (client === null) return false;
  if (client.authentication === "none") return secret === null;
  return secret !== null && isRegisteredClientSecret(services, id, secret);
};
