// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { WebAuthn } from "../../../core/access/passkey.ts";
import type { PageFetcher, ReadDependencies, Schedules } from "../dependencies.ts";

/**
 * Hashes of API keys and agent tokens that were valid when last checked. They are never used to authenticate, only to avoid counting
 * lookups of those keys as guesses.
 */
export interface KnownKeyCache {
  readonly knownKeyHashes: BoundedMap<string, true>;
}

/**
 * A sealed email address that belongs to no one. It is decrypted if an address is unknown, so that the request takes as long as for a known
 * address.
 */
export interface PlaceholderAddress {
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

/** Creates and verifies passkeys. */
export interface PasskeyVerifier {
  readonly webAuthn: WebAuthn;
}

export interface AccessDependencies extends ReadDependencies, KnownKeyCache, PageFetcher, PlaceholderAddress, PasskeyVerifier {}

export interface AccessWriteDependencies extends AccessDependencies, Schedules {}
