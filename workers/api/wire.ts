// Pieces of schema that several routes share. Zod judges shape here; meaning is judged in core.
import { z } from "@hono/zod-openapi";

const requestId = z.string().openapi({ example: "req_00k3v9d2m4q8x1c7b5n0t6w2h9" });

export const envelope = (name: string, data: z.ZodType): z.ZodType =>
  z.object({ ok: z.literal(true), data, request_id: requestId }).openapi(name);

export const failureSchema = z
  .object({ ok: z.literal(false), error: z.object({ code: z.string(), message: z.string() }), request_id: requestId })
  .openapi("Failure");

/** Failure answers of a route in its description: status to the codes it can carry. */
export const failures = (
  byStatus: Readonly<Record<number, string>>,
): Record<number, { description: string; content: { "application/json": { schema: z.ZodType } } }> =>
  Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [
      status,
      { description: codes, content: { "application/json": { schema: failureSchema } } },
    ]),
  );

/** The first broken rule of a schema as a sentence: the input's own name (known from the schema) and a constant reason. */
export const schemaFault = (error: z.ZodError): string => {
  const [issue] = error.issues;
  const name = issue?.path[0];
  if (issue === undefined || typeof name !== "string") return "The body must be a JSON object.";
  const member = issue.path.slice(1).filter((part) => typeof part === "string");
  const reason =
    issue.code === "invalid_type"
      ? "is missing or of the wrong type"
      : issue.code === "too_big"
        ? "is too long or too large"
        : issue.code === "too_small"
          ? "is too short or too small"
          : "is not valid";
  return `${[name, ...member].join(".")}: ${reason}.`;
};
