// Starts a session once an email code, or the link in its email, has verified the address.
import type { Session } from "../../../core/access/session.ts";
import { toHex } from "../../../core/bytes.ts";
import { generateId, shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { commit } from "../../../storage/commit.ts";
import { findSignupIdByCode, markCodeUsed, expireOpenCodes } from "../../../storage/email-codes.ts";
import { insertConsumer } from "../../../storage/people.ts";
import { insertSessionByCode, findSessionByTokenHash } from "../../../storage/sessions.ts";
import type { ReadDependencies, WriteDependencies } from "../dependencies.ts";
import { getSignedInUser, type SignedInUser } from "./get-signed-in-user.ts";
import { listMemberships } from "./list-memberships.ts";
import { prepareSession } from "./prepare-session.ts";
import { toCodeRequester, type AddressLookup } from "./sign-in-address.ts";
import { prepareInvitationAcceptance, prepareSignupCompletion, type UsedCode, type SignInChanges } from "./sign-in-changes.ts";
import { signOut } from "./sign-out.ts";
import { switchMembership } from "./switch-membership.ts";

const chainTagBytes = 16;

export interface SignInResult {
  /** Used only for the session cookie. */
  readonly token: string;
  readonly user: SignedInUser;
  /** Whether this sign-in created the consumer or the membership. */
  readonly created: boolean;
}

/** The person as the sign-in describes them. The address and the name are stored when it creates a consumer. */
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
  return { rows: await insertConsumer(db, vault, consumer, usedCode), domainEvents: [] };
};

/** Completes the sign-up or invitation that belongs to the code, if one is open. Changes nothing for an existing member. */
const prepareNewMember = async (
  services: ReadDependencies,
  { db, addressee, shard }: AddressLookup,
  usedCode: UsedCode,
): Promise<SignInChanges> => {
  const opens = addressee?.kind === "person" ? null : await findSignupIdByCode(db, usedCode.codeId);
  if (opens === null) return { rows: [], domainEvents: [] };
  return opens.startsWith("mem_")
    ? prepareInvitationAcceptance(db, opens, usedCode)
    : prepareSignupCompletion(services, db, opens, shard, usedCode);
};

/** Creates the session. Returns null if a concurrent request used up the code, or if the address has no account. */
const createSession = async (
  services: WriteDependencies,
  lookup: AddressLookup,
  codeId: string,
  person: SignInPerson,
): Promise<{ readonly token: string; readonly session: Session; readonly created: boolean } | null> => {
  const { db, realm, emailIndex, shard } = lookup;
  const { token, row } = await prepareSession(services, shard, person.userAgent);
  const { tokenHash, now } = row;
  const usedCode = { codeId, sessionHash: tokenHash, now };
  const changes = await (realm === "consumer"
    ? prepareNewConsumer(services, lookup, person, usedCode)
    : prepareNewMember(services, lookup, usedCode));
  const results = await commit(
    db,
    services,
    [
      markCodeUsed(db, usedCode),
      ...changes.rows,
      insertSessionByCode(db, { ...row, hasOtherShards: lookup.hasOtherShards }, { realm, emailIndex, codeId }),
      ...expireOpenCodes(db, toCodeRequester(lookup, null), now, tokenHash),
    ],
    changes.domainEvents,
    changes.onlyIf,
  );
  const created = changes.rows.length > 0 && (results[1] as D1Result).meta.changes > 0;
  const session = await findSessionByTokenHash(db, tokenHash, now);
  return session === null ? null : { token, session, created };
};

/**
 * Starts a session with a verified code. On first use, also creates the consumer, the sign-up's account or the invited membership. Ends the
 * browser's previous session (`replaces`), so that a token planted before sign-in is worthless. Returns `login_failed` if a concurrent
 * request used up the code.
 */
export const completeSignIn = async (
  services: WriteDependencies,
  lookup: AddressLookup,
  codeId: string,
  { replaces, ...person }: SignInPerson & { readonly replaces: string | null },
): Promise<Result<SignInResult, "login_failed">> => {
  const created = await createSession(services, lookup, codeId, person);
  if (created === null) return refuse("login_failed");
  if (replaces !== null) await signOut(services, replaces);
  // The code is in the shard where the address was first found, but the most recently used membership can be in another shard, and its
  // address can be a different mailbox with the same index.
  const { session } = created;
  const { userAgent } = person;
  const { lastUsedMembershipId: membershipId } = lookup;
  const isInOtherShard = membershipId !== null && shardOfId(membershipId) !== lookup.shard && session.realm === "business";
  const shouldSwitch = isInOtherShard && (await listMemberships(services, session)).some(({ id }) => id === membershipId);
  const current = shouldSwitch ? await switchMembership(services, session, { id: membershipId, userAgent, hasOtherShards: true }) : created;
  if (current === null) return refuse("login_failed");
  return ok({ token: current.token, user: await getSignedInUser(services, current.session), created: created.created });
};
