// What the descriptions of portal routes share: who may call them, and how they refuse.
import { z } from "@hono/zod-openapi";
import type { RefusalCode } from "../../core/refusals.ts";
import { envelope, enveloped, failures } from "./wire.ts";

export const portal = { tags: ["portal"], security: [{ session: [] }] };

const readRefusals = [
  "unauthorized",
  "business_suspended",
  "business_inactive",
  "forbidden",
  "rate_limited",
  "storage_unavailable",
] as const;
const bodyRefusals = ["csrf_failed", "invalid_request", "payload_too_large", "unsupported_media_type"] as const;

type Reasons = Partial<Record<RefusalCode, string>>;
const reasons: Reasons = {
  unauthorized: "No session, or it has ended.",
  forbidden: "A consumer is signed in, not a member of a business.",
  not_found: "There is no such record, or it is not yours.",
  rate_limited: "More than 120 a minute by one person.",
  invalid_request: "The message names the input and the rule.",
};

const described = (codes: readonly RefusalCode[], when: Reasons) => failures([...new Set(codes)], { ...reasons, ...when });

/** Of a GET. */
export const readFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) => described([...readRefusals, ...more], when);

/** Of a POST that only reads: possible while a payment is past due. */
export const postedReadFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) =>
  described([...readRefusals, ...bodyRefusals, ...more], when);

/** Of whatever changes something. */
export const writeFailures = (more: readonly RefusalCode[] = [], when: Reasons = {}) =>
  described([...readRefusals, "subscription_past_due", ...bodyRefusals, ...more], when);

export const answer = <S extends z.ZodType>(name: string, schema: S, example: object) => ({
  "application/json": { schema: envelope(name, schema), example: enveloped(example) },
});

export const body = <S extends z.ZodType>(schema: S, example: object) => ({
  required: true,
  content: { "application/json": { schema, example } },
});

export const noBody = "There is a body, and it is not JSON: none is needed.";

export const time = z.string().openapi({ format: "date-time" });
export const environmentSchema = z.enum(["live", "sandbox"]);
