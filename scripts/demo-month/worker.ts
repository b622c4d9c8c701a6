// The Worker that fills the databases of `npm start` with a month of demo data. It runs before the service starts, with the service's
// databases and Durable Objects. It is never deployed.
import type { Env } from "../../workers/env.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { DemoAccount } from "./account.ts";
import { replayMonth } from "./replay-month.ts";

export { AuditLog } from "../../durable-objects/audit-log/object.ts";
export { DestinationHost } from "../../durable-objects/destination-host/object.ts";
export { EventSequence } from "../../durable-objects/event-sequence/object.ts";
export { IntakeJournal } from "../../durable-objects/intake-journal/object.ts";
export { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
export { RateLimiter } from "../../durable-objects/rate-limiter/object.ts";
export { DeliveryQueue } from "./delivery-queue.ts";

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { clock } = await getPlatform(env);
    return Response.json(await replayMonth(env, await request.json<DemoAccount>(), clock()));
  },
} satisfies ExportedHandler<Env>;
