// Implements POST /v1/admin/incidents and POST /v1/admin/incidents/{id}.
import { toHex } from "../../../core/bytes.ts";
import { firstShard } from "../../../core/ids.ts";
import type { Incident, IncidentImpact } from "../../../core/incidents.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { findIncident, insertIncident, listShownIncidents, saveIncidentCopy, updateIncident } from "../../../storage/incidents.ts";
import type { ReadDependencies } from "../dependencies.ts";

const idBytes = 8; // incidents are public, so their IDs need not be secret

/**
 * Updates the copy of the incidents in KV, which the status page shows while the database does not respond. If the copy cannot be saved,
 * logs an error instead of throwing, because the database already contains the incident. If two requests change incidents at the same
 * moment, one of the changes can be missing from the copy until the next change.
 */
const refreshCopy = async (services: ReadDependencies): Promise<void> => {
  const shown = await listShownIncidents(services.shards.get(firstShard), services.clock());
  await saveIncidentCopy(services.kv, shown).catch(() => services.log.error({ at: "status", error: "the copy was not saved" }));
};

/** Opens an incident, which is public immediately. */
export const openIncident = async (
  services: ReadDependencies,
  { text, ...given }: Pick<Incident, "title" | "impact" | "components"> & { readonly text: string },
): Promise<Incident> => {
  const now = services.clock();
  const incident: Incident = {
    ...given,
    id: toHex(services.random(idBytes)),
    startedAt: now,
    endedAt: null,
    updates: [{ at: now, text }],
  };
  await insertIncident(services.shards.get(firstShard), incident);
  await refreshCopy(services);
  return incident;
};

export interface IncidentChange {
  readonly text: string;
  readonly impact?: IncidentImpact | undefined;
  /** True ends the incident; false reopens it. */
  readonly hasEnded?: boolean | undefined;
}

const maxAttempts = 3; // an attempt fails only if another update is added at the same moment

/**
 * Adds an update to an incident, and optionally changes its impact, ends it or reopens it. Returns `not_found` for an unknown incident.
 * Throws if all three attempts fail because other updates were added at the same time.
 */
export const changeIncident = async (
  services: ReadDependencies,
  id: string,
  { text, impact, hasEnded }: IncidentChange,
): Promise<Result<Incident, "not_found">> => {
  const db = services.shards.get(firstShard);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const found = await findIncident(db, id);
    if (found === null) return refuse("not_found");
    const now = services.clock();
    const endedAt = hasEnded === true ? (found.endedAt ?? now) : hasEnded === false ? null : found.endedAt;
    const changed: Incident = { ...found, impact: impact ?? found.impact, endedAt, updates: [...found.updates, { at: now, text }] };
    if (!(await updateIncident(db, found, changed))) continue;
    await refreshCopy(services);
    return ok(changed);
  }
  throw new Error("admin: the incident kept changing");
};
