// Who is signed in, and for how long. A session is of one realm: a portal member acts for a business, a consumer for nobody else.
import type { AuditChain } from "../domain-events.ts";
import type { ConsumerId } from "../ids.ts";
import { dayMs, hourMs, minuteMs, type Instant } from "../time.ts";
import type { BusinessPrincipal, Person } from "./principal.ts";

export type Realm = "consumer" | "business";
export type Role = "owner" | "member";

export const realms: readonly Realm[] = ["consumer", "business"];

/** A person on a machine of their own comes back for a month; a portal opens other people's data and ends with the working day. */
export const sessionLifetimeMs: Readonly<Record<Realm, number>> = { consumer: 30 * dayMs, business: 12 * hourMs };

interface BaseSession {
  readonly userId: string;
  /** `ssn_…`: what the person calls it by. */
  readonly sessionId: string;
  /** Of the cookie's token. */
  readonly tokenHash: string;
  /** When the person last proved who they are, by a code or a passkey. */
  readonly verifiedAt: Instant;
  /** The last day it was noted to be in use, in days since 1970; null for none yet. */
  readonly lastSeenDay: number | null;
  readonly emailSealed: string;
}

export interface ConsumerSession extends BaseSession {
  readonly realm: "consumer";
  readonly chain: AuditChain;
}

/** In one of the businesses that an address acts for; `userId` is the seat there. */
export interface MemberSession extends BaseSession {
  readonly realm: "business";
  readonly emailIndex: string;
  /** Whether the address may have more than this seat: others in its home, or something in another home, as far as that is known. */
  readonly hasOtherMemberships: boolean;
  readonly role: Role;
  readonly business: BusinessPrincipal;
}

export type Session = ConsumerSession | MemberSession;

/** Somebody who is signed in acts for themselves. */
export const personFromSession = ({ userId, chain }: Pick<ConsumerSession, "userId" | "chain">): Person => ({
  id: userId as ConsumerId,
  chain,
  actor: { kind: "consumer", id: userId },
});
/** Whose audit chain tells what somebody did who is signed in: their own, or their business's. */
export const getAuditChain = (session: Session): AuditChain => (session.realm === "consumer" ? session.chain : session.business.chain);

/** Whether the person's last proof is recent enough for something that a stolen session must not do. */
export const isRecentlyVerified = ({ verifiedAt }: Pick<Session, "verifiedAt">, now: Instant, minutes: number): boolean =>
  now - verifiedAt < minutes * minuteMs;
