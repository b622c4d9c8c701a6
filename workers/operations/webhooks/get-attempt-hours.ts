// Counts delivery attempts per hour, for an endpoint's chart.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { getChartStart, toHourlyFigures } from "../../../core/webhooks/hourly-attempts.ts";
import type { WebhookDependencies } from "./dependencies.ts";

/** Counts the attempts of the last two days by hour and outcome. Returns null if this environment does not have the endpoint. */
export const getAttemptHours = async (
  services: WebhookDependencies,
  { business, environment }: BusinessScope,
  endpointId: WebhookId,
): Promise<readonly ChartPoint[] | null> => {
  const now = services.clock();
  const hours = await services.eventSequence(business.id, environment).listAttemptHours(endpointId, getChartStart(now));
  return hours === null ? null : toHourlyFigures(hours, now);
};
