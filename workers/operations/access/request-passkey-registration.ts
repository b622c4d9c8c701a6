// Creates the options for adding a passkey. This is the first step of registration.
import { maxPasskeys, challengeBytes, generateUserHandle, type RelyingParty } from "../../../core/access/passkey.ts";
import type { Session } from "../../../core/access/session.ts";
import { toBase64Url } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { insertChallenge } from "../../../storage/webauthn-challenges.ts";
import type { Stores } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { getSignedInUser } from "./get-signed-in-user.ts";
import { listPasskeys } from "./list-passkeys.ts";

/**
 * The name that authenticators show. One email address can have a consumer account and several memberships, so a member's name includes the
 * business.
 */
const getUserName = async (services: Stores, session: Session): Promise<string> => {
  const { email } = await getSignedInUser(services, session);
  return session.realm === "business" ? `${email} (${session.business.name})` : email;
};

/**
 * Creates the options for the browser's authenticator. The challenge can be used once, within five minutes, in this session. Can return
 * `passkey_limit`.
 */
export const requestPasskeyRegistration = async (
  services: AccessDependencies,
  session: Session,
  party: RelyingParty,
): Promise<Result<object, "passkey_limit">> => {
  const { random, webAuthn } = services;
  const passkeys = await listPasskeys(services, session);
  if (passkeys.length >= maxPasskeys) return refuse("passkey_limit");
  const challenge = random(challengeBytes) as Uint8Array<ArrayBuffer>;
  const userHandle = passkeys[0]?.userHandle ?? generateUserHandle(shardOfId(session.userId), random);
  const userName = await getUserName(services, session);
  const row = { challengeHash: sha256Hex(toBase64Url(challenge)), purpose: "add", sessionHash: session.tokenHash, userHandle } as const;
  await insertChallenge(services.shards.forId(session.userId), row, services.clock()).run();
  return ok(await webAuthn.createRegistrationOptions(party, { challenge, userHandle, userName, excluded: passkeys }));
};
