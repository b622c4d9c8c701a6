// The services with some parts replaced, for conditions that a test cannot cause through the API.
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import type { Platform, Services } from "../../workers/platform/platform.ts";

/** Background work after a response uses the replaced parts too. */
export const createServicesWith = (platform: Platform, changed: Partial<Platform>): Services => {
  const services = { ...platform, ...changed };
  return Object.assign(services, createSchedules(services));
};
