// The service with a part of it changed, for what cannot be brought about from outside.
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import type { Platform, Services } from "../../workers/platform/platform.ts";

/** Whatever follows an answer uses the changed parts too. */
export const createServicesWith = (platform: Platform, changed: Partial<Platform>): Services => {
  const services = { ...platform, ...changed };
  return Object.assign(services, createSchedules(services));
};
