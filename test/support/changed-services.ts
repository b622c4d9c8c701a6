// Replaces parts of the services, for conditions that a test cannot create through the API.
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import type { Platform, Services } from "../../workers/platform/platform.ts";

/** Returns the services with some parts replaced. Background work after a response also uses the replaced parts. */
export const createServicesWith = (platform: Platform, changed: Partial<Platform>): Services => {
  const services = { ...platform, ...changed };
  return Object.assign(services, createSchedules(services));
};
