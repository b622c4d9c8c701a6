// POST /v1/auth/verify-code.
import type { Session, Realm } from "../../../core/access/session.ts";
import { toHex } from "../../../core/bytes.ts";
import { generateId, shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseLine, trimWhiteSpace } from "../../../core/text.ts";
import { commit } from "../../../storage/commit.ts";
import { findSignupIdByCode, markCodeUsed, expireOpenCodes } from "../../../storage/email-codes.ts";
import { insertConsumer } from "../../../storage/people.ts";
import { insertSessionByCode, findSessionByTokenHash } from "../../../storage/sessions.ts";
import type { ReadDependencies, WriteDependencies } from "../dependencies.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { verifyEmailCode } from "./email-codes.ts";
import { getSignedInUser, type SignedInUser } from "./get-signed-in-user.ts";
import { listMemberships } from "./list-memberships.ts";
import { prepareSession } from "./prepare-session.ts";
import {
  toCodeRequester,
  lookUpAddress,
  invalidEmailMessage,
  openAddresseeEmail,
  signInCodeLimits,
  toSignInCodeBinding,
  type AddressLookup,
} from "./sign-in-address.ts";
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

const maxNameLength = 200;

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
  person: { readonly email: string; readonly name: string | null; readonly userAgent: string | undefined },
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
 * Signs in with an email code. On first use, also creates the consumer, the sign-up's account or the invited membership. Ends the browser's
 * previous session (`replaces`), so that a token planted before sign-in is worthless. Returns `invalid_request` if the name or address is
 * invalid, and `login_failed` for every other failure.
 */
export const verifySignInCode = async (
  services: AccessWriteDependencies,
  request: {
    readonly email: string;
    readonly code: string;
    readonly realm: Realm;
    readonly name: string | null;
    readonly replaces: string | null;
    readonly userAgent: string | undefined;
    /** Identifies the browser; null if it has not requested a code. */
    readonly context: string | null;
  },
): Promise<Result<SignInResult, "invalid_request" | "login_failed">> => {
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const lookup = await lookUpAddress(services, request.realm, request.email);
  if (lookup === null) return refuse("invalid_request", invalidEmailMessage);
  const knownEmail = await openAddresseeEmail(services, lookup);
  const attempt = { limits: signInCodeLimits, binding: () => toSignInCodeBinding(lookup, knownEmail), code: request.code };
  const codeId = await verifyEmailCode(services, lookup.db, toCodeRequester(lookup, request.context), attempt);
  const { userAgent } = request;
  const person = { email: trimWhiteSpace(request.email), name: name.value, userAgent };
  const created = codeId === null ? null : await createSession(services, lookup, codeId, person);
  if (created === null) return refuse("login_failed");
  if (request.replaces !== null) await signOut(services, request.replaces);
  // The code is in the shard where the address was first found, but the most recently used membership can be in another shard, and its
  // address can be a different mailbox with the same index.
  const { session } = created;
  const { lastUsedMembershipId: membershipId } = lookup;
  const isInOtherShard = membershipId !== null && shardOfId(membershipId) !== lookup.shard && session.realm === "business";
  const shouldSwitch = isInOtherShard && (await listMemberships(services, session)).some(({ id }) => id === membershipId);
  const current = shouldSwitch ? await switchMembership(services, session, { id: membershipId, userAgent, hasOtherShards: true }) : created;
  if (current === null) return refuse("login_failed");
  return ok({ token: current.token, user: await getSignedInUser(services, current.session), created: created.created });
};
