// Implements GET /status.
import { firstShard } from "../../../core/ids.ts";
import { computeComponentStatuses, type Incident } from "../../../core/incidents.ts";
import { listShownIncidents, readIncidentCopy } from "../../../storage/incidents.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Returns the incidents, newest first. `isCopy` is true if the database did not respond and the incidents come from the saved copy. */
const loadIncidents = async (
  services: ReadDependencies,
): Promise<{ readonly incidents: readonly Incident[]; readonly isCopy: boolean }> => {
  try {
    return { incidents: await listShownIncidents(services.shards.get(firstShard), services.clock()), isCopy: false };
  } catch {
    // The storage layer has already logged the error.
    return { incidents: await readIncidentCopy(services.kv).catch(() => []), isCopy: true };
  }
};

/** Returns the data for the public status page. Does not fail if a store is unavailable. */
export const getServiceStatus = async (services: ReadDependencies) => {
  const { incidents, isCopy } = await loadIncidents(services);
  return { components: computeComponentStatuses(incidents), incidents, isCopy };
};

export type ServiceStatus = Awaited<ReturnType<typeof getServiceStatus>>;
