// A form submission and the circumstances in which it was received.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { Submission, CaptureContext } from "../../../core/certificates/certificate.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { SubmissionClient } from "./resolve-submission-client.ts";

export interface CaptureRequest {
  /** The result of `resolveSubmissionClient`; null if the client ID is malformed or unknown. */
  readonly client: SubmissionClient | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureContext;
  /** The key from the Idempotency-Key header or from `submission_id` in the body. Both have the same meaning. */
  readonly idempotencyKey: string | null;
  /** The request's API key with its business and environment; null if the request has no API key. */
  readonly caller: { readonly keyId: string; readonly businessId: BusinessId; readonly environment: Environment } | null;
}
