// Sessions: who is signed in, and for how long. A session has one realm: a member acts for a business in the portal, and a consumer acts
// for themselves.
import type { AuditChain } from "../domain-events.ts";
import type { StoredIndex } from "./address-index.ts";
import type { ConsumerId } from "../ids.ts";
import { dayMs, hourMs, minuteMs, type Instant } from "../time.ts";
import type { Plan } from "./entitlement.ts";
import type { BusinessPrincipal, Person } from "./principal.ts";

export type Realm = "consumer" | "business";
export type Role = "owner" | "member";

export const realms: readonly Realm[] = ["consumer", "business"];

/**
 * Consumers stay signed in for a month, because they use their own devices. Portal sessions give access to other people's data, so they
 * last only 12 hours.
 */
export const sessionLifetimeMs: Readonly<Record<Realm, number>> = { consumer: 30 * dayMs, business: 12 * hourMs };

/** After verifying their address, a person who was invited but has not joined has one hour to respond to invitations. */
export const invitedSessionLifetimeMs = hourMs;

interface BaseSession {
  readonly userId: string;
  /** `ssn_…`, the public ID of the session. */
  readonly sessionId: string;
  /** The hash of the token in the cookie. */
  readonly tokenHash: string;
  /** When the person last verified their identity, with a code or a passkey. */
  readonly verifiedAt: Instant;
  /** The last day on which the session was recorded as used, in whole days since 1970; null if no use was recorded. */
  readonly lastSeenDay: number | null;
  readonly emailSealed: string;
}

export interface ConsumerSession extends BaseSession {
  readonly realm: "consumer";
  readonly chain: AuditChain;
}

/**
 * A session of a member in one business. The same email address can have memberships in several businesses. `userId` is the membership ID.
 */
export interface MemberSession extends BaseSession {
  readonly realm: "business";
  readonly emailIndex: StoredIndex;
  /** Whether the email address is known to have other memberships or invitations, in any shard. */
  readonly hasOtherMemberships: boolean;
  readonly role: Role;
  readonly business: BusinessPrincipal;
  readonly plan: Plan;
  /**
   * The number of withdrawals and revoked shares that the business has not acknowledged, in the environment of the requested page. Null if
   * they were not counted.
   */
  readonly openDeadlines: number | null;
}

export type Session = ConsumerSession | MemberSession;

/**
 * The session of a person who belongs to no business, but whose verified email address has been invited to one. `userId` is the ID of the
 * invitation for which the code was emailed. This is not a `Session`, because it gives access only to invitations of that address.
 */
export interface InvitedSession extends BaseSession {
  readonly realm: "invited";
}

export type AnySession = Session | InvitedSession;

/** Returns the session's consumer, who is also the actor. */
export const personFromSession = ({ userId, chain }: Pick<ConsumerSession, "userId" | "chain">): Person => ({
  id: userId as ConsumerId,
  chain,
  actor: { kind: "consumer", id: userId },
});

/** Returns the audit chain that records a signed-in person's actions: the consumer's own, or their business's. */
export const getAuditChain = (session: Session): AuditChain => (session.realm === "consumer" ? session.chain : session.business.chain);

/** Returns whether the person's last verification is recent enough for actions that a stolen session must not allow. */
export const isRecentlyVerified = ({ verifiedAt }: Pick<Session, "verifiedAt">, now: Instant, minutes: number): boolean =>
  now - verifiedAt < minutes * minuteMs;
