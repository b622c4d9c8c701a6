// Hourly figures of delivery attempts, for the chart of an endpoint.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import { getChartStart, toHourlyFigures } from "../../../core/webhooks/hourly-attempts.ts";
import type { WebhookDependencies } from "./dependencies.ts";

/** Counts attempts of the last two days per hour and outcome; null if this environment has no such endpoint. */
export const getAttemptHours = async (
  services: WebhookDependencies,
  { business, environment }: { readonly business: { readonly id: BusinessId }; readonly environment: Environment },
  endpointId: WebhookId,
): Promise<readonly ChartPoint[] | null> => {
  const now = services.clock();
  const hours = await services.eventSequence(business.id, environment).listAttemptHours(endpointId, getChartStart(now));
  return hours === null ? null : toHourlyFigures(hours, now);
};
