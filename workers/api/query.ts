// Parameters of a query as a route reads them.
import type { Context } from "hono";
import { ok, refuse, type Result } from "../../core/result.ts";
import type { Api } from "./context.ts";

/** The named parameters; one that is given twice could mean either, so it is refused. */
export const queryOf = <N extends string>(c: Context<Api>, names: readonly N[]): Result<Partial<Record<N, string>>, "invalid_request"> => {
  const given: Partial<Record<N, string>> = {};
  for (const name of names) {
    const values = c.req.queries(name) ?? [];
    if (values.length > 1) return refuse("invalid_request", `${name}: must be given once.`);
    if (values[0] !== undefined) given[name] = values[0];
  }
  return ok(given);
};
