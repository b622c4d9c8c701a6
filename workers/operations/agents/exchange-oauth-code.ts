// Exchanges an OAuth authorization code for an agent token.
import { tokenLifetimeMs, createTokenEvent, maxActiveTokens } from "../../../core/agents/agent-token.ts";
import { isSameRedirectUri } from "../../../core/agents/redirect-uri.ts";
import { sha256Hex, isEqualConstantTime } from "../../../core/hash.ts";
import { hasSecretShape, shardOfId, generateId, generateSecret } from "../../../core/ids.ts";
import { computeCodeChallenge } from "../../../core/shares/pkce.ts";
import { secondMs, type Instant } from "../../../core/time.ts";
import { hasAgentToken, listTokenIdsByClient, insertAgentToken, listLiveTokens } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { findOAuthCode, isRedeemedAsToken, redeemOAuthCode, revokeReplacedTokens, type OAuthCode } from "../../../storage/oauth-codes.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { ReadDependencies, WriteDependencies } from "../dependencies.ts";
import { findHolderRecipient } from "./connection-mail.ts";
import { getRedirectHost } from "./connection-request.ts";
import { createDisconnectUrl } from "./disconnect-link.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/**
 * If a redeemed code is sent again within this time, the client probably did not receive the response. The code is refused, but its token
 * stays valid. After this time, the code is considered stolen, and its token is revoked.
 */
const codeReplayGraceMs = 10 * secondMs;

export interface OAuthCodeExchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

const prepareConnectedMail = async (
  services: ReadDependencies,
  db: Database,
  code: OAuthCode,
  { id, at }: { readonly id: string; readonly at: Instant },
): Promise<readonly Statement[]> => {
  const recipient = await findHolderRecipient(services, db, code);
  if (recipient === null) return [];
  const redirectHost = getRedirectHost(code.redirectUri);
  const data = {
    clientName: code.clientName ?? redirectHost,
    clientHost: code.clientHost,
    redirectHost,
    at,
    endUrl: await createDisconnectUrl(services, id),
  };
  return insertMail(db, services.vault, {
    template: "agent_connected",
    data,
    ...recipient,
    now: at,
    language: code.language,
    onlyIf: hasAgentToken(id),
  });
};

/**
 * Redeems a code once and returns the token. Only one of several concurrent exchanges succeeds. `refused` means a problem with the code,
 * client, redirect URI or verifier. `full` means that the person has reached the token limit. If the same client sends a code again, with
 * the correct verifier and more than ten seconds after it was redeemed, revokes the token that was issued for it.
 */
export const exchangeOAuthCode = async (services: WriteDependencies, exchange: OAuthCodeExchange): Promise<string | "refused" | "full"> => {
  const { code: text, clientId, redirectUri, verifier } = exchange;
  if (!hasSecretShape(text, "oac_")) return "refused";
  const db = services.shards.forId(text);
  const codeHash = sha256Hex(text);
  const found = await findOAuthCode(db, codeHash);
  if (found === null) return "refused";
  const { code, holder } = found;
  const challenge = computeCodeChallenge(verifier);
  const isBoundToClient =
    code.clientId === clientId && isSameRedirectUri(code.redirectUri, redirectUri) && isEqualConstantTime(code.challenge, challenge);
  if (!isBoundToClient) return "refused";
  const now = services.clock();
  if (code.usedAt !== null) {
    // A used code was sent again with the correct verifier. Someone may have stolen both, so revoke the token that was issued for the code.
    if (code.tokenId !== null && now > code.usedAt + codeReplayGraceMs)
      await revokeLiveToken(services, db, { id: code.tokenId }, "service");
    return "refused";
  }
  const { realm, principalId, businessId } = holder;
  const shard = shardOfId(principalId);
  const id = generateId("tok_", shard, services.random);
  const secret = generateSecret("pat_", shard, services.random);
  const redirectHost = getRedirectHost(code.redirectUri);
  const replacedIds = code.replaces ? await listTokenIdsByClient(db, { principalId, clientId, redirectHost }, now) : [];
  const isRedeemed = isRedeemedAsToken(codeHash, id);
  const { clientName: name, clientHost, language } = code;
  const client = { source: "oauth", clientId, clientHost, redirectHost, language } as const;
  const lifetime = { createdAt: now, expiresAt: now + tokenLifetimeMs };
  const token = { id, realm, principalId, businessId, tokenHash: sha256Hex(secret), name, ...lifetime, ...client };
  const statements = [
    redeemOAuthCode(db, realm, { codeHash, clientId, redirectUri: code.redirectUri, challenge, tokenId: id, replaced: replacedIds, now }),
    revokeReplacedTokens(db, replacedIds, isRedeemed, now),
    ...(await insertAgentToken(db, services.vault, token, isRedeemed)),
    ...(await prepareConnectedMail(services, db, code, { id, at: now })),
  ];
  const domainEvents = [
    createTokenEvent(holder, { type: "agent_token.minted", id, at: now, expiresAt: now + tokenLifetimeMs }),
    ...replacedIds.map((replacedId) => createTokenEvent(holder, { type: "agent_token.revoked", id: replacedId, at: now })),
  ];
  const [redeemed] = await commit(db, services, statements, domainEvents, hasAgentToken(id));
  if ((redeemed as D1Result).meta.changes === 1) {
    services.scheduleMail();
    return secret;
  }
  const scope = businessId === null ? { principalId } : { businessId };
  const liveTokens = (await listLiveTokens(db, services.vault, scope, now)).filter((live) => live.principalId === principalId);
  return liveTokens.length - replacedIds.length >= maxActiveTokens ? "full" : "refused";
};
