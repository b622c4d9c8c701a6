// Messages of the operator's page, which exists in English only.
import type { AlertKind } from "../../../../core/alerts.ts";
import type { ShardState } from "../../../../core/shards/placement.ts";
import type { ServiceInspection } from "../../../operations/admin/measure-service.ts";

const figures: Readonly<
  Record<AlertKind, { readonly name: string; readonly unit: "shards" | "minutes" | "percent" | "endpoints" | "emails" }>
> = {
  unavailable_shards: { name: "Unresponsive shards", unit: "shards" },
  overdue_work: { name: "Oldest overdue work", unit: "minutes" },
  anchoring_delay: { name: "Oldest statement waiting for the ledger", unit: "minutes" },
  full_shard: { name: "Fullest shard", unit: "percent" },
  failing_endpoints: { name: "Failing webhook endpoints", unit: "endpoints" },
  failed_mail: { name: "Emails not delivered in the last 24 hours", unit: "emails" },
};

const shardStates: Readonly<Record<ShardState, string>> = { open: "Open", closed: "Closed" };

const work: Readonly<Record<ServiceInspection["stuck"][number]["kind"], string>> = {
  audit: "Changes without an audit entry",
  change_exceptions: "Changes that failed and will be retried",
  anchors: "Statements to send to the ledger",
  parked_anchors: "Statements rejected by the ledger",
  events: "Events not yet in the event feed",
  mail: "Emails to send",
  policies: "Policy pages to save",
  withdrawals: "Withdrawals to finish",
  account_erasures: "Accounts to erase",
  subscription_ends: "Subscriptions to cancel",
};

export const messages = {
  title: "Operator",
  intro: "The current state of this deployment. Times are in UTC.",
  signInTitle: "Sign in as the operator",
  signInAdvice: "Reload this page and enter the operator token as the password. The username can be anything.",
  figuresTitle: "Key metrics",
  figuresNote: "The values that alerts are based on.",
  figure: "Metric",
  value: "Now",
  threshold: "Alert above",
  state: "Status",
  raised: "Alert",
  fine: "OK",
  figures,
  units: { shards: "{n}", minutes: "{n} min", percent: "{n}%", endpoints: "{n}", emails: "{n}" },
  shardsTitle: "Shards",
  shard: "Shard",
  used: "Used",
  size: "Size",
  shardState: "New accounts",
  shardStates,
  unavailable: "Not responding",
  next: "The next account will be created here",
  workTitle: "Overdue work",
  workNote: "Work that has been waiting for 10 minutes or longer.",
  kind: "Kind",
  count: "Count",
  since: "Waiting since",
  noWork: "Nothing is overdue.",
  work,
  endpointsTitle: "Failing webhook endpoints",
  endpointsNote: "Endpoints that are still failing after we alerted their owners. Up to 50 per shard are shown.",
  endpoint: "Endpoint",
  business: "Business",
  failingSince: "Failing since",
  failures: "Failures in a row",
  waiting: "Events waiting",
  unknown: "Unknown",
  noEndpoints: "No endpoint is failing.",
  requestsTitle: "Requests",
  requestsNote: "Requests in the last 24 hours by status and error code. When there are many requests, Cloudflare counts only a sample.",
  requestsUnset: "This deployment can’t read its metrics. Set METRICS_ACCOUNT_ID and METRICS_TOKEN to show requests here.",
  requestsUnread: "We couldn’t read the metrics. Check METRICS_TOKEN, or try again later.",
  noRequests: "No requests.",
  status: "Status",
  code: "Error code",
  requests: "Requests",
};
