// The service's status as the public page shows it: its components, and the incidents that the operator records.
import { dayMs, type Instant } from "./time.ts";

export const statusComponents = ["forms", "certificates", "sharing", "portal", "webhooks", "email"] as const;
export type StatusComponent = (typeof statusComponents)[number];

/** Ordered by severity. The last one takes precedence. */
export const incidentImpacts = ["maintenance", "degraded", "outage"] as const;
export type IncidentImpact = (typeof incidentImpacts)[number];

export interface IncidentUpdate {
  readonly at: Instant;
  /** Written by the operator, for everyone to read. */
  readonly text: string;
}

export interface Incident {
  readonly id: string;
  readonly title: string;
  readonly impact: IncidentImpact;
  readonly components: readonly StatusComponent[];
  readonly startedAt: Instant;
  /** Null while the incident is open. */
  readonly endedAt: Instant | null;
  /** Oldest first. */
  readonly updates: readonly IncidentUpdate[];
}

export type ComponentStatus = "operational" | IncidentImpact;

/** How long an incident that has ended stays on the page. */
export const shownIncidentMs = 90 * dayMs;

/** Returns the status of each component: the greatest impact of the open incidents that affect it. */
export const computeComponentStatuses = (incidents: readonly Incident[]): ReadonlyMap<StatusComponent, ComponentStatus> =>
  new Map(
    statusComponents.map((component) => {
      const impacts = incidents.flatMap(({ endedAt, components, impact }) =>
        endedAt === null && components.includes(component) ? [impact] : [],
      );
      return [component, incidentImpacts.findLast((impact) => impacts.includes(impact)) ?? "operational"];
    }),
  );
