// Dependencies of the operations in this folder.
import type { AttestedStatement } from "../../../core/certificates/attested-statement.ts";
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { Proofs, ReadDependencies } from "../dependencies.ts";

/** Caches attested statements, which never change, by the `tx_ref` of their ledger receipt. */
export interface AttestationCache {
  readonly attestedStatements: BoundedMap<string, AttestedStatement>;
}

export interface AttestationDependencies extends ReadDependencies, AttestationCache, Proofs {}
