// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { WebAuthn } from "../../../core/access/passkey.ts";
import type { PageFetcher, ReadDependencies, Schedules } from "../dependencies.ts";

/**
 * Hashes of API keys and agent tokens that were valid when last checked. Never used to authenticate: lookups of known keys are just not
 * counted as guesses.
 */
export interface KnownKeyCache {
  readonly knownKeyHashes: BoundedMap<string, true>;
}

/**
 * The sealed form of an email address that does not belong to anyone. It is decrypted for unknown addresses so that they take as long as
 * known ones.
 */
export interface PlaceholderAddress {
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

/** Creating and verifying passkeys. */
export interface PasskeyVerifier {
  readonly webAuthn: WebAuthn;
}

export interface AccessDependencies extends ReadDependencies, KnownKeyCache, PageFetcher, PlaceholderAddress, PasskeyVerifier {}

export interface AccessWriteDependencies extends AccessDependencies, Schedules {}
