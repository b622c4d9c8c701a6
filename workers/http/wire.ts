// Schema parts shared by several routes. Zod checks the shape of input; core checks its meaning.
import { z } from "@hono/zod-openapi";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import type { RefusalTerms } from "./guards/define-guard.ts";
import { statusByCode } from "./statuses.ts";

/** Allowed values of the header Idempotency-Key. */
export const idempotencyPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const idempotencyKeyRule = "must be 1 to 64 characters of A-Z a-z 0-9 _ -";

const exampleRequestId = "req_00k3v9d2m4q8x1c7b5n0t6w2h9";
const requestIdSchema = z
  .string()
  .openapi({ description: "Include it when you contact support. Also in the header X-Request-Id.", example: exampleRequestId });

/** Schema of the Idempotency-Key header. */
export const idempotencyKeySchema = (
  description = "The same key with the same body is one request for 24 hours: a repeat changes nothing and returns the same data with `Idempotency-Replayed: true`.",
) => z.string().regex(idempotencyPattern, idempotencyKeyRule).optional().openapi({ description, example: "order-1042" });

/** For routes that read no other header. */
export const idempotencyHeaders = z.object({ "Idempotency-Key": idempotencyKeySchema() });

export const timeSchema = z.string().openapi({ format: "date-time" });
export const describedTime = (meaning: string) => timeSchema.openapi({ description: `${meaning}.` });

/** A time in the input: a date, or a date and time with an offset. */
export const instantSchema = z
  .string()
  .max(40)
  .refine(
    (text) =>
      /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) &&
      !Number.isNaN(Date.parse(text)) &&
      // Date.parse turns 30 February into a day in March
      new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10)),
    "must be an ISO 8601 date or time",
  );

/** Use instead of `nullable()`, which on a named schema would make every use of that name nullable. */
export const nullableSchema = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

export const environmentSchema = z.enum(["live", "sandbox"]);

const wholeNumberRule = "must be a whole number of at least 1";

export const positiveIntSchema = z
  .string()
  .regex(/^[1-9]\d{0,39}$/, wholeNumberRule)
  .transform((text) => Math.min(Number(text), 999_999_999_999_999)); // 15 digits are exact in a double and larger than any sequence

/** The `limit` parameter of paginated lists. Values above `max` are treated as `max`. */
export const limitSchema = (defaultLimit: number, max: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,39}$/, wholeNumberRule)
    .optional()
    .transform((text) => Math.min(max, text === undefined ? defaultLimit : Number(text)))
    .openapi({ type: "integer", minimum: 1, default: defaultLimit, description: `At most ${max}; larger values are treated as ${max}.` });

/** An id in the input that `parseId` accepts. */
export const idSchema = <Id extends string>(parseId: (text: string) => Id | null, rule: string) =>
  z
    .string()
    .refine((text) => parseId(text) !== null, rule)
    .transform((text) => text as Id);

/** An id in a path. A malformed one is refused like an unknown one (see `createApi`). */
export const idParamSchema = <Id extends string>(parseId: (text: string) => Id | null, description: string, example: string) =>
  idSchema(parseId, "must be an id").openapi({ type: "string", description, example });

/** The success envelope around `data`; `name` is the schema's name in the OpenAPI document. */
export const envelopeSchema = <S extends z.ZodType>(name: string, data: S) =>
  z.object({ ok: z.literal(true), data, request_id: requestIdSchema }).openapi(name);

/** The success envelope around an example. */
const envelopeExample = (data: object): object => ({ ok: true, data, request_id: exampleRequestId });

export const jsonContent = <S extends z.ZodType>(schema: S, example: object) => ({ "application/json": { schema, example } });

/** The OpenAPI response of a success: the envelope around `data`. */
export const successResponse = <S extends z.ZodType>(description: string, name: string, data: S, example: object) => ({
  description,
  content: jsonContent(envelopeSchema(name, data), envelopeExample(example)),
});

/** The OpenAPI request body of a route. */
export const requestBody = <S extends z.ZodType>(schema: S, example: object) => ({ required: true, content: jsonContent(schema, example) });

