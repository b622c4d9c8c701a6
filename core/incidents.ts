// The service's status on the public page: its components, and the incidents that the operator records.
import { dayMs, type Instant } from "./time.ts";

export const statusComponents = ["forms", "certificates", "sharing", "portal", "webhooks", "email"] as const;
export type StatusComponent = (typeof statusComponents)[number];

/** The impacts, from least to most severe. */
export const incidentImpacts = ["maintenance", "degraded", "outage"] as const;
export type IncidentImpact = (typeof incidentImpacts)[number];

export interface IncidentUpdate {
  readonly at: Instant;
  /** The text of the update, which is public. */
  readonly text: string;
}

export interface Incident {
  readonly id: string;
  readonly title: string;
  readonly impact: IncidentImpact;
  readonly components: readonly StatusComponent[];
  readonly startedAt: Instant;
  /** When the incident ended; null while it is open. */
  readonly endedAt: Instant | null;
  /** The updates, oldest first. */
  readonly updates: readonly IncidentUpdate[];
}

export type ComponentStatus = "operational" | IncidentImpact;

/** How long an incident stays on the status page after it has ended. */
export const shownIncidentMs = 90 * dayMs;

/**
 * Returns the status of each component: the most severe impact of the open incidents that affect it, or `operational` if there are none.
 */
export const computeComponentStatuses = (incidents: readonly Incident[]): ReadonlyMap<StatusComponent, ComponentStatus> =>
  new Map(
    statusComponents.map((component) => {
      const impacts = incidents.flatMap(({ endedAt, components, impact }) =>
        endedAt === null && components.includes(component) ? [impact] : [],
      );
      return [component, incidentImpacts.findLast((impact) => impacts.includes(impact)) ?? "operational"];
    }),
  );
