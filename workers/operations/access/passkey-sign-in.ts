// Signing in with a passkey. The caller names nobody: the authenticator says whose account it is, and only after its signature is
// checked is that believed. Everything that goes wrong is one refusal.
import {
  challengeBytes,
  challengeIn,
  homeOfHandle,
  type PasskeyKey,
  type RelyingParty,
  type SignedCredential,
} from "../../../core/access/passkey.ts";
import { base64UrlOf } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { firstHome, homeOfId } from "../../../core/ids.ts";
import { refusals } from "../../../core/refusals.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { noteSigned, passkeyOfHandle } from "../../../storage/passkeys.ts";
import { insertSessionByPasskey, sessionByToken } from "../../../storage/sessions.ts";
import { insertChallenge, spendChallenge } from "../../../storage/webauthn-challenges.ts";
import type { Ceremonies, Runtime, Stores } from "../../services.ts";
import { newSession } from "./sessions.ts";
import { signOut, userOf, type SignedIn } from "./sign-in.ts";

/** Whoever signs in has not said yet where they are kept. */
const challengesOf = (services: Stores): Database => services.homes.at(firstHome);

/** What the browser hands to an authenticator, the same for everybody but for the challenge, which is good for five minutes, once. */
export const askToSignIn = async (services: Runtime & Stores & Ceremonies, party: RelyingParty): Promise<object> => {
  const challenge = services.random(challengeBytes) as Uint8Array<ArrayBuffer>;
  const row = { challengeHash: sha256Hex(base64UrlOf(challenge)), purpose: "sign_in", sessionHash: null, userHandle: null } as const;
  await insertChallenge(challengesOf(services), row, services.clock()).run();
  return services.webAuthn.askToSign(party, challenge);
};

/** A key whose private half was thrown away: checked where there is no passkey, so that both take the same time. */
const nobodysKey: PasskeyKey = {
  credentialId: "nobody",
  publicKey: "pQECAyYgASFYIPgH5cY26dOvoJaXBHLAWHhXV3H2zwjXNLAg4PMF3gWzIlggxRh4jmZoPqmWGH2PCS5O3D9p5RLx3fhydD4Frjrcjlo",
  counter: 0,
};

/** Begins a session with a new token, as a mailed code does; the one the browser had before ends. */
export const signInWithPasskey = async (
  services: Runtime & Stores & Ceremonies,
  request: {
    readonly party: RelyingParty;
    readonly signed: SignedCredential;
    readonly replaces: string | null;
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignedIn, "login_failed">> => {
  const { party, signed } = request;
  const refused = refuse("login_failed", refusals.passkey_refused);
  const challenge = challengeIn(signed.response.clientDataJSON);
  if (challenge === null) return refused;
  const handle = signed.response.userHandle ?? "";
  const home = homeOfHandle(handle);
  const asked = { challengeHash: sha256Hex(challenge), purpose: "sign_in", sessionHash: null } as const;
  const [spent, passkey] = await Promise.all([
    spendChallenge(challengesOf(services), asked, services.clock()),
    home === null ? null : passkeyOfHandle(services.homes.of(`con_${home}`), signed.id, handle),
  ]);
  const checked = spent === null ? null : await services.webAuthn.checkSigned(party, signed, challenge, passkey ?? nobodysKey);
  if (checked === null || passkey === null) return refused;

  const db = services.homes.of(passkey.consumerId);
  const { token, row } = await newSession(services, homeOfId(passkey.consumerId), request.userAgent);
  await batch(db, [noteSigned(db, passkey.id, { ...checked, now: row.now }), insertSessionByPasskey(db, row, passkey.consumerId)]);
  const session = await sessionByToken(db, row.tokenHash, row.now);
  if (session === null) return refused; // another request with this passkey was first, or it was removed
  if (request.replaces !== null) await signOut(services, request.replaces);
  return ok({ token, user: await userOf(services, session), created: false });
};
