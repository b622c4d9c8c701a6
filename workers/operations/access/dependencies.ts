// Dependencies of the operations in this folder.
import type { WebAuthn } from "../../../core/access/passkey.ts";
import type { PageFetcher, ReadDependencies, Schedules } from "../dependencies.ts";

/** A sealed placeholder address. Decrypting it for an unknown address takes as long as decrypting a known address. */
export interface PlaceholderAddress {
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

export interface PasskeyVerifier {
  readonly webAuthn: WebAuthn;
}

export interface AccessDependencies extends ReadDependencies, PageFetcher, PlaceholderAddress, PasskeyVerifier {}

export interface AccessWriteDependencies extends AccessDependencies, Schedules {}
