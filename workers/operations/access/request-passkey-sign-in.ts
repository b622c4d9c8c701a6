// Implements POST /v1/auth/passkey/options.
import { challengeBytes, type RelyingParty } from "../../../core/access/passkey.ts";
import { toBase64Url } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { firstShard } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { insertChallenge } from "../../../storage/webauthn-challenges.ts";
import type { Stores } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";

/** Returns the first shard's database, which stores sign-in challenges because the account is not known yet. */
export const getChallengeDatabase = (services: Stores): Database => services.shards.get(firstShard);

/**
 * Creates the options for the browser's authenticator. Only the challenge differs between calls. It can be used once, within five minutes.
 */
export const requestPasskeySignIn = async (services: AccessDependencies, party: RelyingParty): Promise<object> => {
  const challenge = services.random(challengeBytes) as Uint8Array<ArrayBuffer>;
  const row = { challengeHash: sha256Hex(toBase64Url(challenge)), purpose: "sign_in", sessionHash: null, userHandle: null } as const;
  await insertChallenge(getChallengeDatabase(services), row, services.clock()).run();
  return services.webAuthn.createAuthenticationOptions(party, challenge);
};
