// Billing (CONTRACT 11): the way to the payment provider's pages, and its events coming back.
import { verifySignature } from "../../../core/webhooks/verify-signature.ts";
import { secondMs } from "../../../core/time.ts";
import { readBodyUpTo } from "../../http/body.ts";
import type { SessionEnv } from "../../http/context.ts";
import { failure, refusal } from "../../http/envelope.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress, limitByAccount } from "../../http/guards/rate-limits.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { signedInGuard } from "../../http/guards/session.ts";
import { jsonContent, rateHeaders } from "../../http/wire.ts";
import { createPaymentSession } from "../../operations/billing/create-payment-session.ts";
import { applyBillingEvent } from "../../operations/billing/apply-billing-event.ts";
import { checkoutQuerySchema, handledEventTypes, parseProviderEvent, providerEventReceivedSchema } from "./schema.ts";

const createRoute = createRouteFactory("billing");

/** A page of another site that opens the checkout could make somebody pay who did not mean to. */
const blockCrossSite = defineGuard<SessionEnv>({ when: { csrf_failed: "A page of another site led here." } }, async (c, next) => {
  return c.req.header("sec-fetch-site")?.toLowerCase() === "cross-site" ? failure(c, "csrf_failed") : next();
});

const limitCheckouts = limitByAccount("CHECKOUT", "More than 30 an hour for one account, or 120 a minute by one person.");

const openCheckoutRoute = createRoute({
  method: "get",
  path: "/v1/billing/checkout",
  operationId: "openCheckout",
  middleware: combineGuards<SessionEnv>(signedInGuard, blockCrossSite, limitCheckouts),
  summary: "Go and pay",
  description:
    "A link for a browser: leads to the payment provider's page for the plan, or, with a subscription already, to its page for invoices, cards and cancelling. Changes nothing here; what came of it arrives as an event. A business that is suspended because it did not pay may still come here.",
  request: { query: checkoutQuerySchema },
  responses: {
    303: {
      description: "On to the payment provider.",
      headers: { ...rateHeaders, Location: { description: "The provider's page.", schema: { type: "string" as const } } },
    },
  },
  refuses: ["business_suspended", "business_inactive", "owner_required", "billing_unavailable"],
  when: {
    invalid_request: "`plan` is missing or is none that is sold.",
    forbidden: "The plan is for the other kind of account: `business` for businesses, `white_glove` for consumers.",
    not_found: "This deployment sells nothing.",
  },
});

const receiveProviderEventRoute = createRoute({
  method: "post",
  path: "/v1/webhooks/stripe",
  operationId: "takeInProviderEvent",
  middleware: publicGuard(sameOriginGuard, limitByAddress("PROVIDER_SYNC_PER_IP")),
  summary: "Take in an event of the payment provider",
  description: `For the payment provider. The header Stripe-Signature (\`t=…,v1=…\`) signs the bytes of the body and is at most 300 seconds old. Taken in: ${handledEventTypes.map((type) => `\`${type}\``).join(", ")}; every other type is answered the same and does nothing. An event counts once, by its id. Not enveloped.`,
  // Read as bytes, before anything parses them: the signature is over what was sent.
  requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
  responses: {
    200: {
      description: "Taken in, now or earlier, or of no concern here.",
      content: jsonContent(providerEventReceivedSchema, { received: true }),
    },
  },
  refuses: ["payload_too_large"],
  when: {
    csrf_failed: "A browser sent it from another site.",
    invalid_request: "The signature is missing, too old or not of this body; or the body is no event, or one of test mode.",
    not_found: "This deployment sells nothing.",
  },
});

const providerRetryAfterSeconds = "60";
const maxEventBytes = 256 * 1_024; // the provider's largest events are a fraction of it

export const billingRoutes = createApi();

billingRoutes.openapi(openCheckoutRoute, async (c) => {
  const opened = await createPaymentSession(c.var.services, c.var.session, c.req.valid("query").plan);
  if (opened.ok) return c.redirect(opened.value, 303);
  if (opened.code === "billing_unavailable") c.header("Retry-After", providerRetryAfterSeconds);
  return refusal(c, opened);
});

billingRoutes.openapi(receiveProviderEventRoute, async (c) => {
  const { services } = c.var;
  const settings = services.config.billing;
  const body = await readBodyUpTo(c.req.raw, maxEventBytes);
  if (settings === null) return failure(c, "not_found");
  if (body === null) return failure(c, "payload_too_large");
  const now = services.clock();
  if (!verifySignature(body, c.req.header("stripe-signature"), settings.webhookSecret, Math.floor(now / secondMs)))
    return failure(c, "invalid_request", "Stripe-Signature: must sign this body, at most 300 seconds ago.");
  const read = parseProviderEvent(new TextDecoder().decode(body), now);
  if (read === null) return failure(c, "invalid_request", "The body must be an event.");
  if (!read.isLive && services.config.environment === "production")
    return failure(c, "invalid_request", "The event is of test mode, and this is production.");
  if (read.event !== null) await applyBillingEvent(services, read.event);
  return c.json({ received: true as const }, 200);
});
