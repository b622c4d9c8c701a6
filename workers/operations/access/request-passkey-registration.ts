// Creates the options for adding a passkey. This is the first step of registration.
import { maxPasskeys, challengeBytes, generateUserHandle, type RelyingParty } from "../../../core/access/passkey.ts";
import type { ConsumerSession } from "../../../core/access/session.ts";
import { toBase64Url } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { insertChallenge } from "../../../storage/webauthn-challenges.ts";
import type { Stores } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { listPasskeys } from "./list-passkeys.ts";

/** Decrypts the consumer's email address. */
export const getSessionEmail = ({ vault }: Stores, { userId, emailSealed }: ConsumerSession): Promise<string> =>
  vault.open(consumerEmailContext(userId), emailSealed);

/**
 * Creates the options for the browser's authenticator. The challenge can be used once, within five minutes, in this session. Can return
 * `passkey_limit`.
 */
export const requestPasskeyRegistration = async (
  services: AccessDependencies,
  session: ConsumerSession,
  party: RelyingParty,
): Promise<Result<object, "passkey_limit">> => {
  const { random, webAuthn } = services;
  const passkeys = await listPasskeys(services, session);
  if (passkeys.length >= maxPasskeys) return refuse("passkey_limit");
  const challenge = random(challengeBytes) as Uint8Array<ArrayBuffer>;
  const userHandle = passkeys[0]?.userHandle ?? generateUserHandle(shardOfId(session.userId), random);
  const userName = await getSessionEmail(services, session);
  const row = { challengeHash: sha256Hex(toBase64Url(challenge)), purpose: "add", sessionHash: session.tokenHash, userHandle } as const;
  await insertChallenge(services.shards.forId(session.userId), row, services.clock()).run();
  return ok(await webAuthn.createRegistrationOptions(party, { challenge, userHandle, userName, excluded: passkeys }));
};
