// Schema parts, response descriptions and mappers that several routes share. These schemas check the shape of input. The code in core
// checks the meaning.
import { z } from "@hono/zod-openapi";
import { emailCodeRule, parseEmailCode } from "../../core/access/email-code.ts";
import { environments } from "../../core/access/entitlement.ts";
import { once } from "../../core/once.ts";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import { dayMs, toIso, type Instant } from "../../core/time.ts";
import type { RefusalTerms } from "./guards/define-guard.ts";
import { statusByCode } from "./statuses.ts";

export const idempotencyPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const idempotencyKeyRule = "must be 1 to 64 letters (A-Z, a-z), digits, underscores or hyphens";

export const exampleRequestId = "req_00k3v9d2m4q8x1c7b5n0t6w2h9";
const requestIdSchema = z.string().meta({
  description: "ID of this request. Include it when you contact support. Also sent in the `X-Request-Id` header.",
  example: exampleRequestId,
});

export const idempotencyKeySchema = (
  description = "Makes retries safe for 24 hours. Repeating the request with the same key and body changes nothing and returns the same data with `Idempotency-Replayed: true`.",
) => z.string().regex(idempotencyPattern, idempotencyKeyRule).optional().meta({ description, example: "order-1042" });

export const idempotencyHeaders = z.object({ "Idempotency-Key": idempotencyKeySchema() });

export const timeSchema = z.string().meta({ format: "date-time" });
export const describedTime = (meaning: string) => timeSchema.meta({ description: `${meaning}.` });

/**
 * Normalizes ISO 8601 variants that other programming languages write: a space or `t` before the time, `z`, offsets without a colon, and
 * microseconds or nanoseconds, which are cut to milliseconds.
 */
const toIsoText = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, "$1T")
    .replace(/(\.\d{3})(?:\d{3}|\d{6})(?=Z|[+-])/, "$1")
    .replace(/([+-]\d{2})(\d{2})$/, (offset, hours: string, minutes: string) => (text.includes(":") ? `${hours}:${minutes}` : offset));

/** Accepts an instant in a request: a date, or a date and time with an offset. */
export const instantSchema = z
  .string()
  .max(40)
  .transform(toIsoText)
  .refine(
    (text) =>
      /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) &&
      !Number.isNaN(Date.parse(text)) &&
      // The comparison refuses dates such as February 30, which Date.parse would accept as a day in March.
      new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10)),
    "must be an ISO 8601 date or time, such as 2026-03-05T09:12:00Z",
  )
  .meta({ type: "string", maxLength: 40 });

export const emailCodeSchema = z
  .string()
  .max(200)
  .refine((text) => parseEmailCode(text) !== null, emailCodeRule)
  .transform((text) => parseEmailCode(text) as string)
  .meta({
    type: "string",
    description: "6-digit code from the email. Spaces, dashes and full-width digits are accepted.",
    example: "042917",
  });

/** For an optional member of a request. JSON `null` means the same as a missing member. */
export const optionalMember = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);

/** For an optional member with a default. The default also applies to JSON `null`. */
export const memberWithDefault = <S extends z.ZodType>(schema: S, value: z.output<S>) =>
  schema.nullish().transform((input): z.output<S> => input ?? value);

/** Accepts a SHA-256 in a request. The hex digits may be upper or lower case. */
export const sha256InputSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, "must be 64 hex characters")
  .toLowerCase();

const isDate = (text: string): boolean => text.length === "2026-03-05".length;

/** Returns the last instant of a period. A date without a time means the end of that day (UTC). */
export const toPeriodEnd = (text: string): Instant => Date.parse(text) + (isDate(text) ? dayMs - 1 : 0);

/** Makes a named schema nullable in one place only. `nullable()` would make it nullable everywhere in the OpenAPI document. */
export const nullableSchema = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

export const environmentSchema = z.enum(environments);

const positiveIntegerRule = "must be a positive integer";

export const positiveIntSchema = z
  .string()
  .regex(/^[1-9]\d{0,39}$/, positiveIntegerRule)
  .transform((text) => Math.min(Number(text), 999_999_999_999_999)); // a double represents 15 digits exactly, and no real count has more

