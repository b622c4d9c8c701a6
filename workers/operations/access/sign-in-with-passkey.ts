import {
  parseChallenge,
  shardOfUserHandle,
  type PasskeyCredential,
  type RelyingParty,
  type AuthenticationResponse,
} from "../../../core/access/passkey.ts";
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
import { getChallengeDatabase } from "./passkey-challenges.ts";
import { prepareSession } from "./prepare-session.ts";
import { signOut } from "./sign-out.ts";
import type { SignInResult } from "./verify-sign-in-code.ts";

/** A key whose private half was thrown away: checked where there is no passkey, so that both take the same time. */
const dummyPasskey: PasskeyCredential = {
  credentialId: "nobody",
  publicKey: "pQECAyYgASFYIPgH5cY26dOvoJaXBHLAWHhXV3H2zwjXNLAg4PMF3gWzIlggxRh4jmZoPqmWGH2PCS5O3D9p5RLx3fhydD4Frjrcjlo",
  counter: 0,
};

/** Begins a session with a new token, as a mailed code does; the one the browser had before ends. */
export const signInWithPasskey = async (
  services: AccessDependencies,
  request: {
    readonly party: RelyingParty;
    readonly signed: AuthenticationResponse;
    readonly replaces: string | null;
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignInResult, "login_failed">> => {
  const { party, signed } = request;
  const refused = refuse("login_failed", refusals.passkey_refused);
  const challenge = parseChallenge(signed.response.clientDataJSON);
  if (challenge === null) return refused;
  const handle = signed.response.userHandle ?? "";
  const home = shardOfUserHandle(handle);
  const asked = { challengeHash: sha256Hex(challenge), purpose: "sign_in", sessionHash: null } as const;
  const [spent, passkey] = await Promise.all([
    consumeChallenge(getChallengeDatabase(services), asked, services.clock()),
    home === null ? null : findPasskey(services.shards.forId(`con_${home}`), signed.id, handle),
  ]);
  const checked = spent === null ? null : await services.webAuthn.verifyAuthentication(party, signed, challenge, passkey ?? dummyPasskey);
  if (checked === null || passkey === null) return refused;

  const db = services.shards.forId(passkey.consumerId);
  const { token, row } = await prepareSession(services, shardOfId(passkey.consumerId), request.userAgent);
  await batch(db, [recordPasskeyUse(db, passkey.id, { ...checked, now: row.now }), insertSessionByPasskey(db, row, passkey.consumerId)]);
  const session = await findSessionByTokenHash(db, row.tokenHash, row.now);
  if (session === null) return refused; // another request with this passkey was first, or it was removed
  if (request.replaces !== null) await signOut(services, request.replaces);
  return ok({ token, user: await getSignedInUser(services, session), created: false });
};
