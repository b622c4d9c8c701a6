import { tokenLifetimeMs, createTokenEvent, maxActiveTokens } from "../../../core/agents/agent-token.ts";
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
import { loadHolderEmail } from "./connection-mail.ts";
import { getRedirectHost } from "./connection-request.ts";
import { createDisconnectUrl } from "./disconnect-link.ts";
import { revokeLiveToken } from "./revoke-live-token.ts";

/** A code may be sent twice by a program that lost the answer; later it is somebody else who has it. */
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
  const to = await loadHolderEmail(services, db, code);
  if (to === null) return [];
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
    to,
    now: at,
    language: code.language,
    onlyIf: hasAgentToken(id),
  });
};

/** `refused`: for every reason alike. Of any number at once, one gets a token. */
export const exchangeOAuthCode = async (services: WriteDependencies, exchange: OAuthCodeExchange): Promise<string | "refused" | "full"> => {
  const { code: text, clientId, redirectUri, verifier } = exchange;
  if (!hasSecretShape(text, "oac_")) return "refused";
  const db = services.shards.forId(text);
  const codeHash = sha256Hex(text);
  const found = await findOAuthCode(db, codeHash);
  if (found === null) return "refused";
  const { code, holder } = found;
  const challenge = computeCodeChallenge(verifier);
  const isTheirs = code.clientId === clientId && code.redirectUri === redirectUri && isEqualConstantTime(code.challenge, challenge);
  if (!isTheirs) return "refused";
  const now = services.clock();
  if (code.usedAt !== null) {
    // Shown again by whoever has everything else: it may have been stolen on its way, so what it became ends.
    if (code.tokenId !== null && now > code.usedAt + codeReplayGraceMs) await revokeLiveToken(services, db, { id: code.tokenId });
    return "refused";
  }
  const { realm, principalId, businessId } = holder;
  const home = shardOfId(principalId);
  const id = generateId("tok_", home, services.random);
  const secret = generateSecret("pat_", home, services.random);
  const redirectHost = getRedirectHost(redirectUri);
  const replaced = code.replaces ? await listTokenIdsByClient(db, { principalId, clientId, redirectHost }, now) : [];
  const made = isRedeemedAsToken(codeHash, id);
  const { clientName: name, clientHost, language } = code;
  const client = { source: "oauth", clientId, clientHost, redirectHost, language } as const;
  const lives = { createdAt: now, expiresAt: now + tokenLifetimeMs };
  const token = { id, realm, principalId, businessId, tokenHash: sha256Hex(secret), name, ...lives, ...client };
  const rows = [
    redeemOAuthCode(db, realm, { codeHash, clientId, redirectUri, challenge, tokenId: id, replaced, now }),
    revokeReplacedTokens(db, replaced, made, now),
    ...(await insertAgentToken(db, services.vault, token, made)),
    ...(await prepareConnectedMail(services, db, code, { id, at: now })),
  ];
  const facts = [
    createTokenEvent(holder, { type: "agent_token.minted", id, at: now, expiresAt: now + tokenLifetimeMs }),
    ...replaced.map((earlier) => createTokenEvent(holder, { type: "agent_token.revoked", id: earlier, at: now })),
  ];
  const [spent] = await commit(db, services, rows, facts, hasAgentToken(id));
  if ((spent as D1Result).meta.changes === 1) {
    services.scheduleMail();
    return secret;
  }
  const scope = businessId === null ? { principalId } : { businessId };
  const live = (await listLiveTokens(db, services.vault, scope, now)).filter((one) => one.principalId === principalId);
  return live.length - replaced.length >= maxActiveTokens ? "full" : "refused";
};
