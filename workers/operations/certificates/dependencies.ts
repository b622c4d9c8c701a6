// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { ClientId } from "../../../core/ids.ts";
import type { AttestationDependencies } from "../attestations/dependencies.ts";
import type { PhoneNumbers, Schedules } from "../dependencies.ts";
import type { Intake } from "../intake/dependencies.ts";
import type { KnownClient } from "./known-client.ts";

/** Caches accounts by client, so that a submission takes one database round trip instead of two. */
export interface ClientCache {
  /**
   * A cached account can be outdated. Therefore, an insert fails if the account's revision has changed, and the account is read again
   * before an error is returned.
   */
  readonly cachedClients: BoundedMap<ClientId, KnownClient>;
}

export interface CertificateDependencies extends AttestationDependencies, ClientCache, PhoneNumbers, Intake {}

export interface CertificateWriteDependencies extends CertificateDependencies, Schedules {}
