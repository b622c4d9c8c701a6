// Dependencies of the operations in this folder.
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import type { Counters, PageFetcher, Schedules } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";

export interface PortalDependencies extends CertificateDependencies, EventSequences, PageFetcher, Counters {}

export interface PortalWriteDependencies extends PortalDependencies, Schedules {}
