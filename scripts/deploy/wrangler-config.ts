// The wrangler configuration of a deployment: wrangler.toml with the deployment's own names, IDs, hosts and settings.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { deploymentAssetsDir } from "../assets-folders.ts";
import { listFaultsOfGiven } from "../config-faults.ts";
import { keySettings, rotationSettings, type Deployment } from "./config.ts";
import { providerSecrets, type Secrets } from "./secrets.ts";

/** The parts of wrangler.toml that a deployment changes. Everything else is copied. */
interface WranglerConfig {
  readonly main: string;
  readonly alias: Readonly<Record<string, string>>;
  readonly assets: object;
  readonly vars: Readonly<Record<string, string>>;
  readonly d1_databases: readonly { readonly binding: string; readonly database_id: string; readonly migrations_dir: string }[];
  readonly kv_namespaces: readonly { readonly binding: string; readonly id: string }[];
  readonly r2_buckets?: readonly { readonly binding: string }[];
  readonly queues: {
    readonly producers: readonly { readonly binding: string; readonly queue: string }[];
    readonly consumers: readonly { readonly queue: string }[];
  };
  readonly ratelimits: readonly { readonly name: string }[];
}

export const resourceKinds = ["database", "namespace", "bucket", "queue"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** A database, namespace, bucket or queue that the deployment needs. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly binding: string;
  /** Name in the Cloudflare account. */
  readonly name: string;
}

/** Loads wrangler only when this function is called, because loading takes half a second, and a rollback reads no configuration. */
const readBaseConfig = (): WranglerConfig => {
  const wrangler = createRequire(import.meta.url)("wrangler") as typeof import("wrangler");
  return wrangler.experimental_readRawConfig({ config: "wrangler.toml" }).rawConfig as unknown as WranglerConfig;
};

const toResourceName = ({ worker }: Deployment, binding: string): string => `${worker}-${binding.toLowerCase().replaceAll("_", "-")}`;

/** Lists the resources that wrangler.toml binds. The first database is shard 00 and has the Worker's own name. */
export const listNeededResources = (deployment: Deployment): readonly Resource[] => {
  const base = readBaseConfig();
  const toResource =
    (kind: ResourceKind) =>
    ({ binding }: { readonly binding: string }): Resource => ({
      kind,
      binding,
      name: binding === "DB" ? deployment.worker : toResourceName(deployment, binding),
    });
  return [
    ...base.d1_databases.map(toResource("database")),
    ...base.kv_namespaces.map(toResource("namespace")),
    ...(base.r2_buckets ?? []).map(toResource("bucket")),
    ...base.queues.producers.map(toResource("queue")),
  ];
};

const metricsDatasetOf = ({ worker }: Deployment): string => worker.replaceAll("-", "_");

/** Builds the Worker's settings: those of wrangler.toml, overridden by those of the deployment. */
const buildVars = (base: WranglerConfig, deployment: Deployment): Readonly<Record<string, string>> => {
  // These are uploaded as secrets, and a name cannot be both a secret and a setting.
  const uploadedWithKeys: readonly string[] = [...keySettings, ...rotationSettings];
  const defaults = Object.fromEntries(Object.entries(base.vars).filter(([name]) => !uploadedWithKeys.includes(name)));
  return { ...defaults, ...(deployment.hasMetrics && { METRICS_DATASET: metricsDatasetOf(deployment) }), ...deployment.vars };
};

/**
 * Returns the faults that the Worker would find in the deployment's settings and `secrets`. With any fault, the Worker would return 503 on
 * every route. `otherSecrets` are the names of the Worker's secrets that are not on this machine. If it is null, they are unknown, so no
 * missing setting is a fault.
 */
export const listDeploymentFaults = (
  deployment: Deployment,
  secrets: Secrets,
  otherSecrets: readonly string[] | null,
): Promise<readonly string[]> => {
  const settings = { EMAIL: {}, ...buildVars(readBaseConfig(), deployment), ...secrets }; // a stand-in for the binding EMAIL
  const deployed = providerSecrets.filter((name) => otherSecrets?.includes(name));
  return listFaultsOfGiven(settings, otherSecrets, Object.fromEntries(deployed.map((name) => [name, "deployed"])));
};

export const getConfigPath = (folder: string, { environment }: Deployment): string => join(folder, `${environment}.wrangler.json`);

/**
 * Writes the configuration into the folder and returns its path. Each deployment replaces the file. `ids` maps the binding of each database
 * and namespace to its ID, and is empty only in a dry run.
 */
export const writeWranglerConfig = (folder: string, deployment: Deployment, ids: ReadonlyMap<string, string>): string => {
  const base = readBaseConfig();
  const fromFolder = (path: string): string => join(relative(folder, "."), path);
  const nameOf = (binding: string): string => toResourceName(deployment, binding);
  const queueNames = new Map(base.queues.producers.map(({ binding, queue }) => [queue, nameOf(binding)]));
  const config = {
    ...base,
    main: fromFolder(base.main),
    alias: Object.fromEntries(Object.entries(base.alias).map(([name, path]) => [name, fromFolder(path)])),
    assets: { ...base.assets, directory: fromFolder(deploymentAssetsDir) },
    name: deployment.worker,
    vars: buildVars(base, deployment),
    routes: Object.values(deployment.hosts).map((pattern) => ({ pattern, custom_domain: true })),
    d1_databases: base.d1_databases.map((database) => ({
      ...database,
      migrations_dir: fromFolder(database.migrations_dir),
      database_name: database.binding === "DB" ? deployment.worker : nameOf(database.binding),
      database_id: ids.get(database.binding) ?? database.database_id,
    })),
    kv_namespaces: base.kv_namespaces.map((namespace) => ({ ...namespace, id: ids.get(namespace.binding) ?? namespace.id })),
    ...(base.r2_buckets !== undefined && {
      r2_buckets: base.r2_buckets.map((bucket) => ({ ...bucket, bucket_name: nameOf(bucket.binding) })),
    }),
    queues: {
      producers: base.queues.producers.map((producer) => ({ ...producer, queue: nameOf(producer.binding) })),
      consumers: base.queues.consumers.map((consumer) => ({ ...consumer, queue: queueNames.get(consumer.queue) })),
    },
    ratelimits: base.ratelimits.map((limit) => ({ ...limit, namespace_id: deployment.rateLimitNamespace })),
    ...(deployment.hasMetrics && {
      analytics_engine_datasets: [{ binding: "METRICS", dataset: metricsDatasetOf(deployment) }],
    }),
    ...(deployment.mailTransport === "cloudflare" && { send_email: [{ name: "EMAIL" }] }),
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = getConfigPath(folder, deployment);
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`);
  return path;
};
