// Dependencies of the operations in this folder.
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import type { Counters, PhoneNumbers, ReadDependencies, Schedules } from "../dependencies.ts";

/** Dependencies for changing contact fields and their copies in shares. */
export interface ContactFieldDependencies extends ReadDependencies, PhoneNumbers, Pick<Counters, "takeExactly"> {}

export interface ConsumerWriteDependencies extends CertificateDependencies, Schedules, Pick<Counters, "takeExactly"> {}
