// Passkeys (WebAuthn): what a ceremony is asked and answers, and every number around it. The checking of what an authenticator
// signed is a library's (workers/adapters/webauthn.ts); what is ours to decide stands here.
import { toBase64Url, fromBase64Url, concatBytes, encodeUtf8 } from "../bytes.ts";
import { parseIJson } from "../i-json.ts";
import { minuteMs, type Instant } from "../time.ts";
import type { ShardId, RandomBytes } from "../ids.ts";

export const maxPasskeys = 10;
/** Adding one lets somebody in for good, so a session that was left open is not enough. */
export const addPasskeyProofMinutes = 10;
/** The person looks for their telephone in that time. */
export const challengeLifetimeMs = 5 * minuteMs;
export const challengeBytes = 32;

/** To whom an authenticator speaks: the app's host, on the app's origin and no other. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** A credential that an authenticator made, as browsers write it (`RegistrationResponseJSON`). */
export interface RegistrationResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

/** What an authenticator signed with one (`AuthenticationResponseJSON`). */
export interface AuthenticationResponse {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
}

/** What is kept of a credential in order to check what it signs. */
export interface PasskeyCredential {
  readonly credentialId: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** How often it has signed, by its own account; 0 where it does not count. */
  readonly counter: number;
}

export interface VerifiedCredential extends PasskeyCredential {
  /** The person's other devices have it too. */
  readonly backedUp: boolean;
}

/** As its owner sees it, and as options for another one name it. */
export interface Passkey {
  readonly id: string;
  readonly credentialId: string;
  readonly userHandle: string;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
  readonly name: string;
  readonly createdAt: Instant;
  /** The last day it signed in, in days since 1970. */
  readonly lastUsedDay: number | null;
}

/** The ceremonies, as whoever checks them offers them. Null: not what was asked for, whatever is wrong with it. */
export interface WebAuthn {
  readonly createRegistrationOptions: (
    party: RelyingParty,
    asked: {
      readonly challenge: Uint8Array<ArrayBuffer>;
      readonly userHandle: string;
      readonly userName: string;
      /** Of the passkeys the account has: no device makes a second. */
      readonly excluded: readonly { readonly credentialId: string; readonly transports: readonly string[] }[];
    },
  ) => Promise<object>;
  readonly createAuthenticationOptions: (party: RelyingParty, challenge: Uint8Array<ArrayBuffer>) => Promise<object>;
  readonly verifyRegistration: (party: RelyingParty, made: RegistrationResponse, challenge: string) => Promise<VerifiedCredential | null>;
  readonly verifyAuthentication: (
    party: RelyingParty,
    signed: AuthenticationResponse,
    challenge: string,
    key: PasskeyCredential,
  ) => Promise<Pick<VerifiedCredential, "counter" | "backedUp"> | null>;
}

const userHandleBytes = 30;
const shardIdLength = 2;

/** What authenticators call an account: its home, so that signing in finds the database, and nothing else that means anything. */
export const generateUserHandle = (home: ShardId, random: RandomBytes): string =>
  toBase64Url(concatBytes(encodeUtf8(home), random(userHandleBytes)));

/** Null for what is no handle of ours. */
export const shardOfUserHandle = (handle: string): ShardId | null => {
  const bytes = fromBase64Url(handle);
  if (bytes === null || bytes.length !== shardIdLength + userHandleBytes) return null;
  return String.fromCharCode(...bytes.subarray(0, shardIdLength)) as ShardId;
};

/** The challenge a browser says it passed on; null where it says none. Whether that is one of ours is asked next. */
export const parseChallenge = (clientDataJson: string): string | null => {
  const bytes = fromBase64Url(clientDataJson);
  const parsed = bytes === null ? null : parseIJson(bytes);
  if (parsed === null || !parsed.ok) return null;
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { challenge } = value as { readonly challenge?: unknown };
  return typeof challenge === "string" ? challenge : null;
};