/** Accepts the page size of a list. The default is `preset`. Values above `max` count as `max`. */
export const limitSchema = (preset: number, max: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,39}$/, positiveIntegerRule)
    .optional()
    .transform((text) => Math.min(max, text === undefined ? preset : Number(text)))
    .meta({
      type: "integer",
      minimum: 1,
      default: preset,
      description: `Items per page, at most ${max}. Larger values are treated as ${max}.`,
    });

export const idSchema = <Id extends string>(parseId: (text: string) => Id | null, rule: string) =>
  z
    .string()
    .refine((text) => parseId(text) !== null, rule)
    .transform((text) => text as Id);

/** Accepts an ID in a path. `createApi` turns a malformed ID into a 404 response. */
export const idParamSchema = <Id extends string>(parseId: (text: string) => Id | null, description: string, example: string) =>
  idSchema(parseId, "must be an ID").meta({ type: "string", description, example });

/** The envelope of a successful JSON response. `name` is the schema's name in the OpenAPI document. */
export const envelopeSchema = <S extends z.ZodType>(name: string, data: S) =>
  z.object({ ok: z.literal(true), data, request_id: requestIdSchema }).openapi(name);

const envelopeExample = (data: object): object => ({ ok: true, data, request_id: exampleRequestId });

export const jsonContent = <S extends z.ZodType>(schema: S, example: object) => ({ "application/json": { schema, example } });

/**
 * Describes a success response. `data` is the schema of the response's data, and `example` is an example of it. Either can also be a
 * function, which is called only when the OpenAPI document is built. Creating all schemas and examples earlier would add milliseconds to
 * the start of every isolate.
 */
export const successResponse = <S extends z.ZodType>(
  description: string,
  name: string,
  data: S | (() => S),
  example: object | (() => object),
) => {
  const getContent = once(() => ({
    schema: envelopeSchema(name, typeof data === "function" ? data() : data),
    example: envelopeExample(typeof example === "function" ? (example as () => object)() : example),
  }));
  return {
    description,
    content: {
      "application/json": {
        get schema() {
          return getContent().schema;
        },
        get example() {
          return getContent().example;
        },
      },
    },
  };
};

export const requestBody = <S extends z.ZodType>(schema: S, example: object) => ({ required: true, content: jsonContent(schema, example) });

export const optionalRequestBody = <S extends z.ZodType>(schema: S, example: object) => ({
  required: false,
  content: jsonContent(schema, example),
});

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Key;
type InstantKey = "at" | `${string}_at` | `${string}_until` | `${string}_since` | "cease_by";
const instantKeyPattern = /(?:^|_)(?:at|until|since)$|^cease_by$/;
type SourceValue<Key, Wire> = Key extends InstantKey
  ? Wire extends string
    ? Instant
    : Wire
  : Wire extends readonly (infer Item)[]
    ? readonly Item[]
    : Wire;
type WireSource<Wire> = { readonly [Key in keyof Wire as CamelCase<Key & string>]: SourceValue<Key, Wire[Key]> };

/**
 * Maps `source` to the JSON object that `shape` describes. The result has only keys of `shape`, in the same order, so no other member of
 * `source` can reach a response. Undefined members are left out. Instants whose keys match `InstantKey` become ISO text. No other values
 * are converted, so nested objects must already be in wire format.
 */
export const toWire = <Shape extends z.ZodRawShape>(
  { shape }: { readonly shape: Shape },
  source: WireSource<z.input<z.ZodObject<Shape>>>,
): z.input<z.ZodObject<Shape>> =>
  Object.fromEntries(
    Object.keys(shape).flatMap((key) => {
      const value = (source as Readonly<Record<string, unknown>>)[
        key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
      ];
      if (value === undefined) return [];
      return [[key, typeof value === "number" && instantKeyPattern.test(key) ? toIso(value) : value]];
    }),
  ) as z.input<z.ZodObject<Shape>>;

/** Formats a day, counted from 1970-01-01 (UTC), as `YYYY-MM-DD`. */
export const dayToWire = (day: number | null): string | null => (day === null ? null : toIso(day * dayMs).slice(0, 10));

export const deletedSchema = z.object({ deleted: z.literal(true), id: z.string() });
export const deletedToWire = (id: string) => ({ deleted: true as const, id });

