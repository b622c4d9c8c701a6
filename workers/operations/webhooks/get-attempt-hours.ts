import type { Environment } from "../../../core/access/entitlement.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { getChartStart, toHourlyFigures } from "../../../core/webhooks/hourly-attempts.ts";
import type { WebhookDependencies } from "./dependencies.ts";

/** How attempts at an endpoint ended in the last two days, by the hour; null where the mode has no such endpoint. */
export const getAttemptHours = async (
  services: WebhookDependencies,
  { business, environment }: { readonly business: { readonly id: BusinessId }; readonly environment: Environment },
  endpointId: WebhookId,
): Promise<readonly ChartPoint[] | null> => {
  const now = services.clock();
  const counted = await services.eventSequence(business.id, environment).listAttemptHours(endpointId, getChartStart(now));
  return counted === null ? null : toHourlyFigures(counted, now);
};
