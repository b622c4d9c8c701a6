// Billing routes: one redirects to the payment provider, and one receives the provider's events.
import { verifySignature } from "../../../core/webhooks/verify-signature.ts";
import { secondMs } from "../../../core/time.ts";
import { readBodyUpTo } from "../../http/body.ts";
import type { SessionEnv } from "../../http/context.ts";
import { failure, refusal } from "../../http/envelope.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { enforceLimit, limitByAddress } from "../../http/guards/rate-limits.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { signedInGuard } from "../../http/guards/session.ts";
import { jsonContent, rateHeaders } from "../../http/wire.ts";
import { createPaymentSession } from "../../operations/billing/create-payment-session.ts";
import { applyBillingEvent } from "../../operations/billing/apply-billing-event.ts";
import { getAccountId } from "../../operations/billing/payment-access.ts";
import { checkoutQuerySchema, handledEventTypes, parseProviderEvent, providerEventReceivedSchema } from "./schema.ts";

const createRoute = createRouteFactory("billing");

/** Blocks cross-site requests. Otherwise, another site could open the checkout and trick a person into paying. */
const blockCrossSite = defineGuard<SessionEnv>({ when: { csrf_failed: "The request comes from another site." } }, async (c, next) => {
  return c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site" ? failure(c, "csrf_failed") : next();
});

const limitCheckouts = defineGuard<SessionEnv>(
  { when: { rate_limited: "More than 30 requests per hour by one account, or 120 per minute by one person." } },
  async (c, next) => {
    const { session } = c.var;
    // Members who are not owners are refused later. If their requests counted toward the business's limit, they could keep the owners from
    // paying.
    if (session.realm === "business" && session.role !== "owner") return next();
    return (await enforceLimit(c, "CHECKOUT", getAccountId(session))) ?? next();
  },
);

const openCheckoutRoute = createRoute({
  method: "get",
  path: "/v1/billing/checkout",
  operationId: "openCheckout",
  middleware: combineGuards<SessionEnv>(signedInGuard, blockCrossSite, limitCheckouts),
  summary: "Open checkout",
  description:
    "Open this link in a browser. It redirects to the payment provider: to checkout for the plan or, with an existing subscription, to the billing portal for invoices, cards and cancellation. Your plan changes once the provider reports the payment. A business that is suspended for non-payment can still use it.",
  request: { query: checkoutQuerySchema },
  responses: {
    303: {
      description: "Redirects to the payment provider.",
      headers: { ...rateHeaders, Location: { description: "URL of the payment provider's page.", schema: { type: "string" as const } } },
    },
  },
  refuses: ["business_suspended", "business_inactive", "owner_required", "billing_unavailable"],
  when: {
    invalid_request: "`plan` is missing or cannot be bought.",
    forbidden: "The plan does not match your account: `business` is for businesses, `white_glove` for consumers.",
    not_found: "Billing is not available on this deployment.",
  },
});

const receiveProviderEventRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/stripe",
  operationId: "takeInProviderEvent",
  middleware: publicGuard(sameOriginGuard, limitByAddress("PROVIDER_SYNC_PER_IP")),
  summary: "Receive an event from the payment provider",
  description: `Called by the payment provider. The \`Stripe-Signature\` header (\`t=…,v1=…\`) must be a valid signature of the raw body, at most 300 seconds old. Handled types: ${handledEventTypes.map((type) => `\`${type}\``).join(", ")}. Other types get the same response and have no effect. Each event ID is processed once. The response has no envelope.`,
  // Describes the body without validating it, because the handler must read the raw bytes, which the signature covers.
  requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
  responses: {
    200: {
      description: "The event was processed now or earlier, or does not require any action.",
      content: jsonContent(providerEventReceivedSchema, { received: true }),
    },
  },
  refuses: ["payload_too_large"],
  when: {
    csrf_failed: "A browser sent the request from another site.",
    invalid_request:
      "The signature is missing, expired or does not match the body. Also returned if the body is not a valid event, and in production for test-mode events.",
    not_found: "Billing is not available on this deployment.",
  },
});

const providerRetryAfterSeconds = "60";
const maxEventBytes = 256 * 1_024; // the provider's largest events are far smaller than this

export const billingRoutes = createApi();

billingRoutes.openapi(openCheckoutRoute, async (c) => {
  const session = await createPaymentSession(c.var.services, c.var.session, c.req.valid("query").plan);
  if (session.ok) return c.redirect(session.value, 303);
  if (session.code === "billing_unavailable") c.header("Retry-After", providerRetryAfterSeconds);
  return refusal(c, session);
});

billingRoutes.openapi(receiveProviderEventRoute, async (c) => {
  const { services } = c.var;
  const settings = services.config.billing;
  const body = await readBodyUpTo(c.req.raw, maxEventBytes);
  if (settings === null) return failure(c, "not_found");
  if (body === null) return failure(c, "payload_too_large");
  const now = services.clock();
  if (!verifySignature(body, c.req.header("stripe-signature"), settings.webhookSecret, Math.floor(now / secondMs)))
    return failure(c, "invalid_request", "Stripe-Signature: must be a valid signature of this body, at most 300 seconds old.");
  const parsed = parseProviderEvent(new TextDecoder().decode(body), now);
  if (parsed === null) return failure(c, "invalid_request", "The body must be a Stripe event.");
  if (!parsed.isLive && services.config.environment === "production")
    return failure(c, "invalid_request", "livemode: must be true in production.");
  if (parsed.event !== null) await applyBillingEvent(services, parsed.event);
  return c.json({ received: true as const }, 200);
});
