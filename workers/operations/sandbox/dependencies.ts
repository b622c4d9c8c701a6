// Dependencies of the operations in this folder.
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import type { Counters, Schedules } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";

export interface SandboxDependencies extends CertificateDependencies, EventSequences {}

export interface SandboxWriteDependencies extends SandboxDependencies, Schedules, Pick<Counters, "takeExactly"> {}
