// Agent tokens: what an assistant connects with. A token is of one person and one realm, and opens nothing once it has ended, its
// person is gone, or the business may not be read.
import { getAuditChain, type MemberSession, type Realm, type Session } from "../access/session.ts";
import type { Person } from "../access/principal.ts";
import type { Actor } from "../actor.ts";
import type { AuditChain, DomainEvent } from "../domain-events.ts";
import type { BusinessId, ConsumerId } from "../ids.ts";
import { dayMs, toIso, type Instant } from "../time.ts";

/** SPEC, Limits. */
export const tokenLifetimeMs = 90 * dayMs;
/** How long before its end the person of a connection hears of it. */
export const expiryNoticeMs = 7 * dayMs;
/** Of one person at one time (CONTRACT 7). */
export const maxActiveTokens = 10;

/** What a person sees of a token once it was shown. */
export interface AgentToken {
  readonly id: string;
  readonly realm: Realm;
  /** The consumer or the member whose it is. */
  readonly principalId: string;
  readonly name: string | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  /** Whole days since 1970. */
  readonly lastUsedDay: number | null;
  /** The program that was connected with it; null for one that its person pasted. */
  readonly client: ConnectedClient | null;
}

export interface ConnectedClient {
  /** Whose server vouches for the program; null for one that only says so itself. */
  readonly host: string | null;
  /** Where the answer was sent: a host, the person's own machine, or an app. */
  readonly redirectHost: string;
}

interface BaseAgent {
  readonly tokenId: string;
  readonly tokenHash: string;
  /** Before this call, in whole days since 1970. */
  readonly lastUsedDay: number | null;
  /** Whose records it opens: the consumer's, or the business's. */
  readonly ownerId: string;
  /** The owner's. */
  readonly chain: AuditChain;
}

/** Who calls with a token. */
export type Agent = BaseAgent &
  (
    | { readonly realm: "consumer" }
    | { readonly realm: "business"; readonly memberId: string; readonly business: MemberSession["business"] }
  );

/** The person of a consumer's token, with the assistant that acts for them. */
export const personFromAgent = ({ ownerId, chain, tokenId }: BaseAgent): Person => ({
  id: ownerId as ConsumerId,
  chain,
  actor: { kind: "agent", id: tokenId },
});

/** Where the tokens of a person who is signed in are kept, and whose chain tells of them. */
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

/** `expiresAt` of one that was minted. The chain never holds the name, which a person chose. */
export const createTokenEvent = (
  { chain, actor }: TokenOwner,
  act: {
    readonly type: "agent_token.minted" | "agent_token.revoked";
    readonly id: string;
    readonly at: Instant;
    readonly expiresAt?: Instant;
  },
): DomainEvent => ({
  type: act.type,
  entityType: "agent_token",
  entityId: act.id,
  at: act.at,
  chains: [chain],
  actor,
  payload: act.expiresAt === undefined ? {} : { expires_at: toIso(act.expiresAt) },
});
