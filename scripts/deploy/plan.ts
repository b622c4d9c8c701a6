// Describes what a deployment will do, so that the operator can read it before anything changes.
import type { Deployment } from "./config.ts";
import type { Resource, ResourceKind } from "./wrangler-config.ts";

const kindLabels: Readonly<Record<ResourceKind, string>> = {
  database: "D1 database",
  namespace: "KV namespace",
  bucket: "R2 bucket",
  queue: "queue",
};

/** The state of the account before the deployment. A dry run does not read the account, and passes null. */
export interface AccountState {
  readonly account: string;
  readonly resourceIds: ReadonlyMap<string, string>;
  readonly isWorkerDeployed: boolean;
  readonly isEmailEnabled: boolean | null;
}

export const describeResource = ({ kind, name }: Resource): string => `${kindLabels[kind]} ${name}`;

/** Lists what exists, what will be created and migrated, and the cost of the deployment without traffic. */
export const describePlan = (
  deployment: Deployment,
  needed: readonly Resource[],
  state: AccountState | null,
  hasSecrets: boolean,
): string => {
  const mark = (isThere: boolean | undefined): string => (state === null ? "needed " : isThere === true ? "exists " : "create ");
  const rows = [
    ...needed.map((resource) => [mark(state?.resourceIds.has(resource.binding)), describeResource(resource)]),
    ...needed.filter(({ kind }) => kind === "database").map((database) => ["migrate", describeResource(database)]),
    [hasSecrets ? "exists " : "create ", "keys and tokens"],
    ...(deployment.mailTransport === "cloudflare"
      ? [[mark(state?.isEmailEnabled ?? false), `permission to send email from ${deployment.domain}`]]
      : []),
    [state?.isWorkerDeployed === true ? "update " : mark(false), `Worker ${deployment.worker}`],
    ...Object.values(deployment.hosts).map((host) => [mark(state?.isWorkerDeployed), `host ${host}`]),
  ];
  return [
    `Deployment ${deployment.environment} of ${deployment.domain}${state === null ? "" : ` in the account ${state.account}`}`,
    "",
    ...rows.map(([action, what]) => `  ${action} ${what}`),
    "",
    "Cost without traffic: the Workers Paid plan of the account, 5 USD a month. The minute cron, the databases and the objects of an idle",
    "deployment stay within what the plan includes. docs/operate/deploy.md lists what adds to the cost.",
  ].join("\n");
};
