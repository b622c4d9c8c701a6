// Dependencies of the operations in this folder.
import type { PhoneNumbers } from "../dependencies.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";

export interface ContactDependencies extends IntakeDependencies, PhoneNumbers {}
