// Reads the number of requests by status and error code from Workers Analytics Engine. The binding can only write, so this file calls the
// SQL API with an API token of the account.
import { z } from "zod";
import { secondMs } from "../../core/time.ts";
import type { MetricsQuerySettings } from "../env.ts";
import { sendWithLimits } from "./exchange.ts";

export interface RequestCount {
  readonly status: string;
  /** The error code; empty if the response has none. */
  readonly code: string;
  readonly requests: number;
}

/**
 * Returns the 100 highest counts for the last 24 hours, highest first. Returns null if the API fails, refuses the token or does not
 * respond.
 */
export type CountRequests = () => Promise<readonly RequestCount[] | null>;

const limits = { timeoutMs: 3 * secondMs, maxBytes: 65_536 };
const answerSchema = z.object({
  data: z.array(z.object({ status: z.string(), code: z.string(), requests: z.coerce.number() })), // the API may return a count as text
});

/** `dataset` becomes part of the SQL statement. This is safe, because METRICS_DATASET may contain only letters, digits and underscores. */
const createStatement = (dataset: string): string =>
  `SELECT blob4 AS status, blob5 AS code, SUM(_sample_interval) AS requests FROM ${dataset} WHERE index1 = 'request' AND timestamp > NOW() - INTERVAL '1' DAY GROUP BY status, code ORDER BY requests DESC LIMIT 100 FORMAT JSON`;

export const createRequestCounter =
  ({ accountId, token, dataset }: MetricsQuerySettings): CountRequests =>
  async () => {
    const sent = await sendWithLimits(
      (request) => fetch(request),
      `https://api.cloudflare.com/client/v4/accounts/${accountId}/analytics_engine/sql`,
      { method: "POST", headers: { authorization: `Bearer ${token}` }, body: createStatement(dataset) },
      limits,
    );
    if (!sent.ok || sent.response.status !== 200) return null;
    try {
      return answerSchema.parse(JSON.parse(new TextDecoder().decode(sent.response.body))).data;
    } catch {
      return null;
    }
  };
