// Reads which Cloudflare account wrangler uses, and which resources and secrets the account has. Creates missing resources.
import { DeploymentError, type Deployment } from "./config.ts";
import { readFromWrangler, runWrangler, WranglerError } from "./wrangler.ts";
import type { Resource, ResourceKind } from "./wrangler-config.ts";

interface Identity {
  readonly loggedIn: boolean;
  readonly accounts?: readonly Account[];
}

/** The account that the deployment uses. */
interface Account {
  readonly id: string;
  readonly name: string;
}

/**
 * Returns the account. Throws a DeploymentError if wrangler is not signed in, or if it can access several accounts and
 * CLOUDFLARE_ACCOUNT_ID does not select one.
 */
export const getAccount = async (): Promise<Account> => {
  const { loggedIn, accounts = [] } = (await readFromWrangler("whoami", "--json").catch((error: unknown) => {
    if (error instanceof WranglerError) return { loggedIn: false };
    throw error;
  })) as Identity;
  if (!loggedIn) throw new DeploymentError(["You are not signed in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN."]);
  const chosen = process.env.CLOUDFLARE_ACCOUNT_ID ?? "";
  const candidates = chosen === "" ? accounts : accounts.filter(({ id }) => id === chosen);
  const [account] = candidates;
  if (account === undefined || candidates.length > 1)
    throw new DeploymentError([
      `Set CLOUDFLARE_ACCOUNT_ID to the account to use: ${accounts.map(({ id, name }) => `${id} (${name})`).join(", ")}.`,
    ]);
  return account;
};

/** Returns whether wrangler failed because the bucket, queue or Worker does not exist. */
const isMissing = (error: unknown): boolean =>
  error instanceof WranglerError && /does not exist|Worker "[^"]+" not found/i.test(error.output);

type ResourceIds = ReadonlyMap<string, string>;

/** Lists the IDs of the account's resources of a kind, by name. Buckets and queues have no ID, so their name is used. */
const listResources: Readonly<Record<ResourceKind, (names: readonly string[]) => Promise<ResourceIds>>> = {
  database: async () => {
    const databases = (await readFromWrangler("d1", "list", "--json")) as readonly { uuid: string; name: string }[];
    return new Map(databases.map(({ uuid, name }) => [name, uuid]));
  },
  namespace: async () => {
    const namespaces = (await readFromWrangler("kv", "namespace", "list")) as readonly { id: string; title: string }[];
    return new Map(namespaces.map(({ id, title }) => [title, id]));
  },
  // Does not use `r2 bucket info`, which also reads metrics and would therefore require a token with an additional permission.
  bucket: (names) => findByName(names, (name) => runWrangler("r2", "bucket", "lifecycle", "list", name)),
  queue: (names) => findByName(names, (name) => runWrangler("queues", "info", name)),
};

/** Returns the names for which `find` succeeds. Rejects if it fails for a reason other than a missing resource. */
const findByName = async (names: readonly string[], find: (name: string) => Promise<unknown>): Promise<ResourceIds> => {
  const exists = (name: string): Promise<boolean> =>
    find(name).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );
  const found = await Promise.all(names.map(async (name) => [name, await exists(name)] as const));
  return new Map(found.flatMap(([name, isFound]) => (isFound ? [[name, name]] : [])));
};

const createResource: Readonly<Record<ResourceKind, (name: string) => Promise<unknown>>> = {
  database: (name) => runWrangler("d1", "create", name),
  namespace: (name) => runWrangler("kv", "namespace", "create", name),
  bucket: (name) => runWrangler("r2", "bucket", "create", name),
  queue: (name) => runWrangler("queues", "create", name),
};

/** Returns the IDs of the needed resources that exist, by binding. */
export const findResources = async (needed: readonly Resource[]): Promise<ResourceIds> => {
  const findOfKind = async (kind: ResourceKind): Promise<readonly (readonly [binding: string, id: string])[]> => {
    const ofKind = needed.filter((resource) => resource.kind === kind);
    const ids = await listResources[kind](ofKind.map(({ name }) => name));
    return ofKind.flatMap(({ binding, name }) => {
      const id = ids.get(name);
      return id === undefined ? [] : [[binding, id] as const];
    });
  };
  const kinds = [...new Set(needed.map(({ kind }) => kind))];
  return new Map((await Promise.all(kinds.map(findOfKind))).flat());
};

/** Creates the missing resources one at a time, and returns the IDs of all needed resources by binding. */
export const createMissingResources = async (
  needed: readonly Resource[],
  existing: ResourceIds,
  report: (resource: Resource) => void,
): Promise<ResourceIds> => {
  const missing = needed.filter(({ binding }) => !existing.has(binding));
  for (const resource of missing) {
    await createResource[resource.kind](resource.name);
    report(resource);
  }
  const isNamed = ({ kind }: Resource): boolean => kind === "bucket" || kind === "queue";
  const named = missing.filter(isNamed).map(({ binding, name }) => [binding, name] as const);
  return new Map([...existing, ...named, ...(await findResources(missing.filter((resource) => !isNamed(resource))))]);
};

/** Returns the names of the deployed Worker's secrets; null if there is no Worker yet. */
export const listDeployedSecrets = async ({ worker }: Deployment): Promise<readonly string[] | null> => {
  try {
    const secrets = (await readFromWrangler("secret", "list", "--name", worker)) as readonly { name: string }[];
    return secrets.map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

/** Returns whether Cloudflare's Email Service may send from the domain. */
export const isEmailEnabled = async (domain: string): Promise<boolean> =>
  (await runWrangler("email", "sending", "list", domain)).split("\n").some((line) => line.includes(domain) && /\byes\b/.test(line));

export const enableEmail = (domain: string): Promise<string> => runWrangler("email", "sending", "enable", domain);
