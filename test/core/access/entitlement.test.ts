// Tests what each status and plan of a business allows, for every combination.
import { describe, expect, test } from "vitest";
import {
  authorizeCapture,
  authorizeRead,
  authorizeWrite,
  type BusinessStatus,
  type Environment,
  type Plan,
} from "../../../core/access/entitlement.ts";

const getOutcome = (result: { readonly ok: boolean; readonly code?: string }): string => (result.ok ? "yes" : (result.code ?? ""));

describe("entitlement", () => {
  test.each<readonly [BusinessStatus, string, string]>([
    ["active", "yes", "yes"],
    ["past_due", "yes", "subscription_past_due"],
    ["suspended", "business_suspended", "business_suspended"],
    ["pending", "business_inactive", "business_inactive"],
    ["closed", "business_inactive", "business_inactive"],
  ])("decides on access while %s: reading %s, writing %s", (status, reading, writing) => {
    expect(getOutcome(authorizeRead(status))).toBe(reading);
    expect(getOutcome(authorizeWrite(status))).toBe(writing);
  });

  const statuses: readonly BusinessStatus[] = ["active", "past_due", "suspended", "pending", "closed"];
  const plans: readonly Plan[] = ["free", "business", "enterprise"];
  const environments: readonly Environment[] = ["live", "sandbox"];
  test.each(statuses.flatMap((status) => plans.flatMap((plan) => environments.map((environment) => [status, plan, environment] as const))))(
    "decides whether a business that is %s on plan %s can capture consent with a %s client",
    (status, plan, environment) => {
      const writing = getOutcome(authorizeWrite(status));
      const expected = writing === "yes" && environment === "live" && plan !== "enterprise" ? "plan_required" : writing;
      expect(getOutcome(authorizeCapture({ status, plan }, environment))).toBe(expected);
    },
  );

  test("allows live certificates only to active businesses on Enterprise", () => {
    const allowed = statuses.flatMap((status) =>
      plans.filter((plan) => authorizeCapture({ status, plan }, "live").ok).map((plan) => [status, plan]),
    );
    expect(allowed).toEqual([["active", "enterprise"]]);
  });
});
