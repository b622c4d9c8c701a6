// A business's members and its open invitations.
import { desc, eq, gt, inArray, ne, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { toStoredIndex, type AddressIndex } from "../core/access/address-index.ts";
import type { Role } from "../core/access/session.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { alignMembershipIndexes, hasIndex } from "./address-indexes.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import { selectFailureOf } from "./failed-mail.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import { createLookup } from "./lookups.ts";
import { byLastUsed } from "./people.ts";
import { memberEmailContext } from "./people-contexts.ts";
import { allOf, countIn, existsIn, withTablePrefix, query } from "./query.ts";
import { businesses, invitations, members, passkeys, sessions } from "./schema.ts";
import type { Vault } from "./vault.ts";

const maxMembersAndInvitations = 100;

const isMemberOfBusiness = (businessId: BusinessId, id: string) => allOf(eq(members.id, id), eq(members.businessId, businessId));
const isInvitationOfBusiness = (businessId: BusinessId, id: string) =>
  allOf(eq(invitations.id, id), eq(invitations.businessId, businessId));

/**
 * Lists members and then open invitations, both oldest first. An invitation has the time at which it expires (`invitedUntil`) and, if its
 * email failed, the time of the failure (`deliveryFailedAt`).
 */
export const listMembersAndInvitations = (db: Database, vault: Vault, businessId: BusinessId, now: Instant) => {
  const { id, emailSealed: sealed, role, createdAt, expiresAt: invitedUntil } = invitations;
  const queries = [
    db
      .select({ id: members.id, emailSealed: members.emailSealed, role: members.role, createdAt: members.createdAt })
      .from(members)
      .where(eq(members.businessId, businessId))
      .orderBy(members.createdAt, members.id),
    db
      .select({ id, emailSealed: sealed, role, createdAt, invitedUntil, deliveryFailedAt: selectFailureOf(id).as("delivery_failed_at") })
      .from(invitations)
      .where(allOf(eq(invitations.businessId, businessId), gt(invitedUntil, now)))
      .orderBy(createdAt, id),
  ] as const;
  return createLookup(db, queries, async ([joined, invited]) => {
    const rows = [...joined.map((row) => ({ ...row, invitedUntil: null, deliveryFailedAt: null })), ...invited];
    return Promise.all(
      rows.map(async ({ emailSealed, ...row }) => ({
        ...row,
        email: await vault.open(memberEmailContext(row.id, businessId), emailSealed),
      })),
    );
  });
};

export type Member = Found<typeof listMembersAndInvitations>[number];

/** Finds a member or an open invitation of the business by ID. Returns null if there is none. */
export const findMember = async (db: Database, vault: Vault, businessId: BusinessId, id: string, now: Instant): Promise<Member | null> =>
  (await listMembersAndInvitations(db, vault, businessId, now)).find((person) => person.id === id) ?? null;

export const hasMemberWithAddress = async (db: Database, businessId: BusinessId, emailIndex: AddressIndex): Promise<boolean> =>
  (await db
    .select({ id: members.id })
    .from(members)
    .where(allOf(hasIndex(members.emailIndex, emailIndex), eq(members.businessId, businessId)))
    .get()) !== undefined;

/** The list is limited, because anyone with an account can invite any email address. */
const maxListedInvitations = 20;
/** The list is limited, because one email address can belong to any number of accounts. */
const maxListedMemberships = 100;

/**
 * Lists up to 100 memberships of an email address in this shard, most recently used first, and then up to 20 open invitations to this
 * address, newest first. After an invitation is accepted, the membership has the ID of the invitation.
 */
export const listMembershipsByAddress = async (db: Database, vault: Vault, emailIndex: AddressIndex, now: Instant) => {
  const { id, emailSealed: sealed, role, expiresAt: invitedUntil, invitedBy } = invitations;
  const inviters = alias(members, "inviters");
  const inviter = withTablePrefix({ inviterId: inviters.id, inviterSealed: inviters.emailSealed });
  const business = withTablePrefix({ id: businesses.id, name: businesses.name, status: businesses.status });
  const [memberships, invited] = await batch(db, [
    db
      .select({ id: members.id, emailSealed: members.emailSealed, role: members.role, lastUsedAt: members.lastUsedAt, business })
      .from(members)
      .innerJoin(businesses, eq(businesses.id, members.businessId))
      .where(hasIndex(members.emailIndex, emailIndex))
      .orderBy(...byLastUsed)
      .limit(maxListedMemberships),
    db
      .select({ id, emailSealed: sealed, role, invitedUntil, business, ...inviter })
      .from(invitations)
      .innerJoin(businesses, eq(businesses.id, invitations.businessId))
      .leftJoin(inviters, allOf(eq(inviters.id, invitedBy), eq(inviters.businessId, invitations.businessId)))
      .where(allOf(hasIndex(invitations.emailIndex, emailIndex), gt(invitedUntil, now)))
      .orderBy(desc(invitedUntil), desc(id))
      .limit(maxListedInvitations),
  ]);
  const rows = [
    ...memberships.map((row) => ({ ...row, invitedUntil: null, inviterId: null, inviterSealed: null })),
    ...invited.map((row) => ({ ...row, lastUsedAt: null })),
  ];
  return Promise.all(
    rows.map(async ({ emailSealed, inviterId, inviterSealed, ...row }) => ({
      ...row,
      email: await vault.open(memberEmailContext(row.id, row.business.id), emailSealed),
      /** The email address of the member who sent the invitation. Null for a membership, or if that member has left the business. */
      invitedBy:
        inviterId === null || inviterSealed === null
          ? null
          : await vault.open(memberEmailContext(inviterId, row.business.id), inviterSealed),
    })),
  );
};

export type Membership = Found<typeof listMembershipsByAddress>[number];

type NewInvitation = Omit<typeof invitations.$inferSelect, "emailSealed" | "emailIndex"> & {
  readonly email: string;
  readonly emailIndex: AddressIndex;
};

/**
 * Returns the statements that create an invitation and delete an earlier one to the same address from the same business. The batch fails if
 * the business has a total of 100 members and invitations (`isMemberLimitReached`).
 */
export const insertInvitation = async (db: Database, vault: Vault, { email, ...invitation }: NewInvitation) => {
  const { id, businessId, emailIndex } = invitation;
  const emailSealed = await vault.seal(memberEmailContext(id, businessId), email);
  const people = (table: typeof members | typeof invitations) => countIn(table, eq(table.businessId, businessId));
  const role = sql<Role>`iif(${people(members)} + ${people(invitations)} < ${maxMembersAndInvitations}, ${invitation.role}, null)`;
  return [
    db.delete(invitations).where(allOf(eq(invitations.businessId, businessId), hasIndex(invitations.emailIndex, emailIndex))),
    db.insert(invitations).values({ ...invitation, emailIndex: toStoredIndex(emailIndex), emailSealed, role }),
    ...alignMembershipIndexes(db, emailIndex),
  ] as const;
};

export const isMemberLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", invitations.role);

/** Identifies the row of a listed member: in `members`, or in `invitations` if `invitedUntil` is set. */
type MemberKey = Pick<Member, "id" | "invitedUntil">;

/**
 * Returns the statement that changes the role of a member or invitation. It does nothing if the row no longer exists or already has the
 * role. It fails if the business would have no owner left (`isLastOwner`).
 */
export const updateMembershipRole = (db: Database, businessId: BusinessId, { id, invitedUntil }: MemberKey, role: Role): Statement =>
  invitedUntil === null
    ? db
        .update(members)
        .set({ role })
        .where(allOf(isMemberOfBusiness(businessId, id), ne(members.role, role)))
    : db
        .update(invitations)
        .set({ role })
        .where(allOf(isInvitationOfBusiness(businessId, id), ne(invitations.role, role)));

/**
 * Returns the statements that remove an invitation, or a member with their sessions and passkeys. The last one deletes the row itself. They
 * do nothing if the row no longer exists. They fail if the business would have no owner left (`isLastOwner`).
 */
export const deleteMember = (db: Database, businessId: BusinessId, { id, invitedUntil }: MemberKey): readonly Statement[] => {
  if (invitedUntil !== null) return [db.delete(invitations).where(isInvitationOfBusiness(businessId, id))];
  const member = query.select({ id: members.id }).from(members).where(isMemberOfBusiness(businessId, id));
  return [
    db.delete(sessions).where(inArray(sessions.userId, member)),
    db.delete(passkeys).where(inArray(passkeys.userId, member)),
    db.delete(members).where(isMemberOfBusiness(businessId, id)),
  ];
};

export const isLastOwner = (error: unknown): boolean => isTriggerError(error, "a business must have an owner");

/** Finds an open invitation. Returns null if it does not exist or has expired. */
export const findOpenInvitation = async (db: Database, id: string, now: Instant) =>
  (await db
    .select({
      id: invitations.id,
      businessId: invitations.businessId,
      emailSealed: invitations.emailSealed,
      role: invitations.role,
      chain: businessChainFields,
    })
    .from(invitations)
    .innerJoin(businesses, eq(businesses.id, invitations.businessId))
    .where(allOf(eq(invitations.id, id), gt(invitations.expiresAt, now)))
    .get()) ?? null;

export type OpenInvitation = Found<typeof findOpenInvitation>;

/**
 * Creates a member from an invitation. Does nothing if the invitation is for a different address or has expired, or if the business already
 * has a member with this address.
 */
export const acceptInvitation = (db: Database, invitation: string, address: AddressIndex, now: Instant) => {
  const { id, businessId, emailSealed, emailIndex, role, expiresAt } = invitations;
  const isOpen = allOf(eq(id, invitation), hasIndex(emailIndex, address), gt(expiresAt, now));
  return db
    .insert(members, "id", "businessId", "emailSealed", "emailIndex", "role", "createdAt")
    .select(sql`select ${id}, ${businessId}, ${emailSealed}, ${emailIndex}, ${role}, ${now} from ${invitations} where ${isOpen}`)
    .onConflictDoNothing({ target: [members.businessId, members.emailIndex] });
};

/** Deletes an invitation that its recipient declined. Does nothing if the invitation is for a different address. */
export const deleteDeclinedInvitation = (db: Database, invitation: string, emailIndex: AddressIndex) =>
  db.delete(invitations).where(allOf(eq(invitations.id, invitation), hasIndex(invitations.emailIndex, emailIndex)));

/** Deletes an invitation if it was accepted. A member then has the invitation's ID. */
export const deleteAcceptedInvitation = (db: Database, invitation: string) =>
  db.delete(invitations).where(allOf(eq(invitations.id, invitation), existsIn(members, eq(members.id, invitation))));
