// Incidents that the operator records for the public status page. The first shard stores them. If its database does not respond, the page
// shows a copy from KV and says that the copy can be outdated.
import { desc, eq, gt, isNull, or } from "drizzle-orm";
import { shownIncidentMs, type Incident } from "../core/incidents.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { translateFaults } from "./faults.ts";
import { allOf } from "./query.ts";
import { incidents } from "./schema.ts";

/** More than the number of incidents that we expect in 90 days. */
const maxShown = 50;

const copyKey = "status/incidents";

/** Lists up to 50 incidents, newest first: open incidents, and those that ended in the last 90 days. */
export const listShownIncidents = (db: Database, now: Instant): Promise<readonly Incident[]> =>
  db
    .select()
    .from(incidents)
    .where(or(isNull(incidents.endedAt), gt(incidents.endedAt, now - shownIncidentMs)))
    .orderBy(desc(incidents.startedAt))
    .limit(maxShown);

export const findIncident = async (db: Database, id: string): Promise<Incident | null> => {
  const [row] = await db.select().from(incidents).where(eq(incidents.id, id));
  return row ?? null;
};

export const insertIncident = async (db: Database, incident: Incident): Promise<void> => {
  await db.insert(incidents).values({ ...incident, components: [...incident.components], updates: [...incident.updates] });
};

/** Changes an incident. Returns false and changes nothing if it has been updated since it was read (`before`). */
export const updateIncident = async (db: Database, before: Incident, { impact, endedAt, updates }: Incident): Promise<boolean> => {
  const { meta } = await db
    .update(incidents)
    .set({ impact, endedAt, updates: [...updates] })
    .where(allOf(eq(incidents.id, before.id), eq(incidents.updates, [...before.updates])))
    .run();
  return meta.changes > 0;
};

export const saveIncidentCopy = (kv: KVNamespace, shown: readonly Incident[]): Promise<void> =>
  translateFaults(() => kv.put(copyKey, JSON.stringify(shown)));

/** Reads the copy in KV. Returns an empty list if no copy was ever saved. */
export const readIncidentCopy = async (kv: KVNamespace): Promise<readonly Incident[]> =>
  JSON.parse((await translateFaults(() => kv.get(copyKey))) ?? "[]") as readonly Incident[];
