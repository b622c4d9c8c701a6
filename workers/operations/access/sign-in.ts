// Signing in by an e-mailed code, for consumers and for members of a business. Nothing an answer says, costs or leaves behind
// tells whether an address is known: both ways read, seal, hash and write the same, and only the mail knows who gets one.
import { mailedCodeLimits, type MailedCodeLimits } from "../../../core/access/mailed-code.ts";
import type { Realm, Session } from "../../../core/access/session.ts";
import { hexOf } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { firstHome, hasSecretShape, homeOfId, newId } from "../../../core/ids.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { chosenLine, trimmed } from "../../../core/text.ts";
import { dayMs } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { closeCodes, openedBy, spendCode, type Asker } from "../../../storage/mailed-codes.ts";
import { addresseesOf, firstAddressee, insertConsumer, lastUsedSeat } from "../../../storage/people.ts";
import { consumerEmailContext, memberEmailContext, nobodyContext } from "../../../storage/people-contexts.ts";
import { deleteSession, insertSession, noteSeen, sessionByToken } from "../../../storage/sessions.ts";
import { failingAlone } from "../../log.ts";
import type { Memories, Runtime, Schedules, Stores } from "../../services.ts";
import { joinByInvitation, joinBySignup, type Joining, type SpentCode } from "./joining.ts";
import { answeredCode, mailedCode } from "./mailed-codes.ts";
import { newSession } from "./sessions.ts";
import { listSeats, moveTo } from "./seats.ts";

const notAMailbox = "email: must be one e-mail address.";
const chainTagBytes = 16;

const beforeAt = (address: string): string => address.trim().slice(0, address.trim().lastIndexOf("@"));

/** The address in the form it is found by, and the home of whoever has it; the first home for nobody. Null for what is no address. */
export const ask = async (services: Runtime & Stores, realm: Realm, email: string) => {
  const address = comparableMailbox(email);
  if (address === null) return null;
  const emailIndex = await services.vault.blindIndex("email", address);
  const now = services.clock();
  const found = await Promise.all(services.homes.all().map(([, db]) => addresseesOf(db, realm, emailIndex, now)));
  const addressee = firstAddressee(found.flat());
  const home = addressee === null ? firstHome : homeOfId(addressee.id);
  return {
    realm,
    emailIndex,
    addressee,
    /** Of the seats of the address, in whatever home, the one that was used last; null for none. */
    seat: realm === "business" ? lastUsedSeat(found.flat()) : null,
    /** Whether a member's address has something in a home besides the one that is signed in to. */
    elsewhere: found.filter((ofHome) => ofHome.some((one) => one !== null && one.kind !== "sign_up")).length > 1,
    /**
     * How a new consumer spells what stands before the @. Who is known is mailed at the address given first; a newcomer's becomes the
     * address, so it must be the very one that was mailed: two spellings can be two mailboxes. Nobody new signs in to a business: a
     * sign-up and an invitation have their own.
     */
    spelling: addressee === null && realm === "consumer" ? beforeAt(email) : "",
    home,
    db: services.homes.at(home),
  };
};

type Asked = NonNullable<Awaited<ReturnType<typeof ask>>>;

/** Opens the address of whoever is to be mailed; for nobody, opens something else, so that both take the same time. */
export const knownAddress = async (services: Stores & Memories, { addressee }: Asked): Promise<string | null> => {
  const { vault } = services;
  if (addressee !== null) return vault.open(addressee.emailContext, addressee.emailSealed);
  await vault.open(nobodyContext, await services.sealedNobody());
  return null;
};

/** The limits on codes, as this deployment sets them. */
export const codeLimits = ({ config }: Runtime): MailedCodeLimits => {
  const { count: max, seconds } = config.limits.AUTH_CODES_PER_ADDRESS;
  return { ...limits, mailsToAddress: { ...limits.mailsToAddress, withinMs: seconds * 1_000, max } };
};

const limits = mailedCodeLimits.login;
export const asker = ({ realm, emailIndex }: Asked): Asker => ({
  purpose: "login",
  topic: realm,
  addressIndex: emailIndex,
  certId: null,
  contextHash: null,
});
/**
 * `known`: the address that is mailed. A code of a member is bound to its spelling: by the time it is given back, another seat may be the
 * one that was used last, and of another mailbox.
 */
export const codeBinding = ({ realm, emailIndex, spelling, addressee }: Asked, known: string | null): string => {
  const mailed = realm === "business" && addressee?.kind === "person" && known !== null ? beforeAt(known) : spelling;
  return `login\n${realm}\n${emailIndex}\n${mailed}`;
};

/**
 * Mails a code, if the address is one that may sign in: any address for a consumer, a member's for a business. The mail goes
 * to the address as it was first given, not as it is spelt now. Silent when there were too many.
 */
export const requestCode = async (
  services: Runtime & Stores & Memories & Schedules,
  request: { readonly email: string; readonly realm: Realm; readonly language: MailLanguage },
): Promise<Result<{ readonly accepted: true }, "invalid_request">> => {
  const asked = await ask(services, request.realm, request.email);
  if (asked === null) return refuse("invalid_request", notAMailbox);
  const { db, realm, addressee } = asked;
  const now = services.clock();
  const known = await knownAddress(services, asked);
  const { rows } = await mailedCode(services, db, asker(asked), {
    limits: codeLimits(services),
    binding: () => codeBinding(asked, known),
    to: known ?? (realm === "consumer" ? trimmed(request.email) : null),
    mail: async (code) => ({ template: "login_code", data: { code } }),
    language: request.language,
    opens: addressee === null || addressee.kind === "person" ? null : addressee.id,
    now,
  });
  await batch(db, rows);
  services.scheduleMail();
  return ok({ accepted: true });
};

