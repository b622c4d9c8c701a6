// Dependencies of the operations in this folder.
import type { WebAuthn } from "../../../core/access/passkey.ts";
import type { PageFetcher, ReadDependencies, Schedules } from "../dependencies.ts";

/** Provides a sealed placeholder, which is decrypted for an unknown address so that a lookup takes as long as for a known one. */
export interface PlaceholderAddress {
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

export interface PasskeyVerifier {
  readonly webAuthn: WebAuthn;
}

export interface AccessDependencies extends ReadDependencies, PageFetcher, PlaceholderAddress, PasskeyVerifier {}

export interface AccessWriteDependencies extends AccessDependencies, Schedules {}
