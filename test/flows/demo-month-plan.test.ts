// Tests the plan of the demo month at many times of day: the certificates, the withdrawals and their acknowledgments, and the hour in which
// an endpoint fails.
import { describe, expect, test } from "vitest";
import { getCeaseDeadline } from "../../core/cease-deadline.ts";
import { dayMs, hourMs } from "../../core/time.ts";
import { getOutageStart, isWeekend, listLeadTimes } from "../../scripts/demo-month/calendar.ts";
import { createLead } from "../../scripts/demo-month/leads.ts";
import { createDice } from "../../scripts/demo-month/random.ts";
import { planWithdrawals } from "../../scripts/demo-month/withdrawal-plan.ts";

const firstStart = Date.UTC(2026, 1, 20, 0, 30); // the 30 days before each start contain a month boundary and part of a short February
const starts = Array.from({ length: 72 }, (_, step) => firstStart + step * 7 * hourMs); // three weeks, covering every hour of the day

const planMonth = (now: number) => {
  const dice = createDice(30);
  const leads = listLeadTimes(now, dice).map((at) => createLead(at, dice));
  return { leads, withdrawals: planWithdrawals(leads, now) };
};

describe("the demo month", () => {
  test("has withdrawals acknowledged on time, one overdue and some pending, whenever it starts", () => {
    for (const now of starts) {
      const { leads, withdrawals } = planMonth(now);
      const open = withdrawals.filter(({ acknowledgedAt }) => acknowledgedAt === null);
      const overdue = open.filter(({ at }) => getCeaseDeadline(at) < now);
      const late = withdrawals.filter(({ at, acknowledgedAt }) => acknowledgedAt !== null && acknowledgedAt > getCeaseDeadline(at));
      expect(new Set(withdrawals.map(({ lead }) => lead)).size).toBe(withdrawals.length);
      for (const { at, lead } of withdrawals) expect(leads[lead]?.at).toBeLessThan(at);
      expect(late).toEqual([]);
      expect([overdue.length, open.length]).toEqual([1, 5]);
    }
  });

  test("covers 30 days, with more certificates on working days than on weekends, and none in the future", () => {
    for (const now of starts) {
      const times = listLeadTimes(now, createDice(30));
      const computeAverage = (days: readonly number[]): number =>
        days.reduce((sum, day) => sum + times.filter((at) => at - (at % dayMs) === day).length, 0) / days.length;
      const today = now - (now % dayMs);
      const days = Array.from({ length: 27 }, (_, index) => today - (index + 2) * dayMs);
      expect(computeAverage(days.filter((day) => !isWeekend(day)))).toBeGreaterThan(computeAverage(days.filter(isWeekend)));
      expect(times.length).toBeGreaterThan(150);
      expect(times.at(-1)).toBeLessThan(now);
      expect(times[0]).toBeGreaterThan(today - 30 * dayMs);
    }
  });

  test("has withdrawals in the hour in which an endpoint fails, and that hour is between four hours and two days ago", () => {
    for (const now of starts) {
      const outage = getOutageStart(now);
      expect(outage + hourMs).toBeLessThanOrEqual(now - 4 * hourMs);
      expect(outage).toBeGreaterThan(now - 2 * dayMs);
      const { withdrawals } = planMonth(now);
      expect(withdrawals.filter(({ at }) => at >= outage && at < outage + hourMs).length).toBeGreaterThanOrEqual(2);
      for (const { acknowledgedAt } of withdrawals) expect(acknowledgedAt ?? 0).toBeLessThan(now);
    }
  });
});