export interface SignedIn {
  /** For the cookie, and for nothing else. */
  readonly token: string;
  readonly user: SignedInUser;
  /** This sign-in made the consumer, or the member. */
  readonly created: boolean;
}

/** Whose session it is, as the answers tell it. */
export const userOf = async ({ vault }: Stores, session: Session) => {
  const { userId: id, realm, emailSealed } = session;
  const [role, businessId] = realm === "consumer" ? [null, null] : [session.role, session.business.id];
  const context = businessId === null ? consumerEmailContext(id) : memberEmailContext(id, businessId);
  return { id, email: await vault.open(context, emailSealed), realm, role, businessId };
};

export type SignedInUser = Awaited<ReturnType<typeof userOf>>;

const maxNameLength = 200;

const newConsumer = async (
  { vault, random }: Runtime & Stores,
  { db, emailIndex, home }: Asked,
  { email, name }: { readonly email: string; readonly name: string | null },
  spent: SpentCode,
): Promise<Joining> => {
  const chainTag = hexOf(random(chainTagBytes));
  const consumer = { email, name, id: newId("con_", home, random), emailIndex, chainTag, now: spent.now };
  return { rows: await insertConsumer(db, vault, consumer, spent), facts: [] };
};

/** Whom the code makes a member; nobody for whoever is one already, and for a code that opens nothing more. */
const newMember = async (services: Runtime & Stores, { db, addressee, home }: Asked, spent: SpentCode): Promise<Joining> => {
  const opens = addressee?.kind === "person" ? null : await openedBy(db, spent.codeId);
  if (opens === null) return { rows: [], facts: [] };
  return opens.startsWith("mem_") ? joinByInvitation(db, opens, spent) : joinBySignup(services, db, opens, home, spent);
};

/** Null when the code was spent by somebody else in between, or nobody has the address. */
const beginSession = async (
  services: Runtime & Stores & Schedules,
  asked: Asked,
  codeId: string,
  newcomer: { readonly email: string; readonly name: string | null; readonly userAgent: string | undefined },
): Promise<{ readonly token: string; readonly session: Session; readonly created: boolean } | null> => {
  const { db, realm, emailIndex, home } = asked;
  const { token, row } = await newSession(services, home, newcomer.userAgent);
  const { tokenHash, now } = row;
  const spent = { codeId, sessionHash: tokenHash, now };
  const joining = await (realm === "consumer" ? newConsumer(services, asked, newcomer, spent) : newMember(services, asked, spent));
  const results = await commit(
    db,
    services,
    [
      spendCode(db, spent),
      ...joining.rows,
      insertSession(db, { ...row, elsewhere: asked.elsewhere }, { realm, emailIndex, codeId }),
      ...closeCodes(db, asker(asked), now, tokenHash),
    ],
    joining.facts,
    joining.onlyIf,
  );
  const created = joining.rows.length > 0 && (results[1] as D1Result).meta.changes > 0;
  const session = await sessionByToken(db, tokenHash, now);
  return session === null ? null : { token, session, created };
};

/**
 * Signs in with a code. Every reason not to is one refusal, `login_failed`. A session that the browser had before ends: a token
 * from before signing in is worth nothing after it.
 */
export const verifyCode = async (
  services: Runtime & Stores & Memories & Schedules,
  request: {
    readonly email: string;
    readonly code: string;
    readonly realm: Realm;
    readonly name: string | null;
    readonly replaces: string | null;
    /** Of the browser that signs in. */
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignedIn, "invalid_request" | "login_failed">> => {
  const name = chosenLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const asked = await ask(services, request.realm, request.email);
  if (asked === null) return refuse("invalid_request", notAMailbox);
  const known = await knownAddress(services, asked);
  const answer = { limits, binding: () => codeBinding(asked, known), code: request.code };
  const codeId = await answeredCode(services, asked.db, asker(asked), answer);
  const { userAgent } = request;
  const newcomer = { email: trimmed(request.email), name: name.value, userAgent };
  const begun = codeId === null ? null : await beginSession(services, asked, codeId, newcomer);
  if (begun === null) return refuse("login_failed");
  if (request.replaces !== null) await signOut(services, request.replaces);
  // The code is kept where the address was found first; the seat that was used last may be in another home, and of another mailbox.
  const { session } = begun;
  const { seat } = asked;
  const isElsewhere = seat !== null && homeOfId(seat) !== asked.home && session.realm === "business";
  const isSeat = isElsewhere && (await listSeats(services, session)).some(({ id }) => id === seat);
  const moved = isSeat ? await moveTo(services, session, { id: seat, userAgent, elsewhere: true }) : begun;
  if (moved === null) return refuse("login_failed");
  return ok({ token: moved.token, user: await userOf(services, moved.session), created: begun.created });
};

/** The day a session was last used on is written after the answer, and only where it is not written yet. */
const noteUse = (services: Runtime, db: Database, { tokenHash, seenDay }: Session, day: number): void => {
  if (seenDay === day) return;
  services.afterAnswer(async () => {
    await failingAlone(services, "session_seen", () => noteSeen(db, tokenHash, day).run());
  });
};

/** The session of a cookie's token; null for whatever is none. */
export const sessionOf = async (services: Runtime & Stores, token: string | null): Promise<Session | null> => {
  if (token === null || !hasSecretShape(token, "ses_")) return null;
  const db = services.homes.of(token);
  const now = services.clock();
  const session = await sessionByToken(db, sha256Hex(token), now);
  if (session !== null) noteUse(services, db, session, Math.floor(now / dayMs));
  return session;
};

/** Ends the session of a token, at once and everywhere. */
export const signOut = async (services: Stores, token: string): Promise<void> => {
  if (hasSecretShape(token, "ses_")) await deleteSession(services.homes.of(token), sha256Hex(token)).run();
};
