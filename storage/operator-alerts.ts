// Alerts that were sent to the operator about problems that are not resolved yet. The first shard stores them.
import { eq } from "drizzle-orm";
import type { AlertKind, AlertState } from "../core/alerts.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { operatorAlerts } from "./schema.ts";

export const listAlertStates = (db: Database): Promise<readonly AlertState[]> => db.select().from(operatorAlerts);

/** Records that an alert was sent. If this kind of alert already has a row, its `since` stays the same. */
export const saveAlertState = async (db: Database, { kind, since }: Omit<AlertState, "notifiedAt">, now: Instant): Promise<void> => {
  await db
    .insert(operatorAlerts)
    .values({ kind, since, notifiedAt: now })
    .onConflictDoUpdate({ target: operatorAlerts.kind, set: { notifiedAt: now } });
};

export const deleteAlertState = async (db: Database, kind: AlertKind): Promise<void> => {
  await db.delete(operatorAlerts).where(eq(operatorAlerts.kind, kind));
};