/** An optional request body. */
export const optionalRequestBody = <S extends z.ZodType>(schema: S, example: object) => ({
  required: false,
  content: jsonContent(schema, example),
});

/** Response data of a deletion. */
export const deletedSchema = z.object({ deleted: z.literal(true), id: z.string() });
export const deletedToWire = (id: string) => ({ deleted: true as const, id });

const integerSchema = { type: "integer" } as const;
/** Response headers of rate-limited routes. */
export const rateHeaders = {
  "RateLimit-Limit": { description: "Requests allowed per window.", schema: integerSchema },
  "RateLimit-Remaining": { description: "Requests left in this window.", schema: integerSchema },
  "RateLimit-Reset": { description: "Seconds until the oldest request leaves the window.", schema: integerSchema },
};

/** Response headers of routes that accept an idempotency key. */
export const replayHeaders = {
  "Idempotency-Replayed": {
    description: "`true` when this is the saved response of an earlier request.",
    schema: { type: "string" } as const,
  },
};

const retryAfterHeader = { "Retry-After": { description: "Seconds to wait.", schema: integerSchema } };

const failureSchema = z
  .object({
    ok: z.literal(false),
    error: z.object({
      code: z.string().openapi({ description: "Error code, for programs. A closed list; new codes come only with new routes." }),
      message: z.string().openapi({ description: "Constant text for people. It may name an input but never echoes a value." }),
    }),
    request_id: requestIdSchema,
  })
  .openapi("Failure");

/**
 * The OpenAPI failure responses of a route: every code under its HTTP status, with an example. `when` replaces the default message of a
 * code where the route can describe the case better.
 */
export const failureResponses = (codes: ReadonlySet<RefusalCode>, when: RefusalTerms["when"] = {}) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => statusByCode[code])].map(([status, statusCodes]) => [
      status,
      {
        ...((status === 429 || status === 503) && { headers: retryAfterHeader }),
        description: statusCodes.map((code) => `\`${code}\`: ${when[code] ?? refusals[code]}`).join("\n\n"),
        content: {
          "application/json": {
            schema: failureSchema,
            examples: Object.fromEntries(
              statusCodes.map((code) => [
                code,
                { value: { ok: false, error: { code, message: refusals[code] }, request_id: exampleRequestId } },
              ]),
            ),
          },
        },
      },
    ]),
  );

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};
const unitNames: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: [" character", " characters"],
  array: [" entry", " entries"],
};
const formatBound = (bound: number | bigint, origin: string): string =>
  `${bound.toLocaleString("en-US")}${unitNames[origin]?.[Number(bound) === 1 ? 0 : 1] ?? ""}`;

/** The message of a broken rule that has no message of its own. */
const describeIssue = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return "is missing";
  if (issue.code === "invalid_type") return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_big") return `must be at most ${formatBound(issue.maximum, issue.origin)}`;
  if (issue.code === "too_small") return `must be at least ${formatBound(issue.minimum, issue.origin)}`;
  if (issue.code === "invalid_value") return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  if (issue.code === "invalid_union" && typeof issue.discriminator === "string") {
    const isPresent = Object.hasOwn(issue.input as object, issue.discriminator);
    return isPresent ? `must be one of ${(issue.options as readonly string[]).join(", ")}` : "is missing";
  }
  return undefined;
};
// Only here does zod pass the input along, which tells a missing value from a wrong one.
z.config({ customError: describeIssue });

/** The first broken rule as `<field>: <rule>.` The field name comes from the schema and the rule is constant, so no input is echoed. */
export const describeSchemaError = (error: z.ZodError): string => {
  const [issue] = error.issues;
  const name = issue?.path[0];
  if (issue?.code === "unrecognized_keys")
    return typeof name === "string" ? `${name}: contains an unknown key.` : "The body contains an unknown key.";
  if (issue === undefined || typeof name !== "string") return "The body must be a JSON object.";
  const path = [name, ...issue.path.slice(1).filter((part) => typeof part === "string")].join(".");
  return `${path}: ${typeof issue.path.at(-1) === "number" ? "each " : ""}${issue.message}.`;
};
