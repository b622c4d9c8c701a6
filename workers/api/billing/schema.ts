// Parses the payment provider's events. The provider's objects have hundreds of keys, and more are added over time. The schemas ignore keys
// that are not listed here.
import { z } from "@hono/zod-openapi";
import { parsePlan, purchasablePlans, realmOfAccountId } from "../../../core/billing/plans.ts";
import type { BillingEvent, SubscriptionEvent } from "../../../core/billing/billing-status.ts";
import { secondMs, type Instant } from "../../../core/time.ts";

export const checkoutQuerySchema = z.object({
  plan: z.enum(purchasablePlans).meta({
    description: "Plan to buy. `business`: for a business (owners only). `white_glove`: for a consumer.",
    example: "business",
  }),
});

export const providerEventReceivedSchema = z.object({ received: z.literal(true) }).openapi("ProviderEventResponse");

const maxIdLength = 255;
const providerIdSchema = z.string().min(1).max(maxIdLength);
const metadataSchema = z.record(z.string(), z.unknown()).nullish();

const providerEventSchema = z.object({
  id: providerIdSchema,
  type: z.string().max(maxIdLength),
  created: z.number().int().nonnegative().optional(),
  livemode: z.boolean().optional(),
  data: z.object({ object: z.unknown() }).optional(),
});

const checkoutSchema = z.object({
  mode: z.string().nullish(),
  customer: providerIdSchema,
  subscription: providerIdSchema.nullish(),
  client_reference_id: z.string().regex(/^(?:biz|con)_[0-9a-z]{26}$/),
  payment_status: z.string().nullish(),
  metadata: metadataSchema,
});

const subscriptionSchema = z.object({
  id: providerIdSchema.nullish(),
  customer: providerIdSchema,
  status: z.string().nullish(),
  /** Set while payment collection is paused. The subscription's `status` stays `active`. */
  pause_collection: z.object({}).nullish(),
  quantity: z.number().nullish(),
  items: z.object({ data: z.array(z.object({ quantity: z.number().nullish() })) }).nullish(),
  metadata: metadataSchema,
});

/** Depending on the provider's API version, the invoice's subscription is in `subscription` or in `parent`. */
const invoiceSchema = z.object({
  customer: providerIdSchema,
  subscription: providerIdSchema.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: providerIdSchema.nullish() }).nullish() }).nullish(),
});

const stateByProviderStatus: Readonly<Record<string, SubscriptionEvent["state"]>> = {
  active: "paid",
  trialing: "paid",
  past_due: "past_due",
  unpaid: "inactive",
  canceled: "ended",
  incomplete_expired: "ended",
  incomplete: "unsettled",
  paused: "inactive",
};

/** Maps an unknown status to `unsettled`, because it is not known whether the customer has paid. */
const subscriptionStateFromStatus = (type: string, status: string | null | undefined): SubscriptionEvent["state"] =>
  type === "customer.subscription.deleted" ? "ended" : (stateByProviderStatus[status ?? ""] ?? "unsettled");

type ProviderEventHeader = Pick<BillingEvent, "id" | "type" | "at">;

const parseCheckoutEvent = (header: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const parsed = checkoutSchema.safeParse(object);
  if (!parsed.success || (parsed.data.mode ?? "subscription") !== "subscription") return null;
  const { customer: customerId, subscription, client_reference_id: accountId, payment_status: payment } = parsed.data;
  const plan = parsePlan(parsed.data.metadata?.plan, realmOfAccountId(accountId));
  if (plan === null) return null;
  return { ...header, kind: "checkout", customerId, subscriptionId: subscription ?? null, accountId, plan, isPaid: payment !== "unpaid" };
};

const parseSubscriptionEvent = (header: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const parsed = subscriptionSchema.safeParse(object);
  if (!parsed.success) return null;
  const { id, customer: customerId, status, items, quantity: total, pause_collection: pause } = parsed.data;
  const isEmpty = total === 0 || (items != null && items.data.length > 0 && items.data.every(({ quantity }) => quantity === 0));
  const state = subscriptionStateFromStatus(header.type, status);
  const planName = parsed.data.metadata?.plan;
  const plan = typeof planName === "string" ? planName : null;
  return {
    ...header,
    kind: "subscription",
    customerId,
    subscriptionId: id ?? null,
    state: (isEmpty || pause != null) && state !== "ended" ? "inactive" : state,
    plan,
  };
};

const parsePaymentEvent = (header: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const parsed = invoiceSchema.safeParse(object);
  if (!parsed.success) return null;
  const { customer: customerId, subscription, parent } = parsed.data;
  const subscriptionId = subscription ?? parent?.subscription_details?.subscription ?? null;
  if (subscriptionId === null) return null; // a one-off invoice belongs to no subscription, so it does not affect a plan
  return { ...header, kind: "payment", customerId, subscriptionId, isPaid: header.type === "invoice.paid" };
};

const parserByEventType: Readonly<Record<string, (header: ProviderEventHeader, object: unknown) => BillingEvent | null>> = {
  "checkout.session.completed": parseCheckoutEvent,
  "customer.subscription.updated": parseSubscriptionEvent,
  "customer.subscription.paused": parseSubscriptionEvent,
  "customer.subscription.resumed": parseSubscriptionEvent,
  "customer.subscription.deleted": parseSubscriptionEvent,
  "invoice.payment_failed": parsePaymentEvent,
  "invoice.paid": parsePaymentEvent,
};

export const handledEventTypes = Object.keys(parserByEventType);

export interface ParsedProviderEvent {
  readonly isLive: boolean;
  /** Null if no action is needed, for example for an unhandled type, a checkout for another product, or an object without a customer. */
  readonly event: BillingEvent | null;
}

/** Parses an event. Returns null if the text is not an event. A missing or future time becomes `now`. */
export const parseProviderEvent = (text: string, now: Instant): ParsedProviderEvent | null => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = providerEventSchema.safeParse(json);
  if (!parsed.success) return null;
  const { id, type, created, livemode = true, data } = parsed.data;
  const header = { id, type, at: created === undefined ? now : Math.min(created * secondMs, now) };
  const parse = Object.hasOwn(parserByEventType, type) ? parserByEventType[type] : undefined;
  return { isLive: livemode, event: parse === undefined ? null : parse(header, data?.object) };
};
