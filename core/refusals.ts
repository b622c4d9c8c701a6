// The closed list of refusal codes and the one sentence each shows to the outside. Sentences are constants: nothing a
// caller sent is ever repeated in an error, so errors can carry neither personal data nor markup nor a guessing oracle.
// HTTP statuses live in workers/api/statuses.ts.

export const refusals = {
  invalid_request: "The request is not valid.",
  opt_out_failed: "The address or the code is not right, or the code has expired.",
  invalid_webhook_url: "url: must be an https address of a public host, on port 443 or 8443, without user, password or fragment.",
  login_failed: "The address or the code is not right, or the code has expired.",
  unauthorized: "A valid credential is needed.",
  plan_required: "This needs a plan that includes it.",
  business_inactive: "This business account is not active.",
  business_suspended: "This business account is suspended.",
  subscription_past_due: "A payment is past due, so only reading is possible. Settle the payment to write again.",
  origin_not_verified: "The Origin of this request is not on a verified domain of this business.",
  page_url_not_verified: "The host of page_url is not on a verified domain of this business.",
  csrf_failed: "This request comes from another site than the app.",
  owner_required: "Only an owner of the business may do this.",
  forbidden: "This is not allowed.",
  not_found: "There is nothing here.",
  client_not_found: "There is no such client.",
  cert_not_found: "There is no such certificate.",
  webhook_limit: "This business has as many webhook endpoints as it may.",
  share_inactive: "The share is not active.",
  method_not_allowed: "This method is not possible here.",
  idempotency_conflict: "This idempotency key was used with another request.",
  already_revoked: "This consent has been withdrawn already.",
  not_a_consent: "Nobody was agreed to: this certificate records a refusal.",
  cease_not_open: "There is no withdrawal to acknowledge.",
  payload_too_large: "The body is larger than 256 KiB.",
  unsupported_media_type: "The body must be JSON, sent without a content encoding.",
  page_unreachable: "The page could not be fetched. It must answer anybody, within eight seconds, with HTML of at most 2 MiB.",
  rate_limited: "Too many requests. Try again after the time given in Retry-After.",
  billing_unavailable: "The payment provider did not answer just now. Please try again in a minute.",
  storage_unavailable:
    "Storage did not answer just now. Please send the same request again, with the same idempotency key where it had one.",
  misconfigured: "The service is not configured to run here.",
  unhealthy: "A check failed.",
  internal_error: "Something went wrong on our side.",
} as const;

export type RefusalCode = keyof typeof refusals;
