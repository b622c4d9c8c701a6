// Checks that the hosts of a deployment are free. Without a terminal, wrangler replaces existing DNS records and the domains of other
// Workers without asking, so this check runs before wrangler.
import { Resolver } from "node:dns/promises";
import { existsSync, readFileSync } from "node:fs";
import { DeploymentError, type Deployment } from "./config.ts";
import { getConfigPath } from "./wrangler-config.ts";

/** Returns the records of a host. Rejects with `ENOTFOUND` or `ENODATA` if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

const lookupTimeoutMs = 3_000;

const resolveHost: ResolveHost = async (host) => {
  const resolver = new Resolver({ timeout: lookupTimeoutMs, tries: 2 });
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  if (ipv6.status === "fulfilled") return ipv6.value;
  if (ipv4.status === "rejected") throw ipv4.reason;
  return ipv4.value;
};

const hasRecords = async (host: string, resolve: ResolveHost): Promise<boolean> => {
  try {
    return (await resolve(host)).length > 0;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTFOUND" || code === "ENODATA") return false;
    throw new DeploymentError([`Could not look up ${host} (${code ?? "no code"}). Check the network, or use --replace-hosts.`]);
  }
};

/** Returns the hosts of this deployment's last configuration on this machine; null if there is none. */
const readPreviousHosts = (folder: string, deployment: Deployment): ReadonlySet<string> | null => {
  const path = getConfigPath(folder, deployment);
  if (!existsSync(path)) return null;
  const { routes = [] } = JSON.parse(readFileSync(path, "utf8")) as { readonly routes?: readonly { readonly pattern: string }[] };
  return new Set(routes.map(({ pattern }) => pattern));
};

/**
 * Throws a DeploymentError if DNS has a record for a host that this deployment does not use yet. Skips the check if the Worker is deployed
 * but this machine has no configuration for it, as in a continuous integration job.
 */
export const assertHostsFree = async (
  folder: string,
  deployment: Deployment,
  isWorkerDeployed: boolean,
  resolve: ResolveHost = resolveHost,
): Promise<void> => {
  // If no Worker is deployed, ignore a saved configuration. It comes from a failed deployment, or from a dry run of an earlier version.
  const previous = isWorkerDeployed ? readPreviousHosts(folder, deployment) : new Set<string>();
  if (previous === null) return;
  const taken: string[] = [];
  for (const host of Object.values(deployment.hosts)) if (!previous.has(host) && (await hasRecords(host, resolve))) taken.push(host);
  if (taken.length > 0)
    throw new DeploymentError([
      `DNS already has records for ${taken.join(", ")}. Choose other hosts in svc.config.ts.`,
      "To replace the records, and any other Worker on these hosts, use --replace-hosts.",
    ]);
};
