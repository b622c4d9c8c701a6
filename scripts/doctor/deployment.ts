// Checks a deployment: its options, its secrets on this machine, and what the running service reports.
import { DeploymentError, resolveDeployment, type Deployment, type Deployments } from "../deploy/config.ts";
import { findMissingSecrets, getSecretsPath, readSecrets, type Secrets } from "../deploy/secrets.ts";
import { listDeploymentFaults, listNeededResources } from "../deploy/wrangler-config.ts";
import { failure, passed, warning, type Finding } from "./finding.ts";

const fullShardRatio = 0.7; // a shard that is at least this full should be closed to new accounts, so warn about it
const requestTimeoutMs = 10_000;

/**
 * Checks the deployment's configuration in svc.config.ts, with the command-line options applied. The deployment is null if it is missing or
 * invalid.
 */
export const checkOptions = (
  deployments: Deployments,
  environment: string,
  domain: string | undefined,
): { readonly deployment: Deployment | null; readonly findings: readonly Finding[] } => {
  try {
    const deployment = resolveDeployment(deployments, environment, { domain });
    return {
      deployment,
      findings: [
        passed(`svc.config.ts, ${environment}: ${deployment.domain} with the Worker ${deployment.worker}.`),
        ...(deployment.vars.ALERT_EMAIL === undefined
          ? [warning(`svc.config.ts, ${environment}: alerts are not sent to anyone.`, "Set alerts: docs/operate/alerts.md.")]
          : [passed(`Alerts are sent to ${deployment.vars.ALERT_EMAIL}.`)]),
        passed(
          listNeededResources(deployment).some(({ binding }) => binding === "LOG_TILES")
            ? "Full tiles of the logs are stored in R2."
            : "Without the R2 bucket LOG_TILES, the logs' objects keep all tiles.",
        ),
        passed(deployment.hasMetrics ? "Metrics are written to Workers Analytics Engine." : "Metrics are only logged."),
        passed(deployment.vars.OTLP_TRACES_URL === undefined ? "Traces are not recorded." : "Traces are sent to OTLP_TRACES_URL."),
      ],
    };
  } catch (error) {
    if (!(error instanceof DeploymentError)) throw error;
    const isUnset = deployments[environment] !== undefined && domain === undefined && deployments[environment]?.domain === undefined;
    return {
      deployment: null,
      findings: isUnset
        ? [passed(`svc.config.ts, ${environment}: no domain yet. It is needed only to deploy.`)]
        : error.message.split("\n").map((line) => failure(line, "Correct svc.config.ts, or the options of this command.")),
    };
  }
};

/** Checks the local secrets file: permissions and completeness. Values are never shown. */
export const checkSecrets = (
  folder: string,
  deployment: Deployment,
): { readonly secrets: Secrets | null; readonly findings: readonly Finding[] } => {
  const path = getSecretsPath(folder, deployment);
  try {
    const secrets = readSecrets(path);
    if (secrets === null)
      return {
        secrets,
        findings: [warning(`${path} is not on this machine.`, "Restore it from your backup, unless you have not deployed yet.")],
      };
    const missing = findMissingSecrets(deployment, Object.keys(secrets));
    return {
      secrets,
      findings:
        missing.length === 0
          ? [passed(`${path} has every secret, and only you can read it.`)]
          : [failure(`${path} lacks ${missing.join(", ")}.`, "Restore the file from your backup.")],
    };
  } catch (error) {
    return { secrets: null, findings: [failure((error as Error).message, "Then run this command again.")] };
  }
};

/** Checks the deployment's settings, and its secrets on this machine, as the Worker does. */
export const checkSettings = async (deployment: Deployment, secrets: Secrets | null): Promise<Finding> => {
  const faults = await listDeploymentFaults(deployment, secrets ?? {}, null);
  if (faults.length > 0)
    return failure(`Settings or secrets are invalid: ${faults.join(", ")}.`, "Correct them: docs/reference/settings.md.");
  const reported = findMissingSecrets(deployment, Object.keys(secrets ?? {}));
  const missing = secrets === null ? [] : await listDeploymentFaults(deployment, secrets, reported);
  return missing.length === 0
    ? passed("The settings are valid.")
    : warning(
        `Other settings need ${missing.join(", ")}, which neither svc.config.ts nor the secrets file contains.`,
        "Add them, unless the Worker already has them as secrets: docs/reference/settings.md.",
      );
};

interface Shard {
  readonly shard: string;
  readonly bytes: number;
  readonly max_bytes: number;
  readonly available: boolean;
}
interface WorkReport {
  readonly stuck: readonly { readonly kind: string; readonly count: number; readonly shard: string; readonly since: string }[];
  readonly shards: readonly Shard[];
  readonly failing_endpoints: readonly object[];
}

const describeShard = ({ shard, bytes, max_bytes: maxBytes, available: isAvailable }: Shard): Finding => {
  if (!isAvailable) return failure(`The database of shard ${shard} is not responding.`, "See docs/operate/alerts/unavailable-shards.md.");
  const percent = Math.round((bytes / maxBytes) * 100);
  return bytes / maxBytes < fullShardRatio
    ? passed(`Shard ${shard} is ${percent}% full.`)
    : warning(`Shard ${shard} is ${percent}% full.`, "Add a shard: docs/operate/deploy.md.");
};

/**
 * Checks what the running service reports about itself. `origin` replaces the public host of the API. Without the operator token, checks
 * only the service's health.
 */
export const checkService = async (
  deployment: Deployment,
  adminToken: string | undefined,
  origin: string | null,
): Promise<readonly Finding[]> => {
  const api = `${origin ?? `https://${deployment.hosts.api}`}/v1`;
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response | null> =>
    fetch(`${api}${path}`, { headers, signal: AbortSignal.timeout(requestTimeoutMs) }).catch(() => null);
  const health = await get("/health");
  if (health === null) return [warning(`${api} is not responding.`, "Run npm run deploy, or check the DNS records of the host.")];
  if (health.status !== 200)
    return [failure(`${api}/health returned ${health.status}.`, "Read the newest log lines with npx wrangler tail, then npm run deploy.")];
  if (adminToken === undefined) return [passed(`${api} is healthy.`)];
  const response = await get("/admin/stuck", { authorization: `Bearer ${adminToken}` });
  if (response?.status !== 200)
    return [
      passed(`${api} is healthy.`),
      response?.status === 401 || response?.status === 404
        ? failure("The service does not accept the operator token.", "Deploy again, so that the service gets the token's hash.")
        : failure(
            `${api}/admin/stuck ${response === null ? "is not responding" : `returned ${response.status}`}.`,
            "Read the newest log lines with npx wrangler tail.",
          ),
    ];
  const { stuck, shards, failing_endpoints: failing } = ((await response.json()) as { readonly data: WorkReport }).data;
  return [
    passed(`${api} is healthy.`),
    ...shards.map(describeShard),
    ...stuck.map(({ kind, count, shard, since }) =>
      failure(
        `Shard ${shard} has ${count} overdue ${kind} tasks, the oldest since ${since}.`,
        "docs/operate/admin-commands.md explains them.",
      ),
    ),
    ...(stuck.length === 0 ? [passed("No work is overdue.")] : []),
    ...(failing.length === 0
      ? [passed("No webhook endpoint is failing.")]
      : [warning(`${failing.length} webhook endpoints are failing.`, "Run npm run admin -- stuck to list them.")]),
  ];
};
