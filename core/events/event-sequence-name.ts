// What the sequence of a business's events is called. Its sandbox has one of its own, so that no test reaches what is live.
import type { Environment } from "../access/entitlement.ts";
import type { BusinessId } from "../ids.ts";

const sandboxSuffix = "~sandbox";

export const getEventSequenceName = (businessId: string, environment: Environment): string =>
  environment === "sandbox" ? `${businessId}${sandboxSuffix}` : businessId;

export interface EventSequenceOwner {
  readonly businessId: BusinessId;
  readonly environment: Environment;
}

/** Whose events a sequence of this name holds. */
export const parseEventSequenceName = (name: string): EventSequenceOwner =>
  name.endsWith(sandboxSuffix)
    ? { businessId: name.slice(0, -sandboxSuffix.length) as BusinessId, environment: "sandbox" }
    : { businessId: name as BusinessId, environment: "live" };
