// Dependencies of the operations in this folder.
import type { WritePdf } from "../../adapters/pdf.ts";
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import type { Counters, PhoneNumbers, ReadDependencies, Schedules } from "../dependencies.ts";

export interface Pdf {
  readonly writePdf: WritePdf;
}

/** Dependencies for changing contact fields and their copies in shares. */
export interface ContactFieldDependencies extends ReadDependencies, PhoneNumbers, Pick<Counters, "takeExactly"> {}

export interface ConsumerDependencies extends CertificateDependencies, Pdf {}

export interface ConsumerWriteDependencies extends ConsumerDependencies, Schedules, Pick<Counters, "takeExactly"> {}
