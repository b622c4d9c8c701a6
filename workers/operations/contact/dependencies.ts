// What the operations of this folder depend on.
import type { PhoneNumbers, ReadDependencies } from "../dependencies.ts";

export interface ContactDependencies extends ReadDependencies, PhoneNumbers {}
