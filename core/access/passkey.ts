// Passkeys (WebAuthn): the inputs, results and limits of registration and sign-in. A library checks authenticator signatures
// (workers/adapters/webauthn.ts).
import { toBase64Url, fromBase64Url, concatBytes, encodeUtf8 } from "../bytes.ts";
import { parseIJson } from "../i-json.ts";
import { minuteMs, type Instant } from "../time.ts";
import type { ShardId, RandomBytes } from "../ids.ts";

export const maxPasskeys = 10;
/**
 * A passkey can be added only within this many minutes of the last verification. A passkey gives permanent access, so a session that was
 * left open is not enough.
 */
export const addPasskeyProofMinutes = 10;
/** How long a challenge is valid. The person may need time to find their phone. */
export const challengeLifetimeMs = 5 * minuteMs;
export const challengeBytes = 32;

/** The site that passkeys belong to. Its ID is the app's host, and passkeys work only on the app's origin. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** A new credential, as browsers send it (`RegistrationResponseJSON`). */
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

/** A signature by a credential, as browsers send it (`AuthenticationResponseJSON`). */
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

/** The stored data of a credential that is needed to verify its signatures. */
export interface PasskeyCredential {
  readonly credentialId: string;
  /** The public key as COSE, in base64url. */
  readonly publicKey: string;
  /** The signature count that the authenticator reports; 0 if it does not count signatures. */
  readonly counter: number;
}

export interface VerifiedCredential extends PasskeyCredential {
  /** True if the passkey is synced to the person's other devices. */
  readonly backedUp: boolean;
}

export const defaultPasskeyName = "Passkey";

/** A passkey of an account, without its public key. Used to show the passkey to its owner and to register another one. */
export interface Passkey {
  readonly id: string;
  readonly credentialId: string;
  readonly userHandle: string;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
  readonly name: string;
  readonly createdAt: Instant;
  /** The last day the passkey was used to sign in, in whole days since 1970; null if it was never used. */
  readonly lastUsedDay: number | null;
}

/** Creates options and verifies responses. A verification returns null if the response is not valid. */
export interface WebAuthn {
  readonly createRegistrationOptions: (
    party: RelyingParty,
    request: {
      readonly challenge: Uint8Array<ArrayBuffer>;
      readonly userHandle: string;
      readonly userName: string;
      /** The account's existing passkeys. The browser does not create another passkey on a device that already has one of them. */
      readonly excluded: readonly { readonly credentialId: string; readonly transports: readonly string[] }[];
    },
  ) => Promise<object>;
  readonly createAuthenticationOptions: (party: RelyingParty, challenge: Uint8Array<ArrayBuffer>) => Promise<object>;
  readonly verifyRegistration: (
    party: RelyingParty,
    response: RegistrationResponse,
    challenge: string,
  ) => Promise<VerifiedCredential | null>;
  readonly verifyAuthentication: (
    party: RelyingParty,
    response: AuthenticationResponse,
    challenge: string,
    key: PasskeyCredential,
  ) => Promise<Pick<VerifiedCredential, "counter" | "backedUp"> | null>;
}

const userHandleBytes = 30;
const shardIdLength = 2;

/** Generates an account's user handle. It contains random bytes and the account's shard, so that sign-in finds the right database. */
export const generateUserHandle = (shard: ShardId, random: RandomBytes): string =>
  toBase64Url(concatBytes(encodeUtf8(shard), random(userHandleBytes)));

/** Returns the shard in a user handle, or null if the text does not have the format of a handle. */
export const shardOfUserHandle = (handle: string): ShardId | null => {
  const bytes = fromBase64Url(handle);
  if (bytes === null || bytes.length !== shardIdLength + userHandleBytes) return null;
  return String.fromCharCode(...bytes.subarray(0, shardIdLength)) as ShardId;
};

/** Returns the challenge in the client data, or null if there is none. The caller checks that the service issued this challenge. */
export const parseChallenge = (clientDataJson: string): string | null => {
  const bytes = fromBase64Url(clientDataJson);
  const parsed = bytes === null ? null : parseIJson(bytes);
  if (parsed === null || !parsed.ok) return null;
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { challenge } = value as { readonly challenge?: unknown };
  return typeof challenge === "string" ? challenge : null;
};
