// Dependencies of the operations in this folder.
import type { Proofs, ReadDependencies } from "../dependencies.ts";

export interface ServiceDependencies extends ReadDependencies, Proofs {}
