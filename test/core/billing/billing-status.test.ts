// Tests that a customer's billing status does not depend on the order of the provider's events or on how often they are delivered.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePlan } from "../../../core/billing/plans.ts";
import {
  advanceBillingStatus,
  gracePeriodMs,
  resolveBusinessStatus,
  markSuspended,
  type BillingEvent,
  type BillingStatus,
} from "../../../core/billing/billing-status.ts";

const parseBusinessPlan = (text: string) => parsePlan(text, "business");
const applyEvents = (events: readonly BillingEvent[]): BillingStatus | null =>
  events.reduce<BillingStatus | null>((status, event) => advanceBillingStatus(status, event, parseBusinessPlan) ?? status, null);

const createHead = (at: number) => ({ id: `evt_${at}`, type: "t", at, customerId: "cus_1", subscriptionId: "sub_1" });
const checkout: BillingEvent = { ...createHead(1_000), kind: "checkout", accountId: "biz_1", plan: "business", isPaid: true };

/** Generates the events of one subscription at distinct times, with its checkout first. */
const life = fc
  .uniqueArray(
    fc.record({
      at: fc.integer({ min: 1_001, max: 9_000 }),
      what: fc.constantFrom("paid", "failed", "active", "past_due", "enterprise", "incomplete", "inactive"),
    }),
    { selector: ({ at }) => at, maxLength: 12 },
  )
  .chain((generated) =>
    fc.boolean().map((ends): BillingEvent[] => [
      checkout,
      ...generated.map(({ at, what }): BillingEvent => {
        if (what === "paid" || what === "failed") return { ...createHead(at), kind: "payment", isPaid: what === "paid" };
        const plan = what === "enterprise" ? "enterprise" : "business";
        const state = what === "past_due" ? "past_due" : what === "incomplete" ? "unsettled" : what === "inactive" ? "inactive" : "paid";
        return { ...createHead(at), kind: "subscription", state, plan };
      }),
      ...(ends ? [{ ...createHead(10_000), kind: "subscription", state: "ended", plan: "business" } as const] : []),
    ]),
  );

describe("advanceBillingStatus", () => {
  test("leads to the same plan and status in every order of arrival, with every event delivered twice", () => {
    fc.assert(
      fc.property(
        life.chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 })),
        ),
        ([inOrder, shuffled]) => {
          const [expected, actual] = [applyEvents(inOrder), applyEvents(shuffled)];
          expect(actual?.plan).toBe(expected?.plan);
          expect(actual?.accountId).toBe("biz_1");
          expect(resolveBusinessStatus("active", null, actual as BillingStatus)).toBe(
            resolveBusinessStatus("active", null, expected as BillingStatus),
          );
          expect(actual?.endedAt).toBe(expected?.endedAt);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("sets pastDueSince to the first failure after the last payment", () => {
    const createPayment = (at: number, isPaid: boolean): BillingEvent => ({ ...createHead(at), kind: "payment", isPaid });
    expect(applyEvents([checkout, createPayment(2_000, false), createPayment(3_000, false)])?.pastDueSince).toBe(2_000);
    expect(applyEvents([checkout, createPayment(3_000, false), createPayment(2_000, false)])?.pastDueSince).toBe(2_000);
    expect(
      applyEvents([checkout, createPayment(2_000, true), createPayment(3_000, false), createPayment(1_500, false)])?.pastDueSince,
    ).toBe(3_000);
    expect(
      applyEvents([checkout, createPayment(1_500, false), createPayment(3_000, false), createPayment(2_000, true)])?.pastDueSince,
    ).toBe(3_000);
  });

  test("applies the event that arrives later when two have the same second", () => {
    const createPayment = (isPaid: boolean): BillingEvent => ({ ...createHead(2_000), kind: "payment", isPaid });
    expect(applyEvents([checkout, createPayment(true), createPayment(false)])?.pastDueSince).toBe(2_000);
    expect(applyEvents([checkout, createPayment(false), createPayment(true)])?.pastDueSince).toBeNull();
  });

  test("ignores a checkout that names another account", () => {
    const stolen = { ...checkout, at: 5_000, accountId: "biz_2" };
    expect(advanceBillingStatus(applyEvents([checkout]), stolen, parseBusinessPlan)).toBeNull();
  });
});

describe("resolveBusinessStatus", () => {
  const paid = applyEvents([checkout]) as BillingStatus;
  const due = applyEvents([checkout, { ...createHead(2_000), kind: "payment", isPaid: false }]) as BillingStatus;
  const suspended = markSuspended(due, 2_000 + gracePeriodMs);

  test("follows payments but never changes pending, closed or a suspension by an operator", () => {
    expect(resolveBusinessStatus("active", paid, due)).toBe("past_due");
    expect(resolveBusinessStatus("past_due", due, suspended)).toBe("suspended");
    expect(resolveBusinessStatus("suspended", suspended, paid)).toBe("active");
    for (const status of ["pending", "closed"] as const) expect(resolveBusinessStatus(status, suspended, paid)).toBe(status);
    expect(resolveBusinessStatus("suspended", due, paid)).toBe("suspended");
  });
});
