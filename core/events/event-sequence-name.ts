// The names of event sequences. A business's sandbox has a separate sequence, so that tests cannot affect live events.
import type { Environment } from "../access/entitlement.ts";
import type { BusinessId } from "../ids.ts";

const sandboxSuffix = "~sandbox";

export const getEventSequenceName = (businessId: string, environment: Environment): string =>
  environment === "sandbox" ? `${businessId}${sandboxSuffix}` : businessId;

export interface EventSequenceOwner {
  readonly businessId: BusinessId;
  readonly environment: Environment;
}

/** Returns the owner of the sequence with this name. */
export const parseEventSequenceName = (name: string): EventSequenceOwner =>
  name.endsWith(sandboxSuffix)
    ? { businessId: name.slice(0, -sandboxSuffix.length) as BusinessId, environment: "sandbox" }
    : { businessId: name as BusinessId, environment: "live" };
