// What the operations of this folder depend on.
import type { Proofs, ReadDependencies } from "../dependencies.ts";

export interface AuditDependencies extends ReadDependencies, Proofs {}
