// Webhook endpoints that have been failing for a long time, for the list that operators see. A row is written when the owners are notified.
// When the list is created, rows of endpoints that respond again or no longer exist are deleted.
import { eq, sql } from "drizzle-orm";
import type { BusinessId, WebhookId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { Database } from "../database.ts";
import { allOf } from "../query.ts";
import { outbox } from "../schema.ts";

const kind = "failing_endpoint";
const { entityId, businessId, createdAt, ord } = outbox;
const isFailingEndpoint = eq(outbox.kind, kind);

export interface FailingEndpoint {
  readonly webhookId: WebhookId;
  readonly businessId: BusinessId;
  readonly since: Instant;
}

/** Saves a failing endpoint. Does nothing if the endpoint is already saved. */
export const insertFailingEndpoint = (db: Database, { webhookId, since, ...endpoint }: FailingEndpoint, now: Instant) =>
  db
    .insert(outbox)
    .values({ kind, entityId: webhookId, topic: "", payload: "", nextAt: now, createdAt: since, businessId: endpoint.businessId })
    .onConflictDoNothing();

/** Lists endpoints in the order in which they were saved. */
export const listFailingEndpointRows = (db: Database, max: number): Promise<readonly FailingEndpoint[]> =>
  db
    .select({ webhookId: sql<WebhookId>`${entityId}`, businessId, since: createdAt })
    .from(outbox)
    .where(isFailingEndpoint)
    .orderBy(ord)
    .limit(max)
    .all();

export const deleteFailingEndpoint = (db: Database, webhookId: WebhookId) =>
  db.delete(outbox).where(allOf(isFailingEndpoint, eq(entityId, webhookId)));
