// Dependencies of the operations in this folder.
import type { PhoneNumbers, ReadDependencies } from "../dependencies.ts";

export interface ContactDependencies extends ReadDependencies, PhoneNumbers {}