const integerSchema = { type: "integer" } as const;
/** Response headers of rate-limited routes (SPEC Limits). */
export const rateHeaders = {
  "RateLimit-Limit": { description: "Requests allowed per rate-limit window.", schema: integerSchema },
  "RateLimit-Remaining": { description: "Requests remaining in the current rate-limit window.", schema: integerSchema },
  "RateLimit-Reset": { description: "Seconds until the oldest counted request leaves the window.", schema: integerSchema },
};

/** Response headers of routes that accept an idempotency key. */
export const replayHeaders = {
  "Idempotency-Replayed": {
    description: "`true` if this is the response to an earlier request with the same key.",
    schema: { type: "string" } as const,
  },
};

const retryAfterHeader = { "Retry-After": { description: "Seconds to wait before you retry.", schema: integerSchema } };

const failureSchema = z
  .object({
    ok: z.literal(false),
    error: z.object({
      code: z.string().meta({ description: "Error code. Only new routes introduce new codes." }),
      message: z
        .string()
        .meta({ description: "Explanation for developers. It can name a field, but never contains a value that you sent." }),
    }),
    request_id: requestIdSchema,
  })
  .openapi("Failure");

/**
 * Describes a route's failures, grouped by HTTP status, with an example for each code. `when` replaces a code's general message with
 * text for this route. Texts and examples are created when the OpenAPI document is built, as for success responses.
 */
export const failureResponses = (codes: ReadonlySet<RefusalCode>, when: RefusalTerms["when"] = {}) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => statusByCode[code])].map(([status, codesOfStatus]) => [
      status,
      {
        ...((status === 429 || status === 503) && { headers: retryAfterHeader }),
        get description() {
          return codesOfStatus.map((code) => `\`${code}\`: ${when[code] ?? refusals[code]}`).join("\n\n");
        },
        content: {
          "application/json": {
            schema: failureSchema,
            get examples() {
              return Object.fromEntries(
                codesOfStatus.map((code) => [
                  code,
                  { value: { ok: false, error: { code, message: refusals[code] }, request_id: exampleRequestId } },
                ]),
              );
            },
          },
        },
      },
    ]),
  );

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};
const unitNames: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  string: [" character", " characters"],
  array: [" item", " items"],
};
const formatBound = (bound: number | bigint, origin: string, side: "most" | "least"): string =>
  `must ${origin === "array" ? "have" : "be"} at ${side} ${bound.toLocaleString("en-US")}${unitNames[origin]?.[Number(bound) === 1 ? 0 : 1] ?? ""}`;

/** Returns the message for a violated rule if the rule's schema does not define one. */
const describeIssue = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_big") return formatBound(issue.maximum, issue.origin, "most");
  if (issue.code === "too_small") return formatBound(issue.minimum, issue.origin, "least");
  if (issue.code === "invalid_value") return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  if (issue.code === "invalid_union" && typeof issue.discriminator === "string") {
    const isPresent = Object.hasOwn(issue.input as object, issue.discriminator);
    return isPresent ? `must be one of ${(issue.options as readonly string[]).join(", ")}` : "is required";
  }
  return undefined;
};
z.config({ customError: describeIssue }); // only this hook gets the input, which shows whether a value is missing or invalid

/**
 * Formats the first violated rule as `field: rule.`. The field name comes from the schema and the rule is constant text, so the message
 * never repeats the input.
 */
export const describeSchemaError = (error: z.ZodError): string => {
  // zod first reports that an integer above 2^53 - 1 is unsafe. Prefer the issue with the field's own range.
  const issue = error.issues.find((each) => !("origin" in each) || each.origin !== "int") ?? error.issues[0];
  const name = issue?.path[0];
  if (issue?.code === "unrecognized_keys")
    return typeof name === "string" ? `${name}: contains an unknown key. Remove it.` : "The body contains an unknown key. Remove it.";
  if (issue === undefined || typeof name !== "string") return "The body must be a JSON object.";
  const field = [name, ...issue.path.slice(1).filter((part) => typeof part === "string")].join(".");
  return `${field}: ${typeof issue.path.at(-1) === "number" ? "each " : ""}${issue.message}.`;
};
