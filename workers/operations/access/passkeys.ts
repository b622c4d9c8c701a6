// A consumer's passkeys: adding one, which takes two requests (what the authenticator is asked, what it answered), listing and removing.
import { deviceName, deviceOf } from "../../../core/access/device.ts";
import {
  challengeBytes,
  challengeIn,
  maxPasskeys,
  newUserHandle,
  type MadeCredential,
  type Passkey,
  type RelyingParty,
} from "../../../core/access/passkey.ts";
import type { ConsumerSession } from "../../../core/access/session.ts";
import { base64UrlOf } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, type ConsumerId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { chosenLine } from "../../../core/text.ts";
import { commit } from "../../../storage/commit.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { deletePasskey, insertPasskey, passkeysOf } from "../../../storage/passkeys.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { insertChallenge, spendChallenge } from "../../../storage/webauthn-challenges.ts";
import type { Ceremonies, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "./idempotency.ts";
import { deleteOwn, ownFact } from "./own-account.ts";

const unnamed = "Passkey";
const maxNameLength = 80;

/** Oldest first. */
export const listPasskeys = (services: Stores, session: ConsumerSession): Lookup<readonly Passkey[]> =>
  passkeysOf(services.homes.of(session.userId), services.vault, session.userId);

const emailOf = ({ vault }: Stores, { userId, emailSealed }: ConsumerSession): Promise<string> =>
  vault.open(consumerEmailContext(userId), emailSealed);

/** What the browser hands to an authenticator; good for five minutes, once, in this session. */
export const askForPasskey = async (
  services: Runtime & Stores & Ceremonies,
  session: ConsumerSession,
  party: RelyingParty,
): Promise<Result<object, "passkey_limit">> => {
  const { random, webAuthn } = services;
  const own = await listPasskeys(services, session);
  if (own.length >= maxPasskeys) return refuse("passkey_limit");
  const challenge = random(challengeBytes) as Uint8Array<ArrayBuffer>;
  const userHandle = own[0]?.userHandle ?? newUserHandle(homeOfId(session.userId), random);
  const userName = await emailOf(services, session);
  const row = { challengeHash: sha256Hex(base64UrlOf(challenge)), purpose: "add", sessionHash: session.tokenHash, userHandle } as const;
  await insertChallenge(services.homes.of(session.userId), row, services.clock()).run();
  return ok(await webAuthn.askToMake(party, { challenge, userHandle, userName, excluded: own }));
};

/** What an authenticator made for the account; null for whatever was not asked for. Its challenge is spent either way. */
const madeFor = async (services: Runtime & Stores & Ceremonies, session: ConsumerSession, party: RelyingParty, made: MadeCredential) => {
  const challenge = challengeIn(made.response.clientDataJSON);
  if (challenge === null) return null;
  const asked = { challengeHash: sha256Hex(challenge), purpose: "add", sessionHash: session.tokenHash } as const;
  const spent = await spendChallenge(services.homes.of(session.userId), asked, services.clock());
  if (spent === null || spent.userHandle === null) return null;
  const key = await services.webAuthn.checkMade(party, made, challenge);
  return key === null || key.credentialId !== made.id ? null : { ...key, userHandle: spent.userHandle };
};

/** The person is mailed: a passkey that somebody else added would let them in for good. */
export const addPasskey = async (
  services: Runtime & Stores & Schedules & Ceremonies,
  session: ConsumerSession,
  party: RelyingParty,
  request: {
    readonly made: MadeCredential;
    /** Null for the name of the device. */
    readonly name: string | null;
    readonly userAgent: string | undefined;
    readonly language: MailLanguage;
  },
  keep?: Keeping<Passkey>,
): Promise<Result<Passkey, "invalid_request" | "passkey_refused" | "passkey_limit">> => {
  const { vault } = services;
  const { made, userAgent, language } = request;
  const chosen = chosenLine("name", request.name, maxNameLength);
  if (!chosen.ok) return chosen;
  const key = await madeFor(services, session, party, made);
  if (key === null) return refuse("passkey_refused");

  const now = services.clock();
  const device = deviceName(deviceOf(userAgent));
  const id = newId("psk_", homeOfId(session.userId), services.random);
  const passkey = { ...key, id, name: chosen.value ?? device ?? unnamed, transports: made.response.transports ?? [] };
  const db = services.homes.of(session.userId);
  const { insert, isWritten } = await insertPasskey(db, vault, { ...passkey, consumerId: session.userId, now });
  const mail = await insertMail(db, vault, {
    template: "passkey_added",
    data: { at: now, device },
    to: await emailOf(services, session),
    consumerId: session.userId as ConsumerId,
    language,
    now,
    onlyIf: isWritten,
  });
  const fact = ownFact(session, { type: "passkey.added", entityType: "passkey", entityId: id }, now);
  const added: Passkey = { ...passkey, createdAt: now, usedDay: null };
  const [inserted] = await commit(db, services, [insert, ...mail, ...((await keep?.(added, isWritten)) ?? [])], [fact], isWritten);
  if (inserted.meta.changes === 0) {
    const isFull = (await listPasskeys(services, session)).length >= maxPasskeys;
    return isFull ? refuse("passkey_limit") : refuse("passkey_refused");
  }
  services.scheduleMail();
  return ok(added);
};

/** Nobody signs in with it from then on; who is signed in stays so. */
export const removePasskey = async (
  services: Runtime & Stores & Schedules,
  session: ConsumerSession,
  id: string,
): Promise<Result<string, "not_found">> => {
  const act = { type: "passkey.removed", entityType: "passkey", entityId: id } as const;
  const removed = await deleteOwn(services, session, act, (db) => deletePasskey(db, session.userId, id));
  return removed === 0 ? refuse("not_found") : ok(id);
};
