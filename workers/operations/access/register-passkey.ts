// Adds a passkey to a consumer's account or to a membership. This is the second step of registration.
import { formatDeviceName, parseDevice } from "../../../core/access/device.ts";
import {
  defaultPasskeyName,
  parseChallenge,
  maxPasskeys,
  type RelyingParty,
  type RegistrationResponse,
  type Passkey,
} from "../../../core/access/passkey.ts";
import type { Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateId, shardOfId, type ConsumerId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { commit } from "../../../storage/commit.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { insertPasskey } from "../../../storage/passkeys.ts";
import { consumeChallenge } from "../../../storage/webauthn-challenges.ts";
import type { AccessDependencies, AccessWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "./idempotency.ts";
import { getSignedInUser } from "./get-signed-in-user.ts";
import { listPasskeys } from "./list-passkeys.ts";
import { createCredentialDomainEvent } from "./own-credentials.ts";

const accountPaths = { consumer: "/app/account", business: "/portal/account" } as const;

const maxNameLength = 80;

/**
 * Verifies a new credential against this session's challenge. Returns null if the credential does not match. Uses up the challenge in both
 * cases.
 */
const verifyNewCredential = async (
  services: AccessDependencies,
  session: Session,
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
 * Stores a new passkey and emails the person, because an attacker's passkey would give permanent access. Returns `invalid_request` for an
 * invalid name, `passkey_refused` if the credential does not match its challenge or already exists, and `passkey_limit` if the account
 * cannot have more passkeys.
 */
export const registerPasskey = async (
  services: AccessWriteDependencies,
  session: Session,
  party: RelyingParty,
  request: {
    readonly registration: RegistrationResponse;
    /** The passkey's name. If null, the passkey is named after the device. */
    readonly name: string | null;
    readonly userAgent: string | undefined;
    readonly language: Language;
  },
  saveIdempotentResponse: SaveIdempotentResponse<Passkey> = async () => [],
): Promise<Result<Passkey, "invalid_request" | "passkey_refused" | "passkey_limit">> => {
  const { vault } = services;
  const { registration, userAgent, language } = request;
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const key = await verifyNewCredential(services, session, party, registration);
  if (key === null) return refuse("passkey_refused");

  const now = services.clock();
  const device = formatDeviceName(parseDevice(userAgent));
  const id = generateId("psk_", shardOfId(session.userId), services.random);
  const passkey = { ...key, id, name: name.value ?? device ?? defaultPasskeyName, transports: registration.response.transports ?? [] };
  const db = services.shards.forId(session.userId);
  const { insert, isWritten } = await insertPasskey(db, vault, { ...passkey, userId: session.userId, now });
  const mail = await insertMail(db, vault, {
    template: "passkey_added",
    data: { at: now, device, accountUrl: `${services.config.appUrl}${accountPaths[session.realm]}` },
    to: (await getSignedInUser(services, session)).email,
    ...(session.realm === "consumer" && { consumerId: session.userId as ConsumerId }),
    language,
    now,
    onlyIf: isWritten,
  });
  const domainEvent = createCredentialDomainEvent(session, { type: "passkey.added", entityType: "passkey", entityId: id }, now);
  const added: Passkey = { ...passkey, createdAt: now, lastUsedDay: null };
  const [inserted] = await commit(
    db,
    services,
    [insert, ...mail, ...(await saveIdempotentResponse(added, isWritten))],
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
