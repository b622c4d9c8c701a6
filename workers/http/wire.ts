// Pieces of schema that several routes share. Zod judges shape here; meaning is judged in core.
import { z } from "@hono/zod-openapi";
import { refusals, type RefusalCode } from "../../core/refusals.ts";
import type { RefusalTerms } from "./guards/define-guard.ts";
import { statusByCode } from "./statuses.ts";

/** Of the header Idempotency-Key (CONTRACT 0). */
export const idempotencyPattern = /^[A-Za-z0-9_-]{1,64}$/;
export const idempotencyKeyRule = "must be 1 to 64 of A-Z a-z 0-9 _ -";

const exampleRequestId = "req_00k3v9d2m4q8x1c7b5n0t6w2h9";
const requestIdSchema = z
  .string()
  .openapi({ description: "Quote it to support. Also in the header X-Request-Id.", example: exampleRequestId });

/** Its place in the description of a route. */
export const idempotencyKeySchema = (
  description = "The same key with the same body is one request for 24 hours: sent again, it does nothing and answers the same, marked `Idempotency-Replayed: true`.",
) => z.string().regex(idempotencyPattern, idempotencyKeyRule).optional().openapi({ description, example: "order-1042" });

/** Of routes that take the key and no other header. */
export const idempotencyHeaders = z.object({ "Idempotency-Key": idempotencyKeySchema() });

export const timeSchema = z.string().openapi({ format: "date-time" });
export const describedTime = (what: string) => timeSchema.openapi({ description: `${what}.` });

/** A moment that is sent. */
export const instantSchema = z
  .string()
  .max(40)
  .refine(
    (text) =>
      /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text) &&
      !Number.isNaN(Date.parse(text)) &&
      // Date.parse carries 30 February over into March
      new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10)),
    "must be a moment in ISO 8601",
  );

/** `nullable()` on a schema with a name would make every use of that name nullable. */
export const nullableSchema = <S extends z.ZodType>(schema: S) => z.union([schema, z.null()]);

export const environmentSchema = z.enum(["live", "sandbox"]);

const wholeNumberRule = "must be a whole number from 1";

export const positiveIntSchema = z
  .string()
  .regex(/^[1-9]\d{0,39}$/, wholeNumberRule)
  .transform((text) => Math.min(Number(text), 999_999_999_999_999)); // 15 digits are exact in a double, and past the end of everything

/** How many rows a page may have: `limit` of lists that are read in pages. More than `max` is answered as `max`. */
export const limitSchema = (preset: number, max: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,39}$/, wholeNumberRule)
    .optional()
    .transform((text) => Math.min(max, text === undefined ? preset : Number(text)))
    .openapi({ type: "integer", minimum: 1, default: preset, description: `At most ${max}; larger is answered as ${max}.` });

/** An id of the kind that `idOf` reads. */
export const idSchema = <Id extends string>(idOf: (text: string) => Id | null, rule: string) =>
  z
    .string()
    .refine((text) => idOf(text) !== null, rule)
    .transform((text) => text as Id);

/** One in a path: what is not spelt as one is nobody's, and is refused as an unknown one is (`newApi`). */
export const idParamSchema = <Id extends string>(idOf: (text: string) => Id | null, description: string, example: string) =>
  idSchema(idOf, "must be an id").openapi({ type: "string", description, example });

/** A successful JSON answer around `data`; `name` is its name in the description. */
export const envelopeSchema = <S extends z.ZodType>(name: string, data: S) =>
  z.object({ ok: z.literal(true), data, request_id: requestIdSchema }).openapi(name);

/** The same around an example. */
const envelopeExample = (data: object): object => ({ ok: true, data, request_id: exampleRequestId });

export const jsonContent = <S extends z.ZodType>(schema: S, example: object) => ({ "application/json": { schema, example } });

/** A success of a route in its description: the envelope around `data`. */
export const successResponse = <S extends z.ZodType>(description: string, name: string, data: S, example: object) => ({
  description,
  content: jsonContent(envelopeSchema(name, data), envelopeExample(example)),
});

