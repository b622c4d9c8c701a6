// Whom a code for signing in is mailed to: whoever has the address; for a business also whoever was invited to one or has asked for
// an account. The address they gave first is the one that is mailed, never the one somebody types now.
import type { Realm } from "../core/access/session.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { invitationByAddress } from "./members.ts";
import { personByAddress, type Person } from "./people.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { signupByAddress, signupEmailContext } from "./signups.ts";

export interface Addressee extends Person {
  /** A member or consumer may sign in; an invitation or a sign-up first becomes a member. */
  readonly kind: "person" | "invitation" | "sign_up";
}

/** In one home, all of them: which counts is asked over all homes. */
export const addresseesOf = async (
  db: Database,
  realm: Realm,
  emailIndex: string,
  now: Instant,
): Promise<readonly (Addressee | null)[]> => {
  if (realm === "consumer") {
    const consumer = await personByAddress(db, realm, emailIndex);
    return [consumer && { ...consumer, kind: "person" }];
  }
  const [member, invitation, signup] = await Promise.all([
    personByAddress(db, realm, emailIndex),
    invitationByAddress(db, emailIndex, now),
    signupByAddress(db, emailIndex, now),
  ]);
  return [
    member && { ...member, kind: "person" },
    invitation && {
      kind: "invitation",
      id: invitation.id,
      emailSealed: invitation.emailSealed,
      emailContext: memberEmailContext(invitation.id, invitation.businessId),
      usedAt: null,
    },
    signup && {
      kind: "sign_up",
      id: signup.id,
      emailSealed: signup.emailSealed,
      emailContext: signupEmailContext(signup.id),
      usedAt: null,
    },
  ];
};

const order = ["person", "invitation", "sign_up"] as const;

/** Whoever has the address; else who was invited; else who asked for an account. */
export const firstAddressee = (found: readonly (Addressee | null)[]): Addressee | null =>
  order.map((kind) => found.find((one) => one?.kind === kind)).find((one) => one != null) ?? null;

/** The seat that was used last, over all homes; null for whoever has none. */
export const lastUsedSeat = (found: readonly (Addressee | null)[]): string | null =>
  found
    .flatMap((one) => (one?.kind === "person" ? [one] : []))
    .reduce<Addressee | null>((last, one) => (last === null || (one.usedAt ?? 0) > (last.usedAt ?? 0) ? one : last), null)?.id ?? null;
