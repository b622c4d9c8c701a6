// Alerts to the operator: what is measured, the threshold for each alert, and the alert email. Emails to operators are in English.
import { toIso, type Instant } from "./time.ts";

/** The kinds of alerts. docs/operate/alerts/ has a page for each of them. */
export const alertKinds = [
  "unavailable_shards",
  "overdue_work",
  "anchoring_delay",
  "full_shard",
  "failing_endpoints",
  "failed_mail",
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** The current figure for each kind of alert, in the unit of its threshold. */
export type AlertFigures = Readonly<Record<AlertKind, number>>;

export interface AlertDefinition {
  /** The name of the setting that contains the threshold. */
  readonly setting: string;
  /** The threshold to use if the setting is not set. An alert is raised if the figure is above it. */
  readonly defaultThreshold: number;
  readonly title: string;
  /** What the figure measures, such as "shards that are not responding". */
  readonly unit: string;
}

export const alertDefinitions: Readonly<Record<AlertKind, AlertDefinition>> = {
  unavailable_shards: {
    setting: "ALERT_UNAVAILABLE_SHARDS",
    defaultThreshold: 0,
    title: "A database is not responding",
    unit: "shards that are not responding",
  },
  overdue_work: {
    setting: "ALERT_OVERDUE_WORK",
    defaultThreshold: 30,
    title: "Work is overdue",
    unit: "minutes that the oldest overdue work has waited",
  },
  anchoring_delay: {
    setting: "ALERT_ANCHORING_DELAY",
    defaultThreshold: 60,
    title: "Statements are waiting for the ledger",
    unit: "minutes that the oldest statement has waited",
  },
  full_shard: {
    setting: "ALERT_FULL_SHARD",
    defaultThreshold: 70,
    title: "A shard is filling up",
    unit: "percentage of the fullest shard that is in use",
  },
  failing_endpoints: {
    setting: "ALERT_FAILING_ENDPOINTS",
    defaultThreshold: 10,
    title: "Webhook endpoints are failing",
    unit: "endpoints that are still failing after their owners were alerted",
  },
  failed_mail: {
    setting: "ALERT_FAILED_MAIL",
    defaultThreshold: 20,
    title: "Emails were not delivered",
    unit: "emails that were not delivered in the last 24 hours",
  },
};

export type AlertThresholds = AlertFigures;

export interface AlertState {
  readonly kind: AlertKind;
  readonly since: Instant;
  readonly notifiedAt: Instant;
}

export interface AlertNotice {
  readonly kind: AlertKind;
  /** A notice that repeats an active alert is also `raised`. */
  readonly change: "raised" | "ended";
  readonly since: Instant;
}

/**
 * Returns the notices to send now. A notice is sent when an alert starts, again `repeatMs` after each notice, and once when the alert ends.
 * An alert ends when its figure is no longer above the threshold. While a shard is not responding, the figures do not include its data, so
 * only the `unavailable_shards` alert can end.
 */
export const findDueNotices = (
  { figures, thresholds }: { readonly figures: AlertFigures; readonly thresholds: AlertThresholds },
  states: readonly AlertState[],
  now: Instant,
  repeatMs: number,
): readonly AlertNotice[] =>
  alertKinds.flatMap((kind): readonly AlertNotice[] => {
    const state = states.find((known) => known.kind === kind);
    if (figures[kind] <= thresholds[kind]) {
      const isKnown = kind === "unavailable_shards" || figures.unavailable_shards === 0;
      return state === undefined || !isKnown ? [] : [{ kind, change: "ended", since: state.since }];
    }
    if (state !== undefined && state.notifiedAt > now - repeatMs) return [];
    return [{ kind, change: "raised", since: state?.since ?? now }];
  });

/** Returns the path, in the repository, of the page that explains what to do. */
export const getAlertPage = (kind: AlertKind): string => `docs/operate/alerts/${kind.replaceAll("_", "-")}.md`;

/** Builds the email for a notice. It contains no personal data. */
export const formatAlertMail = (
  { kind, change, since }: AlertNotice,
  figure: number,
  threshold: number,
  service: string,
): { readonly subject: string; readonly text: string } => {
  const { title, unit, setting } = alertDefinitions[kind];
  const isOver = change === "ended";
  return {
    subject: `${isOver ? "Ended: " : ""}${title} (${service})`,
    text: [
      isOver ? "Back to normal." : `${title}.`,
      "",
      `${unit.charAt(0).toUpperCase()}${unit.slice(1)}: ${figure}. The threshold is ${threshold} (${setting}).`,
      `Since ${toIso(since)}.`,
      "",
      isOver ? "You don’t need to do anything." : `What to do: ${getAlertPage(kind)}`,
      "",
      "You’re receiving this because ALERT_EMAIL in your deployment has your address.",
    ].join("\n"),
  };
};
