// Refusal code to HTTP status: exhaustive, so a new refusal does not compile until it has one (CONTRACT 1).
import type { RefusalCode } from "../../core/refusals.ts";

export const statuses = {
  invalid_request: 400,
  opt_out_failed: 400,
  unauthorized: 401,
  plan_required: 402,
  business_inactive: 402,
  business_suspended: 402,
  subscription_past_due: 402,
  origin_not_verified: 403,
  page_url_not_verified: 403,
  forbidden: 403,
  not_found: 404,
  client_not_found: 404,
  cert_not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  storage_unavailable: 503,
  misconfigured: 503,
  unhealthy: 503,
} as const satisfies Record<RefusalCode, number>;
