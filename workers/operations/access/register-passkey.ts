// Adds a passkey to a consumer's account. This is the second step of registration.
import { formatDeviceName, parseDevice } from "../../../core/access/device.ts";
import { parseChallenge, maxPasskeys, type RelyingParty, type RegistrationResponse, type Passkey } from "../../../core/access/passkey.ts";
import type { ConsumerSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateId, shardOfId, type ConsumerId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { commit } from "../../../storage/commit.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { insertPasskey } from "../../../storage/passkeys.ts";
import { consumeChallenge } from "../../../storage/webauthn-challenges.ts";
import type { AccessDependencies, AccessWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "./idempotency.ts";
import { listPasskeys } from "./list-passkeys.ts";
import { createCredentialDomainEvent } from "./own-credentials.ts";
import { getSessionEmail } from "./request-passkey-registration.ts";

const defaultName = "Passkey";

const maxNameLength = 80;

/** Verifies a new credential against this session's challenge. Returns null if it does not match. The challenge is used up either way. */
const verifyNewCredential = async (
  services: AccessDependencies,
  session: ConsumerSession,
  party: RelyingParty,
  registration: RegistrationResponse,
) => {
  const challenge = parseChallenge(registration.response.clientDataJSON);
  if (challenge === null) return null;
  const lookup = { challengeHash: sha256Hex(challenge), purpose: "add", sessionHash: session.tokenHash } as const;
  const consumed = await consumeChallenge(services.shards.forId(session.userId), lookup, services.clock());
  if (consumed === null || consumed.userHandle === null) return null;
  const key = await services.webAuthn.verifyRegistration(party, registration, challenge);
  return key === null || key.credentialId !== registration.id ? null : { ...key, userHandle: consumed.userHandle };
};

/**
 * Stores a new passkey and emails the person, because a passkey that an attacker adds would give permanent access. Returns
 * `invalid_request` if the name is invalid, `passkey_refused` if the credential does not match its challenge or already exists, and
 * `passkey_limit` if the account cannot have more passkeys.
 */
export const registerPasskey = async (
  services: AccessWriteDependencies,
  session: ConsumerSession,
  party: RelyingParty,
  request: {
    readonly made: RegistrationResponse;
    /** The passkey's name. Null names it after the device. */
    readonly name: string | null;
    readonly userAgent: string | undefined;
    readonly language: MailLanguage;
  },
  saveResponse?: SaveIdempotentResponse<Passkey>,
): Promise<Result<Passkey, "invalid_request" | "passkey_refused" | "passkey_limit">> => {
  const { vault } = services;
  const { made, userAgent, language } = request;
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const key = await verifyNewCredential(services, session, party, made);
  if (key === null) return refuse("passkey_refused");

  const now = services.clock();
  const device = formatDeviceName(parseDevice(userAgent));
  const id = generateId("psk_", shardOfId(session.userId), services.random);
  const passkey = { ...key, id, name: name.value ?? device ?? defaultName, transports: made.response.transports ?? [] };
  const db = services.shards.forId(session.userId);
  const { insert, isWritten } = await insertPasskey(db, vault, { ...passkey, consumerId: session.userId, now });
  const mail = await insertMail(db, vault, {
    template: "passkey_added",
    data: { at: now, device },
    to: await getSessionEmail(services, session),
    consumerId: session.userId as ConsumerId,
    language,
    now,
    onlyIf: isWritten,
  });
  const domainEvent = createCredentialDomainEvent(session, { type: "passkey.added", entityType: "passkey", entityId: id }, now);
  const added: Passkey = { ...passkey, createdAt: now, lastUsedDay: null };
  const [inserted] = await commit(
    db,
    services,
    [insert, ...mail, ...((await saveResponse?.(added, isWritten)) ?? [])],
    [domainEvent],
    isWritten,
  );
  if (inserted.meta.changes === 0) {
    const isFull = (await listPasskeys(services, session)).length >= maxPasskeys;
    return isFull ? refuse("passkey_limit") : refuse("passkey_refused");
  }
  services.scheduleMail();
  return ok(added);
};