/** What a route reads. */
export const requestBody = <S extends z.ZodType>(schema: S, example: object) => ({ required: true, content: jsonContent(schema, example) });

/** The same where it may be left out. */
export const optionalRequestBody = <S extends z.ZodType>(schema: S, example: object) => ({
  required: false,
  content: jsonContent(schema, example),
});

/** What the removal of a record answers. */
export const deletedSchema = z.object({ deleted: z.literal(true), id: z.string() });
export const deletedToWire = (id: string) => ({ deleted: true as const, id });

const integerSchema = { type: "integer" } as const;
/** Of routes that are counted (CONTRACT 0). */
export const rateHeaders = {
  "RateLimit-Limit": { description: "Requests allowed in a window.", schema: integerSchema },
  "RateLimit-Remaining": { description: "Requests left in this window.", schema: integerSchema },
  "RateLimit-Reset": { description: "Seconds until the oldest request leaves the window.", schema: integerSchema },
};

/** Of routes that take an idempotency key. */
export const replayHeaders = {
  "Idempotency-Replayed": { description: "`true` when this is the answer of an earlier request.", schema: { type: "string" } as const },
};

const retryAfterHeader = { "Retry-After": { description: "Seconds to wait.", schema: integerSchema } };

const failureSchema = z
  .object({
    ok: z.literal(false),
    error: z.object({
      code: z.string().openapi({ description: "What happened, for programs. Closed list; new codes come only with new routes." }),
      message: z
        .string()
        .openapi({ description: "The same for people, in constant words. May name an input, never repeats what was sent." }),
    }),
    request_id: requestIdSchema,
  })
  .openapi("Failure");

/**
 * Failure answers of a route in its description: every code stands under the status it has, with the answer itself as
 * example. `when` says in which case, where the code's own sentence does not.
 */
export const failureResponses = (codes: ReadonlySet<RefusalCode>, when: RefusalTerms["when"] = {}) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => statusByCode[code])].map(([status, of]) => [
      status,
      {
        ...((status === 429 || status === 503) && { headers: retryAfterHeader }),
        description: of.map((code) => `\`${code}\`: ${when[code] ?? refusals[code]}`).join("\n\n"),
        content: {
          "application/json": {
            schema: failureSchema,
            examples: Object.fromEntries(
              of.map((code) => [code, { value: { ok: false, error: { code, message: refusals[code] }, request_id: exampleRequestId } }]),
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

/** What a schema asks, for rules that have no words of their own beside them. */
const describeIssue = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return "is missing";
  if (issue.code === "invalid_type") return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_big") return `must be at most ${formatBound(issue.maximum, issue.origin)}`;
  if (issue.code === "too_small") return `must be at least ${formatBound(issue.minimum, issue.origin)}`;
  if (issue.code === "invalid_value") return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  if (issue.code === "invalid_union" && typeof issue.discriminator === "string") {
    const isThere = Object.hasOwn(issue.input as object, issue.discriminator);
    return isThere ? `must be one of ${(issue.options as readonly string[]).join(", ")}` : "is missing";
  }
  return undefined;
};
z.config({ customError: describeIssue }); // the only place where zod shows what was sent, so where "missing" can be told from "wrong"

/** The first broken rule of a schema as a sentence: the input's own name (known from the schema) and a constant reason. */
export const describeSchemaError = (error: z.ZodError): string => {
  const [issue] = error.issues;
  const name = issue?.path[0];
  if (issue?.code === "unrecognized_keys")
    return typeof name === "string" ? `${name}: holds a member that is not known here.` : "The body holds a member that is not known here.";
  if (issue === undefined || typeof name !== "string") return "The body must be a JSON object.";
  const named = [name, ...issue.path.slice(1).filter((part) => typeof part === "string")].join(".");
  return `${named}: ${typeof issue.path.at(-1) === "number" ? "each " : ""}${issue.message}.`;
};
