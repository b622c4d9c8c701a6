// Who is signed in, and for how long. A session is of one realm: a portal member acts for a business, a consumer for nobody else.
import type { AuditChain } from "../facts.ts";
import type { BusinessId, ConsumerId } from "../ids.ts";
import { dayMs, hourMs } from "../time.ts";
import type { BusinessStatus } from "./entitlement.ts";
import type { Person } from "./principal.ts";

export type Realm = "consumer" | "business";
export type Role = "owner" | "member";

export const realms: readonly Realm[] = ["consumer", "business"];

/** A person on a machine of their own comes back for a month; a portal opens other people's data and ends with the working day. */
export const sessionLifeMs: Readonly<Record<Realm, number>> = { consumer: 30 * dayMs, business: 12 * hourMs };

interface SignedIn {
  readonly userId: string;
  /** Of the cookie's token. */
  readonly tokenHash: string;
  readonly emailSealed: string;
}

export interface ConsumerSession extends SignedIn {
  readonly realm: "consumer";
  readonly chain: AuditChain;
}

export interface MemberSession extends SignedIn {
  readonly realm: "business";
  readonly role: Role;
  readonly business: {
    readonly id: BusinessId;
    readonly name: string;
    readonly status: BusinessStatus;
    readonly country: string;
    readonly chain: AuditChain;
  };
}

export type Session = ConsumerSession | MemberSession;

/** Somebody who is signed in acts for themselves. */
export const personOf = ({ userId, chain }: Pick<ConsumerSession, "userId" | "chain">): Person => ({
  id: userId as ConsumerId,
  chain,
  actor: { kind: "consumer", id: userId },
});
