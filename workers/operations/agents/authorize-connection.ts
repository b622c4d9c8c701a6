// Records that the person approved a connection request.
import type { Session } from "../../../core/access/session.ts";
import { tokenOwnerFromSession } from "../../../core/agents/agent-token.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateSecret, shardOfId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { minuteMs } from "../../../core/time.ts";
import { insertOAuthCode, isDuplicateAuthorization } from "../../../storage/oauth-codes.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { getSessionDatabase, type PendingConnection } from "./connection-request.ts";

const oauthCodeLifeMs = 5 * minuteMs;

/**
 * Stores an authorization code for the client, valid for five minutes, and returns it. Returns null if this consent page was already
 * submitted.
 */
export const authorizeConnection = async (
  services: ReadDependencies,
  session: Session,
  pending: PendingConnection,
  { replaces, language }: { readonly replaces: boolean; readonly language: Language },
): Promise<string | null> => {
  const { realm, principalId, businessId } = tokenOwnerFromSession(session);
  const now = services.clock();
  const code = generateSecret("oac_", shardOfId(principalId), services.random);
  const { client, redirectUri, challenge, nonce } = pending;
  try {
    await insertOAuthCode(getSessionDatabase(services, session), {
      codeHash: sha256Hex(code),
      nonceHash: sha256Hex(nonce),
      realm,
      principalId,
      businessId,
      clientId: client.id,
      clientName: client.name,
      clientHost: client.host,
      redirectUri,
      challenge,
      replaces,
      language,
      createdAt: now,
      expiresAt: now + oauthCodeLifeMs,
    }).run();
    return code;
  } catch (error) {
    if (isDuplicateAuthorization(error)) return null;
    throw error;
  }
};
