// Agent tokens: the credentials of connected assistants. A token belongs to one person and one realm. It stops granting access when it
// expires or is revoked, when the person's account or membership is deleted, or when the business loses read access.
import { getAuditChain, type MemberSession, type Realm, type Session } from "../access/session.ts";
import type { Person } from "../access/principal.ts";
import type { Actor } from "../actor.ts";
import type { AuditChain, DomainEvent } from "../domain-events.ts";
import type { BusinessId, ConsumerId } from "../ids.ts";
import type { Language } from "../language.ts";
import { dayMs, toIso, type Instant } from "../time.ts";

/** How long a token is valid (SPEC Limits). */
export const tokenLifetimeMs = 90 * dayMs;
/** The person is notified this long before a token expires. */
export const expiryNoticeMs = 7 * dayMs;
/** The maximum number of active tokens per person. */
export const maxActiveTokens = 10;

/** A token as its owner sees it in the list of tokens. It does not contain the secret. */
export interface AgentToken {
  readonly id: string;
  readonly realm: Realm;
  /** The consumer or member to whom the token belongs. */
  readonly principalId: string;
  readonly name: string | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  /** The last day the token was used, in whole days since 1970; null if it was never used. */
  readonly lastUsedDay: number | null;
  /** The program that is connected with the token; null if the person created the token and pasted it into a program. */
  readonly client: ConnectedClient | null;
}

export interface ConnectedClient {
  /** The host that published the program's metadata document; null if the program registered itself. */
  readonly host: string | null;
  /**
   * Where the authorization response was sent: a website's host, a loopback host (for a program on the person's own computer), or the name
   * of an app.
   */
  readonly redirectHost: string;
}

interface BaseAgent {
  readonly tokenId: string;
  readonly tokenHash: string;
  /** The last day the token was used before this call, in whole days since 1970. */
  readonly lastUsedDay: number | null;
  /** The language of emails about the token. */
  readonly language: Language;
  /** The consumer or business whose records the token gives access to. */
  readonly ownerId: string;
  readonly chain: AuditChain;
}

/** The caller that a token authenticates. */
export type Agent = BaseAgent &
  (
    | { readonly realm: "consumer" }
    | { readonly realm: "business"; readonly memberId: string; readonly business: MemberSession["business"] }
  );

/** Returns the consumer to whom a token belongs, with the assistant as the actor. */
export const personFromAgent = ({ ownerId, chain, tokenId }: BaseAgent): Person => ({
  id: ownerId as ConsumerId,
  chain,
  actor: { kind: "agent", id: tokenId },
});

/** The owner of tokens, with the audit chain that records changes to them. */
export interface TokenOwner {
  readonly realm: Realm;
  readonly principalId: string;
  readonly businessId: BusinessId | null;
  readonly chain: AuditChain;
  readonly actor: Actor;
}

export const tokenOwnerFromSession = (session: Session): TokenOwner => ({
  realm: session.realm,
  principalId: session.userId,
  businessId: session.realm === "business" ? session.business.id : null,
  chain: getAuditChain(session),
  actor: { kind: session.realm === "business" ? "member" : "consumer", id: session.userId },
});

/**
 * Creates the domain event for a new or revoked token. `expiresAt` is set for a new token. The event does not contain the token's name,
 * because a person chose it and it could contain personal data.
 */
export const createTokenEvent = (
  { chain, actor }: TokenOwner,
  action: {
    readonly type: "agent_token.minted" | "agent_token.revoked";
    readonly id: string;
    readonly at: Instant;
    readonly expiresAt?: Instant;
  },
): DomainEvent => ({
  type: action.type,
  entityType: "agent_token",
  entityId: action.id,
  at: action.at,
  chains: [chain],
  actor,
  payload: action.expiresAt === undefined ? {} : { expires_at: toIso(action.expiresAt) },
});
