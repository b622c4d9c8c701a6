// Implements POST /v1/auth/passkey/verify.
import {
  parseChallenge,
  shardOfUserHandle,
  type PasskeyCredential,
  type RelyingParty,
  type AuthenticationResponse,
} from "../../../core/access/passkey.ts";
import type { Realm } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId } from "../../../core/ids.ts";
import { refusals } from "../../../core/refusals.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { batch } from "../../../storage/database.ts";
import { findPasskey, recordPasskeyUse } from "../../../storage/passkeys.ts";
import { insertSessionByPasskey, findSessionByTokenHash } from "../../../storage/sessions.ts";
import { consumeChallenge } from "../../../storage/webauthn-challenges.ts";
import type { AccessDependencies } from "./dependencies.ts";
import { getSignedInUser } from "./get-signed-in-user.ts";
import { prepareSession } from "./prepare-session.ts";
import { getChallengeDatabase } from "./request-passkey-sign-in.ts";
import { signOut } from "./sign-out.ts";
import type { SignInResult } from "./complete-sign-in.ts";

/**
 * A public key that belongs to no passkey. The signature of an unknown passkey is checked with this key, so that known and unknown passkeys
 * take the same time.
 */
const dummyPasskey: PasskeyCredential = {
  credentialId: "nobody",
  publicKey: "pQECAyYgASFYIPgH5cY26dOvoJaXBHLAWHhXV3H2zwjXNLAg4PMF3gWzIlggxRh4jmZoPqmWGH2PCS5O3D9p5RLx3fhydD4Frjrcjlo",
  counter: 0,
};

const toRealm = (userId: string): Realm => (userId.startsWith("con_") ? "consumer" : "business");

/**
 * Starts a session with a new token and ends the browser's previous session. Every failure returns the same error, `login_failed`. An
 * attempt uses up its challenge, even if it fails.
 */
export const signInWithPasskey = async (
  services: AccessDependencies,
  request: {
    readonly party: RelyingParty;
    readonly signed: AuthenticationResponse;
    /** The realm to sign in to. Passkeys of the other realm are refused, so that a page never signs a person in to the wrong one. */
    readonly realm: Realm;
    readonly replaces: string | null;
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignInResult, "login_failed">> => {
  const { party, signed: assertion } = request;
  const refused = refuse("login_failed", refusals.passkey_refused);
  const challenge = parseChallenge(assertion.response.clientDataJSON);
  if (challenge === null) return refused;
  const handle = assertion.response.userHandle ?? "";
  const shardId = shardOfUserHandle(handle);
  const lookup = { challengeHash: sha256Hex(challenge), purpose: "sign_in", sessionHash: null } as const;
  const [consumed, passkey] = await Promise.all([
    consumeChallenge(getChallengeDatabase(services), lookup, services.clock()),
    shardId === null ? null : findPasskey(services.shards.forId(`con_${shardId}`), assertion.id, handle),
  ]);
  const verified =
    consumed === null ? null : await services.webAuthn.verifyAuthentication(party, assertion, challenge, passkey ?? dummyPasskey);
  if (verified === null || passkey === null || toRealm(passkey.userId) !== request.realm) return refused;

  const { userId } = passkey;
  const db = services.shards.forId(userId);
  const { token, row } = await prepareSession(services, shardOfId(userId), request.userAgent);
  // The person may have memberships in other shards, which this operation does not read. With `hasOtherShards`, pages search those shards
  // too.
  const hasOtherShards = request.realm === "business" && services.shards.all().length > 1;
  await batch(db, [
    recordPasskeyUse(db, passkey.id, { ...verified, now: row.now }),
    insertSessionByPasskey(db, { ...row, hasOtherShards }, { realm: request.realm, userId }),
  ]);
  const session = await findSessionByTokenHash(db, row.tokenHash, row.now);
  if (session === null) return refused; // a concurrent sign-in used this passkey first, or the passkey was removed
  if (request.replaces !== null) await signOut(services, request.replaces);
  return ok({ token, user: await getSignedInUser(services, session), created: false });
};
