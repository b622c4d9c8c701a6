// What the provider says of a customer adds up to the same, in whatever order and however often it is told.
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

const named = (text: string) => parsePlan(text, "business");
const gathered = (events: readonly BillingEvent[]): BillingStatus | null =>
  events.reduce<BillingStatus | null>((standing, event) => advanceBillingStatus(standing, event, named) ?? standing, null);

const head = (at: number) => ({ id: `evt_${at}`, type: "t", at, customerId: "cus_1", subscriptionId: "sub_1" });
const checkout: BillingEvent = { ...head(1_000), kind: "checkout", accountId: "biz_1", plan: "business", isPaid: true };

/** Events of one subscription at distinct times, its checkout first. */
const life = fc
  .uniqueArray(
    fc.record({
      at: fc.integer({ min: 1_001, max: 9_000 }),
      what: fc.constantFrom("paid", "failed", "active", "past_due", "enterprise", "incomplete"),
    }),
    { selector: ({ at }) => at, maxLength: 12 },
  )
  .chain((generated) =>
    fc.boolean().map((ends): BillingEvent[] => [
      checkout,
      ...generated.map(({ at, what }): BillingEvent => {
        if (what === "paid" || what === "failed") return { ...head(at), kind: "payment", isPaid: what === "paid" };
        const plan = what === "enterprise" ? "enterprise" : "business";
        const state = what === "past_due" ? "past_due" : what === "incomplete" ? "unsettled" : "paid";
        return { ...head(at), kind: "subscription", state, plan };
      }),
      ...(ends ? [{ ...head(10_000), kind: "subscription", state: "ended", plan: "business" } as const] : []),
    ]),
  );

describe("a standing", () => {
  test("is the same plan and status in every order of arrival, with every event told twice", () => {
    fc.assert(
      fc.property(
        life.chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray([...events, ...events], { minLength: events.length * 2 })),
        ),
        ([inOrder, shuffled]) => {
          const [expected, told] = [gathered(inOrder), gathered(shuffled)];
          expect(told?.plan).toBe(expected?.plan);
          expect(told?.accountId).toBe("biz_1");
          expect(resolveBusinessStatus("active", null, told as BillingStatus)).toBe(
            resolveBusinessStatus("active", null, expected as BillingStatus),
          );
          expect(told?.endedAt).toBe(expected?.endedAt);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("is past due since the first failure, never since before the last payment", () => {
    const payment = (at: number, isPaid: boolean): BillingEvent => ({ ...head(at), kind: "payment", isPaid });
    expect(gathered([checkout, payment(2_000, false), payment(3_000, false)])?.pastDueSince).toBe(2_000);
    expect(gathered([checkout, payment(3_000, false), payment(2_000, false)])?.pastDueSince).toBe(2_000);
    expect(gathered([checkout, payment(2_000, true), payment(3_000, false), payment(1_500, false)])?.pastDueSince).toBe(3_000);
    expect(gathered([checkout, payment(1_500, false), payment(3_000, false), payment(2_000, true)])?.pastDueSince).toBe(3_000);
  });

  test("of two words of one second the later to arrive counts", () => {
    const payment = (isPaid: boolean): BillingEvent => ({ ...head(2_000), kind: "payment", isPaid });
    expect(gathered([checkout, payment(true), payment(false)])?.pastDueSince).toBe(2_000);
    expect(gathered([checkout, payment(false), payment(true)])?.pastDueSince).toBeNull();
  });

  test("goes back to nobody's account through nobody else's checkout", () => {
    const stolen = { ...checkout, at: 5_000, accountId: "biz_2" };
    expect(advanceBillingStatus(gathered([checkout]), stolen, named)).toBeNull();
  });
});

describe("a business's status", () => {
  const standing = gathered([checkout]) as BillingStatus;
  const due = gathered([checkout, { ...head(2_000), kind: "payment", isPaid: false }]) as BillingStatus;
  const suspended = markSuspended(due, 2_000 + gracePeriodMs);

  test("follows the payments, and never out of pending, closed or an operator's suspension", () => {
    expect(resolveBusinessStatus("active", standing, due)).toBe("past_due");
    expect(resolveBusinessStatus("past_due", due, suspended)).toBe("suspended");
    expect(resolveBusinessStatus("suspended", suspended, standing)).toBe("active");
    for (const status of ["pending", "closed"] as const) expect(resolveBusinessStatus(status, suspended, standing)).toBe(status);
    expect(resolveBusinessStatus("suspended", due, standing)).toBe("suspended");
  });
});
