// Starts a session after an email code or an emailed link has verified the email address.
import type { AnySession } from "../../../core/access/session.ts";
import { toHex } from "../../../core/bytes.ts";
import { generateId, shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { commit } from "../../../storage/commit.ts";
import { findSignupIdByCode, markCodeUsed, expireOpenCodes } from "../../../storage/email-codes.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertConsumer } from "../../../storage/people.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { findOpenInvitation } from "../../../storage/members.ts";
import { memberEmailContext } from "../../../storage/people-contexts.ts";
import { insertInvitedSession, insertSessionByCode, findSessionByTokenHash, type NewSession } from "../../../storage/sessions.ts";
import type { ReadDependencies, WriteDependencies } from "../dependencies.ts";
import { getSignedInUser, type SignedInUser } from "./get-signed-in-user.ts";
import { listMemberships } from "./list-memberships.ts";
import { prepareSession } from "./prepare-session.ts";
import { toCodeRequester, type AddressLookup } from "./sign-in-address.ts";
import { noSignInChanges, prepareSignupCompletion, type UsedCode, type SignInChanges } from "./sign-in-changes.ts";
import { signOut } from "./sign-out.ts";
import { switchMembership } from "./switch-membership.ts";

const chainTagBytes = 16;

export interface SignInResult {
  readonly token: string;
  readonly user: SignedInUser;
  /** True if this sign-in created the consumer or the business. */
  readonly created: boolean;
}

/** The person who signs in. If the sign-in creates a consumer, the consumer gets this address and name. */
export interface SignInPerson {
  readonly email: string;
  readonly name: string | null;
  readonly userAgent: string | undefined;
}

const prepareNewConsumer = async (
  { vault, random }: ReadDependencies,
  { db, emailIndex, shard }: AddressLookup,
  { email, name }: { readonly email: string; readonly name: string | null },
  usedCode: UsedCode,
): Promise<SignInChanges> => {
  const chainTag = toHex(random(chainTagBytes));
  const consumer = { email, name, id: generateId("con_", shard, random), emailIndex, chainTag, now: usedCode.now };
  return { statements: await insertConsumer(db, vault, consumer, usedCode), domainEvents: [] };
};

/** Prepares a session for a person who was invited but has not joined yet. Returns no statements if the invitation is no longer open. */
const prepareInvitedSession = async (
  { vault }: ReadDependencies,
  db: Database,
  row: NewSession,
  { codeId, invitationId }: { readonly codeId: string; readonly invitationId: string },
): Promise<readonly Statement[]> => {
  const invitation = await findOpenInvitation(db, invitationId, row.now);
  if (invitation === null) return [];
  const email = await vault.open(memberEmailContext(invitationId, invitation.businessId), invitation.emailSealed);
  return insertInvitedSession(db, vault, row, { invitationId, email, codeId });
};

/**
 * Prepares the changes of a first sign-in, and the session. If the code was emailed for a sign-up, the changes complete the sign-up. If it
 * was emailed for an invitation, the session only lets the person accept or decline the invitation.
 */
const prepareSignIn = async (
  services: ReadDependencies,
  lookup: AddressLookup,
  { person, row, codeId }: { readonly person: SignInPerson; readonly row: NewSession; readonly codeId: string },
): Promise<{ readonly changes: SignInChanges; readonly session: readonly Statement[] }> => {
  const { db, realm, emailIndex, addressee, shard, hasOtherShards } = lookup;
  const usedCode = { codeId, sessionHash: row.tokenHash, now: row.now };
  const session = [insertSessionByCode(db, { ...row, hasOtherShards }, { realm, emailIndex, codeId })];
  if (realm === "consumer") return { changes: await prepareNewConsumer(services, lookup, person, usedCode), session };
  const signupId = addressee?.kind === "person" ? null : await findSignupIdByCode(db, codeId);
  if (signupId?.startsWith("mem_")) {
    return { changes: noSignInChanges, session: await prepareInvitedSession(services, db, row, { codeId, invitationId: signupId }) };
  }
  const changes = signupId === null ? noSignInChanges : await prepareSignupCompletion(services, db, signupId, shard, usedCode);
  return { changes, session };
};

/** Creates the session. Returns null if a concurrent request used the code first, or if the address has no account or open invitation. */
const createSession = async (
  services: WriteDependencies,
  lookup: AddressLookup,
  codeId: string,
  person: SignInPerson,
): Promise<{ readonly token: string; readonly session: AnySession; readonly created: boolean } | null> => {
  const { db, shard } = lookup;
  const { token, row } = await prepareSession(services, shard, person.userAgent);
  const { tokenHash, now } = row;
  const { changes, session: insertSession } = await prepareSignIn(services, lookup, { person, row, codeId });
  const results = await commit(
    db,
    services,
    [
      markCodeUsed(db, { codeId, sessionHash: tokenHash, now }),
      ...changes.statements,
      ...insertSession,
      ...expireOpenCodes(db, toCodeRequester(lookup, null), now, tokenHash),
    ],
    changes.domainEvents,
    changes.onlyIf,
  );
  const created = changes.statements.length > 0 && (results[1] as D1Result).meta.changes > 0;
  const session = await findSessionByTokenHash(db, tokenHash, now);
  return session === null ? null : { token, session, created };
};

/**
 * Starts a session with a verified code. On the first sign-in, also creates the consumer or completes the sign-up. A person who was invited
 * but has not joined yet gets a session without a business. Ends the browser's previous session (`replaces`), so that an attacker gains
 * nothing by planting a session token in the browser before sign-in. Returns `login_failed` if a concurrent request used the code first, if
 * the address has no account or open invitation, or if the session or membership ended during the call. While a shard does not respond,
 * throws an outage instead of creating an account, because the address may have one there. In that case, the code stays valid.
 */
export const completeSignIn = async (
  services: WriteDependencies,
  lookup: AddressLookup,
  codeId: string,
  { replaces, ...person }: SignInPerson & { readonly replaces: string | null },
): Promise<Result<SignInResult, "login_failed">> => {
  if (lookup.isPartial && (lookup.addressee === null || lookup.addressee.kind === "sign_up")) throw new StorageFault("outage");
  const created = await createSession(services, lookup, codeId, person);
  if (created === null) return refuse("login_failed");
  if (replaces !== null) await signOut(services, replaces);
  // The session starts in the first shard where the address has a membership. If the most recently used membership is in another shard,
  // switch to it. Two mailboxes can have the same index, so switch only if the membership belongs to the verified mailbox.
  const { session } = created;
  const { userAgent } = person;
  const { lastUsedMembershipId: membershipId } = lookup;
  const isInOtherShard = membershipId !== null && shardOfId(membershipId) !== lookup.shard;
  const shouldSwitch =
    session.realm === "business" && isInOtherShard && (await listMemberships(services, session)).some(({ id }) => id === membershipId);
  const current: { token: string; session: AnySession } | null = shouldSwitch
    ? await switchMembership(services, { ...session, emailIndex: lookup.emailIndex }, { id: membershipId, userAgent, hasOtherShards: true })
    : created;
  if (current === null) return refuse("login_failed");
  return ok({ token: current.token, user: await getSignedInUser(services, current.session), created: created.created });
};
