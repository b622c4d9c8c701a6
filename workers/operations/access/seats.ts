// The businesses that one address acts for, each by a seat of its own, going from one to another, and invitations to more. What is
// reached is what the proof of the session in hand reaches: seats and invitations of the very mailbox that was proved. A session in
// another seat is a new one, ends the one it comes from and lasts no longer than that.
import type { MemberSession, Session } from "../../../core/access/session.ts";
import { homeOfId, type Home } from "../../../core/ids.ts";
import { isSameMailbox } from "../../../core/mailbox.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { commit } from "../../../storage/commit.ts";
import {
  acceptInvitationOf,
  declineInvitationOf,
  deleteAccepted,
  openInvitation,
  seatsByAddress,
  type Seat,
} from "../../../storage/members.ts";
import { memberEmailContext } from "../../../storage/people-contexts.ts";
import { changedBefore, type Condition } from "../../../storage/query.ts";
import { deleteSession, insertSessionOfSeat, isBegun, noteElsewhere, sessionByToken } from "../../../storage/sessions.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { answeredFact } from "./joining.ts";
import { newSession } from "./sessions.ts";

export type { Seat };

/**
 * The current one among them. Seats first, the one that was used last first; then invitations. A home that does not answer hides its own
 * for that while: the pages of a business do not wait for another's.
 */
export const listSeats = async (services: Runtime & Stores, member: MemberSession): Promise<readonly Seat[]> => {
  const { vault, homes } = services;
  const now = services.clock();
  const proved = await vault.open(memberEmailContext(member.userId, member.business.id), member.emailSealed);
  const found = await Promise.all(
    homes.all().map(([, db]) => failingAlone(services, "seats", async () => seatsByAddress(db, vault, member.emailIndex, now))),
  );
  const invitedLast = ({ invitedUntil }: Seat): number => (invitedUntil === null ? 0 : 1);
  return found
    .flatMap((ofHome) => ofHome ?? [])
    .filter(({ email }) => isSameMailbox(email, proved))
    .sort((a, b) => invitedLast(a) - invitedLast(b) || (b.usedAt ?? 0) - (a.usedAt ?? 0) || (a.id < b.id ? -1 : 1));
};

/**
 * An address was invited in this home: its sessions in others look here from their next page on. After the answer and of every address
 * alike, so that inviting one does not tell whether it is known; where it fails, the next sign-in finds it.
 */
export const tellOtherHomes = (services: Runtime & Stores, home: Home, emailIndex: string): void =>
  services.afterAnswer(async () => {
    const others = services.homes.all().filter(([other]) => other !== home);
    await Promise.all(others.map(([, db]) => failingAlone(services, "seats", () => noteElsewhere(db, emailIndex).run())));
  });

interface Move {
  readonly id: string;
  readonly userAgent: string | undefined;
  /** Whether the address has something in another home than this seat's. */
  readonly elsewhere: boolean;
  readonly isInvited?: boolean;
}

/** One session becomes one session: whoever sends it twice at once goes one way. False where it has ended already. */
const leave = async ({ homes }: Stores, { userId, tokenHash }: MemberSession): Promise<boolean> =>
  (await deleteSession(homes.of(userId), tokenHash).run()).meta.changes > 0;

/** To a seat of the address, or by an invitation to one that begins with the session. Null where neither is there any more. */
export const moveTo = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  { id, userAgent, elsewhere, isInvited = false }: Move,
): Promise<{ readonly token: string; readonly session: Session } | null> => {
  const { emailIndex, provedAt } = member;
  const db = services.homes.of(id);
  const { token, row } = await newSession(services, homeOfId(id), userAgent);
  const invitation = isInvited ? await openInvitation(db, id, row.now) : null;
  if ((isInvited && invitation === null) || !(await leave(services, member))) return null;
  const begins = (condition?: Condition) => insertSessionOfSeat(db, { ...row, elsewhere }, { id, emailIndex, provedAt }, condition);
  const rows = isInvited ? [acceptInvitationOf(db, id, emailIndex, row.now), begins(changedBefore()), deleteAccepted(db, id)] : [begins()];
  const facts = invitation === null ? [] : [answeredFact(invitation, "member.joined", row.now)];
  await commit(db, services, rows, facts, isBegun(row.tokenHash));
  const session = await sessionByToken(db, row.tokenHash, row.now);
  return session === null ? null : { token, session };
};

/** Goes to another business of the address, or accepts its invitation. Refuses whatever is neither. */
export const enterBusiness = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  { id, userAgent }: { readonly id: string; readonly userAgent: string | undefined },
): Promise<Result<{ readonly token: string; readonly hasJoined: boolean }, "not_found">> => {
  const seats = await listSeats(services, member);
  const seat = seats.find((one) => one.id === id && id !== member.userId);
  if (seat === undefined) return refuse("not_found");
  const isInvited = seat.invitedUntil !== null;
  const elsewhere = seats.some((one) => homeOfId(one.id) !== homeOfId(id));
  const moved = await moveTo(services, member, { id, userAgent, elsewhere, isInvited });
  return moved === null ? refuse("not_found") : ok({ token: moved.token, hasJoined: isInvited });
};

/** Refuses whatever is no invitation of the very mailbox, or is none any more. It leaves everything else of the person as it is. */
export const declineInvitation = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  id: string,
): Promise<Result<null, "not_found">> => {
  const isInvited = (await listSeats(services, member)).some((seat) => seat.id === id && seat.invitedUntil !== null);
  const db = services.homes.of(id);
  const now = services.clock();
  const invitation = isInvited ? await openInvitation(db, id, now) : null;
  if (invitation === null) return refuse("not_found");
  const fact = answeredFact(invitation, "member.declined", now);
  const [{ meta }] = await commit(db, services, [declineInvitationOf(db, id, member.emailIndex)], [fact], changedBefore());
  return meta.changes === 0 ? refuse("not_found") : ok(null);
};
