// The worked examples of webhook management.

export const exampleId = "whk_00m4x8c1v6b3n9q2t7w0h5k3d8";
export const exampleDeliveryId = "dlv_00m4x8c7v5b2n0q9t3w6h1k4d0";
const exampleSecret = "whsec_ExampleOfASecretThatIsNotASecret0123456789AB=";
const createdAt = "2026-03-04T05:06:07.089Z";

const commonExample = {
  id: exampleId,
  url: "https://hooks.example.com/svc",
  events: ["share.revoked", "certificate.revoked"],
  description: "CRM",
  environment: "live",
  status: "enabled",
};
export const webhookExample = {
  ...commonExample,
  secret_hint: "whsec_…9AB=",
  created_at: createdAt,
  last_delivery_at: "2026-03-05T10:00:00.250Z",
  last_response_status: 200,
  consecutive_failures: 0,
  failing_since: null,
  backlog: 0,
  oldest_pending_at: null,
};
export const deliveryExample = {
  id: exampleDeliveryId,
  webhook_id: exampleId,
  event_id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11",
  event_type: "certificate.revoked",
  status: "success",
  attempt: 1,
  response_status: 200,
  error: null,
  duration_ms: 184,
  next_attempt_at: null,
  delivered_at: "2026-03-05T10:00:00.250Z",
  created_at: "2026-03-05T10:00:00.012Z",
};

export const requestExample = { url: commonExample.url, events: commonExample.events, description: commonExample.description };
export const registeredExample = { ...commonExample, secret: exampleSecret, created_at: createdAt };
export const secretExample = { id: exampleId, secret: exampleSecret };
export const rotatedExample = { ...secretExample, previous_secret_until: "2026-03-05T05:06:07.089Z" };
export const recoveryExample = { queued: 41, has_more: false };
export const callExample = { delivered: true, response_status: 200, duration_ms: 184 };
