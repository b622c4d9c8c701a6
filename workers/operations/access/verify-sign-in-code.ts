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
  /** For the cookie, and for nothing else. */
  readonly token: string;
  readonly user: SignedInUser;
  /** This sign-in made the consumer, or the member. */
  readonly created: boolean;
}

const maxNameLength = 200;

const prepareNewConsumer = async (
  { vault, random }: ReadDependencies,
  { db, emailIndex, home }: AddressLookup,
  { email, name }: { readonly email: string; readonly name: string | null },
  spent: UsedCode,
): Promise<SignInChanges> => {
  const chainTag = toHex(random(chainTagBytes));
  const consumer = { email, name, id: generateId("con_", home, random), emailIndex, chainTag, now: spent.now };
  return { rows: await insertConsumer(db, vault, consumer, spent), domainEvents: [] };
};

/** Whom the code makes a member; nobody for whoever is one already, and for a code that opens nothing more. */
const prepareNewMember = async (
  services: ReadDependencies,
  { db, addressee, home }: AddressLookup,
  spent: UsedCode,
): Promise<SignInChanges> => {
  const opens = addressee?.kind === "person" ? null : await findSignupIdByCode(db, spent.codeId);
  if (opens === null) return { rows: [], domainEvents: [] };
  return opens.startsWith("mem_")
    ? prepareInvitationAcceptance(db, opens, spent)
    : prepareSignupCompletion(services, db, opens, home, spent);
};

/** Null when the code was spent by somebody else in between, or nobody has the address. */
const createSession = async (
  services: WriteDependencies,
  asked: AddressLookup,
  codeId: string,
  newcomer: { readonly email: string; readonly name: string | null; readonly userAgent: string | undefined },
): Promise<{ readonly token: string; readonly session: Session; readonly created: boolean } | null> => {
  const { db, realm, emailIndex, home } = asked;
  const { token, row } = await prepareSession(services, home, newcomer.userAgent);
  const { tokenHash, now } = row;
  const spent = { codeId, sessionHash: tokenHash, now };
  const joining = await (realm === "consumer"
    ? prepareNewConsumer(services, asked, newcomer, spent)
    : prepareNewMember(services, asked, spent));
  const results = await commit(
    db,
    services,
    [
      markCodeUsed(db, spent),
      ...joining.rows,
      insertSessionByCode(db, { ...row, hasOtherShards: asked.elsewhere }, { realm, emailIndex, codeId }),
      ...expireOpenCodes(db, toCodeRequester(asked), now, tokenHash),
    ],
    joining.domainEvents,
    joining.onlyIf,
  );
  const created = joining.rows.length > 0 && (results[1] as D1Result).meta.changes > 0;
  const session = await findSessionByTokenHash(db, tokenHash, now);
  return session === null ? null : { token, session, created };
};

/**
 * Signs in with a code. Every reason not to is one refusal, `login_failed`. A session that the browser had before ends: a token
 * from before signing in is worth nothing after it.
 */
export const verifySignInCode = async (
  services: AccessWriteDependencies,
  request: {
    readonly email: string;
    readonly code: string;
    readonly realm: Realm;
    readonly name: string | null;
    readonly replaces: string | null;
    /** Of the browser that signs in. */
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignInResult, "invalid_request" | "login_failed">> => {
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const asked = await lookUpAddress(services, request.realm, request.email);
  if (asked === null) return refuse("invalid_request", invalidEmailMessage);
  const known = await openAddresseeEmail(services, asked);
  const answer = { limits: signInCodeLimits, binding: () => toSignInCodeBinding(asked, known), code: request.code };
  const codeId = await verifyEmailCode(services, asked.db, toCodeRequester(asked), answer);
  const { userAgent } = request;
  const newcomer = { email: trimWhiteSpace(request.email), name: name.value, userAgent };
  const begun = codeId === null ? null : await createSession(services, asked, codeId, newcomer);
  if (begun === null) return refuse("login_failed");
  if (request.replaces !== null) await signOut(services, request.replaces);
  // The code is kept where the address was found first; the seat that was used last may be in another home, and of another mailbox.
  const { session } = begun;
  const { seat } = asked;
  const isElsewhere = seat !== null && shardOfId(seat) !== asked.home && session.realm === "business";
  const isSeat = isElsewhere && (await listMemberships(services, session)).some(({ id }) => id === seat);
  const moved = isSeat ? await switchMembership(services, session, { id: seat, userAgent, hasOtherShards: true }) : begun;
  if (moved === null) return refuse("login_failed");
  return ok({ token: moved.token, user: await getSignedInUser(services, moved.session), created: begun.created });
};
