// What the payment provider's events hold, as far as we read them. Its objects have hundreds of members and grow; what is not named
// here is not looked at.
import { z } from "@hono/zod-openapi";
import { planOf, purchasablePlans, realmOf } from "../../../core/billing/plans.ts";
import type { BillingEvent, SubscriptionEvent } from "../../../core/billing/standing.ts";
import { secondMs, type Instant } from "../../../core/time.ts";

export const checkoutQuery = z.object({
  plan: z.enum(purchasablePlans).openapi({
    description: "`business` for an owner's session, `white_glove` for a consumer's.",
    example: "business",
  }),
});

export const receivedSchema = z.object({ received: z.literal(true) }).openapi("ProviderEventAnswer");

const maxIdLength = 255;
const providerId = z.string().min(1).max(maxIdLength);
const metadata = z.record(z.string(), z.unknown()).nullish();

const eventSchema = z.object({
  id: providerId,
  type: z.string().max(maxIdLength),
  created: z.number().int().nonnegative().optional(),
  livemode: z.boolean().optional(),
  data: z.object({ object: z.unknown() }).optional(),
});

const checkoutSchema = z.object({
  mode: z.string().nullish(),
  customer: providerId,
  subscription: providerId.nullish(),
  client_reference_id: z.string().regex(/^(?:biz|con)_[0-9a-z]{26}$/),
  payment_status: z.string().nullish(),
  metadata,
});

const subscriptionSchema = z.object({ id: providerId.nullish(), customer: providerId, status: z.string().nullish(), metadata });

/** The subscription of an invoice stands in one of two places, by the version of the provider's interface. */
const invoiceSchema = z.object({
  customer: providerId,
  subscription: providerId.nullish(),
  parent: z.object({ subscription_details: z.object({ subscription: providerId.nullish() }).nullish() }).nullish(),
});

const statesByStatus: Readonly<Record<string, SubscriptionEvent["state"]>> = {
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
const stateOf = (type: string, status: string | null | undefined): SubscriptionEvent["state"] =>
  type === "customer.subscription.deleted" ? "ended" : (statesByStatus[status ?? ""] ?? "unsettled");

type Head = Pick<BillingEvent, "id" | "type" | "at">;

const checkoutEvent = (head: Head, object: unknown): BillingEvent | null => {
  const read = checkoutSchema.safeParse(object);
  if (!read.success || (read.data.mode ?? "subscription") !== "subscription") return null;
  const { customer: customerId, subscription, client_reference_id: accountId, payment_status: payment } = read.data;
  const plan = planOf(read.data.metadata?.plan, realmOf(accountId));
  if (plan === null) return null;
  return { ...head, kind: "checkout", customerId, subscriptionId: subscription ?? null, accountId, plan, isPaid: payment !== "unpaid" };
};

const subscriptionEvent = (head: Head, object: unknown): BillingEvent | null => {
  const read = subscriptionSchema.safeParse(object);
  if (!read.success) return null;
  const { id, customer: customerId, status } = read.data;
  const named = read.data.metadata?.plan;
  const plan = typeof named === "string" ? named : null;
  return { ...head, kind: "subscription", customerId, subscriptionId: id ?? null, state: stateOf(head.type, status), plan };
};

const paymentEvent = (head: Head, object: unknown): BillingEvent | null => {
  const read = invoiceSchema.safeParse(object);
  if (!read.success) return null;
  const { customer: customerId, subscription, parent } = read.data;
  const subscriptionId = subscription ?? parent?.subscription_details?.subscription ?? null;
  return { ...head, kind: "payment", customerId, subscriptionId, isPaid: head.type === "invoice.paid" };
};

const readers: Readonly<Record<string, (head: Head, object: unknown) => BillingEvent | null>> = {
  "checkout.session.completed": checkoutEvent,
  "customer.subscription.updated": subscriptionEvent,
  "customer.subscription.deleted": subscriptionEvent,
  "invoice.payment_failed": paymentEvent,
  "invoice.paid": paymentEvent,
};

export const consumedTypes = Object.keys(readers);

export interface ReadEvent {
  readonly livemode: boolean;
  /** Null for what is of no concern here: another type, somebody else's checkout, an object without a customer. */
  readonly event: BillingEvent | null;
}

/** Null for a text that is no event at all. A time in the future, or none, is taken for now. */
export const readEvent = (text: string, now: Instant): ReadEvent | null => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const read = eventSchema.safeParse(parsed);
  if (!read.success) return null;
  const { id, type, created, livemode = true, data } = read.data;
  const head = { id, type, at: created === undefined ? now : Math.min(created * secondMs, now) };
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined;
  return { livemode, event: reader === undefined ? null : reader(head, data?.object) };
};
