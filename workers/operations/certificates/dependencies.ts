// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { ClientId } from "../../../core/ids.ts";
import type { IssuingClient } from "../../../storage/accounts.ts";
import type { AttestationDependencies } from "../attestations/dependencies.ts";
import type { Counters, PhoneNumbers, Schedules } from "../dependencies.ts";

/** Accounts by client, so that a submission takes one database round trip instead of two. */
export interface ClientCache {
  /**
   * Never trusted: an insert names the account revision it was based on and fails if the account changed since, and a request is refused
   * only after a fresh read.
   */
  readonly cachedClients: BoundedMap<ClientId, IssuingClient>;
}

export interface CertificateDependencies extends AttestationDependencies, ClientCache, PhoneNumbers {}

export interface CertificateWriteDependencies extends CertificateDependencies, Schedules {}

export interface SubmissionCountDependencies extends CertificateDependencies, Counters {}
