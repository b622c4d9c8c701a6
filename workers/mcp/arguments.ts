// Arguments of tools: their schemas, and what is said of those that break one. The words are constant; what was sent is never repeated.
import { z } from "@hono/zod-openapi";

export const wholeNumber = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
};

/** The first broken rule, by the name of the argument. */
export const argumentFault = (takes: z.ZodObject, { issues: [issue] }: z.ZodError): string => {
  const name = issue?.path[0];
  const known = `arguments this tool takes: ${Object.keys(takes.shape).join(", ")}`;
  if (typeof name === "string" && Object.hasOwn(takes.shape, name)) return `argument ${name} ${issue?.message}`;
  return known;
};
