// Applies the per-client rate limit to submissions without an API key.
import type { RateLimitState } from "../../../core/access/rate-limit.ts";
import type { SubmissionCountDependencies } from "./dependencies.ts";
import type { SubmissionClient } from "./resolve-submission-client.ts";

/**
 * Counts a submission toward its client's limit. For an unknown client or an unverified Origin, counts nothing and returns null, so that
 * other sites cannot use up the client's limit.
 */
export const countSubmission = async (
  services: SubmissionCountDependencies,
  client: SubmissionClient | null,
): Promise<RateLimitState | null> => (client?.origin.ok === true ? services.takeApproximately("CONSENT_PER_CLIENT", client.id) : null);
