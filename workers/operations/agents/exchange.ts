// A program turns its code into its token (RFC 6749 4.1.3). The token is a row of the same list as those that people paste: same life,
// same limit, ended the same way. A failed check uses nothing up, so nobody who lacks the verifier can spoil a code.
import { maxLiveTokens, tokenFact, tokenLifeMs } from "../../../core/agents/token.ts";
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape, homeOfId, newId, newSecret } from "../../../core/ids.ts";
import { challengeOf } from "../../../core/shares/pkce.ts";
import { secondMs, type Instant } from "../../../core/time.ts";
import { holderOfToken, insertToken, isMinted, liveTokens, revokeToken, tokensOfClient } from "../../../storage/agents.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { becameToken, endReplaced, oauthCodeByHash, spendOAuthCode, type OAuthCode } from "../../../storage/oauth-codes.ts";
import { changedBefore } from "../../../storage/query.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { redirectHostOf } from "./connect.ts";
import { addressOfHolder, endLinkOf, isEndLink } from "./connection-mail.ts";

/** A code may be sent twice by a program that lost the answer; later it is somebody else who has it. */
const repeatMs = 10 * secondMs;

export interface Exchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

const mailOf = async (
  services: Runtime & Stores,
  db: Database,
  code: OAuthCode,
  { id, at }: { readonly id: string; readonly at: Instant },
): Promise<readonly Statement[]> => {
  const to = await addressOfHolder(services, db, code);
  if (to === null) return [];
  const redirectHost = redirectHostOf(code.redirectUri);
  const data = {
    client_name: code.clientName ?? redirectHost,
    client_host: code.clientHost,
    redirect_host: redirectHost,
    at,
    end_url: await endLinkOf(services, id),
  };
  return insertMail(db, services.vault, { template: "agent_connected", data, to, now: at, language: code.language, onlyIf: isMinted(id) });
};

const endLive = async (
  services: Runtime & Stores & Schedules,
  db: Database,
  by: { readonly id: string } | { readonly tokenHash: string },
): Promise<void> => {
  const now = services.clock();
  const found = await holderOfToken(db, by, now);
  if (found === null) return;
  const fact = tokenFact(found.holder, { type: "agent_token.revoked", id: found.id, at: now });
  await commit(db, services, [revokeToken(db, found.id, now)], [fact], changedBefore());
};

/** `refused`: for every reason alike. Of any number at once, one gets a token. */
export const exchangeCode = async (services: Runtime & Stores & Schedules, exchange: Exchange): Promise<string | "refused" | "full"> => {
  const { code: text, clientId, redirectUri, verifier } = exchange;
  if (!hasSecretShape(text, "oac_")) return "refused";
  const db = services.homes.of(text);
  const codeHash = sha256Hex(text);
  const found = await oauthCodeByHash(db, codeHash);
  if (found === null) return "refused";
  const { code, holder } = found;
  const challenge = challengeOf(verifier);
  const isTheirs = code.clientId === clientId && code.redirectUri === redirectUri && isSameSecret(code.challenge, challenge);
  if (!isTheirs) return "refused";
  const now = services.clock();
  if (code.usedAt !== null) {
    // Shown again by whoever has everything else: it may have been stolen on its way, so what it became ends.
    if (code.tokenId !== null && now > code.usedAt + repeatMs) await endLive(services, db, { id: code.tokenId });
    return "refused";
  }
  const { realm, principalId, businessId } = holder;
  const home = homeOfId(principalId);
  const id = newId("tok_", home, services.random);
  const secret = newSecret("pat_", home, services.random);
  const redirectHost = redirectHostOf(redirectUri);
  const replaced = code.replaces ? await tokensOfClient(db, { principalId, clientId, redirectHost }, now) : [];
  const made = becameToken(codeHash, id);
  const { clientName: name, clientHost, language } = code;
  const client = { source: "oauth", clientId, clientHost, redirectHost, language } as const;
  const lives = { createdAt: now, expiresAt: now + tokenLifeMs };
  const token = { id, realm, principalId, businessId, tokenHash: sha256Hex(secret), name, ...lives, ...client };
  const rows = [
    spendOAuthCode(db, realm, { codeHash, clientId, redirectUri, challenge, tokenId: id, replaced, now }),
    endReplaced(db, replaced, made, now),
    ...(await insertToken(db, services.vault, token, made)),
    ...(await mailOf(services, db, code, { id, at: now })),
  ];
  const facts = [
    tokenFact(holder, { type: "agent_token.minted", id, at: now, expiresAt: now + tokenLifeMs }),
    ...replaced.map((earlier) => tokenFact(holder, { type: "agent_token.revoked", id: earlier, at: now })),
  ];
  const [spent] = await commit(db, services, rows, facts, isMinted(id));
  if ((spent as D1Result).meta.changes === 1) {
    services.scheduleMail();
    return secret;
  }
  const scope = businessId === null ? { principalId } : { businessId };
  const live = (await liveTokens(db, services.vault, scope, now)).filter((one) => one.principalId === principalId);
  return live.length - replaced.length >= maxLiveTokens ? "full" : "refused";
};

/** RFC 7009: whoever has a token may end it. Nothing tells whether there was one. */
export const endByPossession = async (services: Runtime & Stores & Schedules, token: string): Promise<void> => {
  if (hasSecretShape(token, "pat_")) await endLive(services, services.homes.of(token), { tokenHash: sha256Hex(token) });
};

export const endByLink = async (services: Runtime & Stores & Schedules, id: string, token: string): Promise<boolean> => {
  if (!(await isEndLink(services, id, token))) return false;
  await endLive(services, services.homes.of(id), { id });
  return true;
};
