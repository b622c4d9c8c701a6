// Dependencies of the operations in this folder.
import type { WebAuthn } from "../../../core/access/passkey.ts";
import type { PageFetcher, ReadDependencies, Schedules } from "../dependencies.ts";

/**
 * A sealed placeholder email address. It is decrypted if an address is unknown, so that the request takes as long as it does for a known
 * address.
 */
export interface PlaceholderAddress {
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

/** Creates and verifies passkeys. */
export interface PasskeyVerifier {
  readonly webAuthn: WebAuthn;
}

export interface AccessDependencies extends ReadDependencies, PageFetcher, PlaceholderAddress, PasskeyVerifier {}

export interface AccessWriteDependencies extends AccessDependencies, Schedules {}
