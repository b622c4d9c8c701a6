// POST /dev/faults makes a shard's database fail. The route exists only in development and is not in the OpenAPI document.
import { z } from "@hono/zod-openapi";
import type { Hono } from "hono";
import type { ShardId } from "../../../core/ids.ts";
import { faultModes } from "../../../core/simulated-fault.ts";
import { toIso } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { jsonBody } from "../../http/body.ts";
import { failure, success } from "../../http/envelope.ts";
import { simulateDatabaseFault } from "../../operations/service/simulate-database-fault.ts";

const maxFaultMs = 3_600_000; // one hour, so that a forgotten fault ends

const faultSchema = z.strictObject({
  database: z.string(),
  mode: z.enum(faultModes),
  for_ms: z.int().min(0).max(maxFaultMs),
});

const rule = `The body must contain \`database\` (a shard, such as "00"), \`mode\` (${faultModes.join(", ")}) and \`for_ms\` (milliseconds, 0 to ${maxFaultMs}; 0 ends the fault).`;

export const registerFaultRoutes = (app: Hono<AppEnv>): void => {
  app.post("/dev/faults", jsonBody, async (c) => {
    const parsed = faultSchema.safeParse(await c.req.json());
    if (!parsed.success) return failure(c, "invalid_request", rule);
    const { database, mode, for_ms: forMs } = parsed.data;
    const until = simulateDatabaseFault(c.var.services, { shard: database as ShardId, mode, forMs });
    return until === null ? failure(c, "invalid_request", rule) : success(c, 200, { database, mode, until: toIso(until) });
  });
};
