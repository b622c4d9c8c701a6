// What the descriptions of portal routes share: who may call them, and how they refuse.
import { z } from "@hono/zod-openapi";
import type { RefusalCode } from "../../core/refusals.ts";
import { badBody, bodyRefusals, failures, sessionRefusals } from "./wire.ts";

export const portal = { tags: ["portal"], security: [{ session: [] }] };

const readRefusals = ["business_suspended", "business_inactive", ...sessionRefusals] as const;

type Reasons = Partial<Record<RefusalCode, string>>;
const reasons: Reasons = {
  unauthorized: "No session, or it has ended.",
  forbidden: "A consumer is signed in, not a member of a business.",
  not_found: "There is no such record, or it is not yours.",
  rate_limited: "More than 120 a minute by one person.",
  ...badBody,
};

const described = (codes: readonly RefusalCode[], when: Reasons) => failures([...new Set(codes)], { ...reasons, ...when });

/** Of a GET. */
export const readFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) => described([...readRefusals, ...more], when);

/** Of a POST that only reads: possible while a payment is past due. */
export const postedReadFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) =>
  described([...readRefusals, "csrf_failed", ...bodyRefusals, ...more], when);

/** Of whatever changes something. */
export const writeFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) =>
  described([...readRefusals, "subscription_past_due", "csrf_failed", ...bodyRefusals, ...more], when);

export const noBody = "There is a body, and it is not JSON: none is needed.";

export const time = z.string().openapi({ format: "date-time" });
export const environmentSchema = z.enum(["live", "sandbox"]);
