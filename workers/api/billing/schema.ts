// What the payment provider's events hold, as far as we read them. Its objects have hundreds of members and grow; what is not named
// here is not looked at.
import { z } from "@hono/zod-openapi";
import { parsePlan, purchasablePlans, realmOfAccountId } from "../../../core/billing/plans.ts";
import type { BillingEvent, SubscriptionEvent } from "../../../core/billing/billing-status.ts";
import { secondMs, type Instant } from "../../../core/time.ts";

export const checkoutQuerySchema = z.object({
  plan: z.enum(purchasablePlans).openapi({
    description: "`business` for an owner's session, `white_glove` for a consumer's.",
    example: "business",
  }),
});

export const providerEventReceivedSchema = z.object({ received: z.literal(true) }).openapi("ProviderEventAnswer");

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
  metadata: metadataSchema,
});

/** The subscription of an invoice stands in one of two places, by the version of the provider's interface. */
const invoiceSchema = z.object({
  customer: providerIdSchema,
  subscription: providerIdSchema.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: providerIdSchema.nullish() }).nullish() }).nullish(),
});

const stateByProviderStatus: Readonly<Record<string, SubscriptionEvent["state"]>> = {
  active: "paid",
  trialing: "paid",
  past_due: "past_due",
  unpaid: "past_due",
  canceled: "ended",
  incomplete_expired: "ended",
  incomplete: "unsettled",
  paused: "unsettled",
};

/** A status that is not known here says nothing of payments. */
const subscriptionStateFromStatus = (type: string, status: string | null | undefined): SubscriptionEvent["state"] =>
  type === "customer.subscription.deleted" ? "ended" : (stateByProviderStatus[status ?? ""] ?? "unsettled");

type ProviderEventHeader = Pick<BillingEvent, "id" | "type" | "at">;

const parseCheckoutEvent = (head: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const read = checkoutSchema.safeParse(object);
  if (!read.success || (read.data.mode ?? "subscription") !== "subscription") return null;
  const { customer: customerId, subscription, client_reference_id: accountId, payment_status: payment } = read.data;
  const plan = parsePlan(read.data.metadata?.plan, realmOfAccountId(accountId));
  if (plan === null) return null;
  return { ...head, kind: "checkout", customerId, subscriptionId: subscription ?? null, accountId, plan, isPaid: payment !== "unpaid" };
};

const parseSubscriptionEvent = (head: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const read = subscriptionSchema.safeParse(object);
  if (!read.success) return null;
  const { id, customer: customerId, status } = read.data;
  const named = read.data.metadata?.plan;
  const plan = typeof named === "string" ? named : null;
  return {
    ...head,
    kind: "subscription",
    customerId,
    subscriptionId: id ?? null,
    state: subscriptionStateFromStatus(head.type, status),
    plan,
  };
};

const parsePaymentEvent = (head: ProviderEventHeader, object: unknown): BillingEvent | null => {
  const read = invoiceSchema.safeParse(object);
  if (!read.success) return null;
  const { customer: customerId, subscription, parent } = read.data;
  const subscriptionId = subscription ?? parent?.subscription_details?.subscription ?? null;
  return { ...head, kind: "payment", customerId, subscriptionId, isPaid: head.type === "invoice.paid" };
};

const parserByEventType: Readonly<Record<string, (head: ProviderEventHeader, object: unknown) => BillingEvent | null>> = {
  "checkout.session.completed": parseCheckoutEvent,
  "customer.subscription.updated": parseSubscriptionEvent,
  "customer.subscription.deleted": parseSubscriptionEvent,
  "invoice.payment_failed": parsePaymentEvent,
  "invoice.paid": parsePaymentEvent,
};

export const handledEventTypes = Object.keys(parserByEventType);

export interface ParsedProviderEvent {
  readonly isLive: boolean;
  /** Null for what is of no concern here: another type, somebody else's checkout, an object without a customer. */
  readonly event: BillingEvent | null;
}

/** Null for a text that is no event at all. A time in the future, or none, is taken for now. */
export const parseProviderEvent = (text: string, now: Instant): ParsedProviderEvent | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const read = providerEventSchema.safeParse(parsed);
  if (!read.success) return null;
  const { id, type, created, livemode = true, data } = read.data;
  const head = { id, type, at: created === undefined ? now : Math.min(created * secondMs, now) };
  const reader = Object.hasOwn(parserByEventType, type) ? parserByEventType[type] : undefined;
  return { isLive: livemode, event: reader === undefined ? null : reader(head, data?.object) };
};
