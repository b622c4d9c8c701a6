// Reads which resources and secrets the Cloudflare account has, and creates missing resources.
import { CloudflareError, connectToCloudflare, notSignedIn, type CloudflareClient } from "./cloudflare.ts";
import { DeploymentError, type Deployment } from "./config.ts";
import type { Resource, ResourceKind } from "./wrangler-config.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly cloudflare: CloudflareClient;
}

interface AccountName {
  readonly id: string;
  readonly name: string;
}

const hiddenMembershipsCodes = [9_106, 10_000]; // returned if an API token may not read memberships

/** Returns the accounts that the user is a member of, as wrangler does. If the memberships cannot be read, returns all accounts. */
const filterOwnAccounts = async (cloudflare: CloudflareClient, accounts: readonly AccountName[]): Promise<readonly AccountName[]> => {
  const memberships = await cloudflare.list<{ readonly account: AccountName }>("/memberships").catch((error: unknown) => {
    if (error instanceof CloudflareError && error.codes.some((code) => hiddenMembershipsCodes.includes(code))) return null;
    throw error;
  });
  return memberships === null ? accounts : accounts.filter(({ id }) => memberships.some(({ account }) => account.id === id));
};

/**
 * Returns the account that CLOUDFLARE_ACCOUNT_ID selects, or the only account that the user is a member of. Throws a DeploymentError if
 * there is no such account, or if there are no valid credentials.
 */
export const getAccount = async (): Promise<Account> => {
  const cloudflare = await connectToCloudflare();
  const accounts = await cloudflare.list<AccountName>("/accounts").catch((error: unknown) => {
    throw error instanceof CloudflareError && [400, 401, 403].includes(error.status) ? notSignedIn : error;
  });
  if (accounts.length === 0) throw new DeploymentError(["The Cloudflare credentials give access to no account. Check their permissions."]);
  const chosen = process.env.CLOUDFLARE_ACCOUNT_ID || process.env.CF_ACCOUNT_ID || "";
  const findOwn = () => (accounts.length === 1 ? accounts : filterOwnAccounts(cloudflare, accounts));
  const candidates = chosen === "" ? await findOwn() : accounts.filter(({ id }) => id === chosen);
  const [account] = candidates;
  if (account === undefined || candidates.length > 1) {
    const listed = candidates.length === 0 ? accounts : candidates;
    throw new DeploymentError([
      `Set CLOUDFLARE_ACCOUNT_ID to the account to use: ${listed.map(({ id, name }) => `${id} (${name})`).join(", ")}.`,
    ]);
  }
  return { id: account.id, name: account.name, cloudflare };
};

// Cloudflare's error codes for a bucket and a Worker that do not exist. The status 404 is not enough, because a wrong base URL also returns
// it.
const missingCodes = [10_006, 10_007, 10_090];

/** Returns null if the API responds that the bucket or Worker does not exist. */
const nullIfMissing = <T>(found: Promise<T>): Promise<T | null> =>
  found.catch((error: unknown) => {
    if (error instanceof CloudflareError && error.codes.some((code) => missingCodes.includes(code))) return null;
    throw error;
  });

/** The API calls for one kind of resource. Buckets have no ID, and the ID of a queue is not needed, so their names are used instead. */
interface ResourceApi {
  /** Returns the IDs of existing resources by name. The map contains at least every existing resource in `names`. */
  readonly find: (names: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns the ID of the new resource. */
  readonly create: (name: string) => Promise<string>;
}

const createResourceApis = ({ id, cloudflare }: Account): Readonly<Record<ResourceKind, ResourceApi>> => {
  const { get, list, post } = cloudflare;
  const databases = `/accounts/${id}/d1/database`;
  const namespaces = `/accounts/${id}/storage/kv/namespaces`;
  const buckets = `/accounts/${id}/r2/buckets`;
  const queues = `/accounts/${id}/queues`;
  return {
    database: {
      find: async () => new Map((await list<{ uuid: string; name: string }>(databases)).map(({ uuid, name }) => [name, uuid])),
      create: async (name) => (await post<{ uuid: string }>(databases, { name })).uuid,
    },
    namespace: {
      find: async () =>
        new Map((await list<{ id: string; title: string }>(namespaces)).map((namespace) => [namespace.title, namespace.id])),
      create: async (title) => (await post<{ id: string }>(namespaces, { title })).id,
    },
    bucket: {
      find: async (names) => {
        const found = await Promise.all(names.map((name) => nullIfMissing(get<{ name: string }>(`${buckets}/${name}`))));
        return new Map(found.flatMap((bucket) => (bucket === null ? [] : [[bucket.name, bucket.name]])));
      },
      create: async (name) => {
        await post(buckets, { name });
        return name;
      },
    },
    queue: {
      find: async (names) => {
        const found = await Promise.all(names.map((name) => get<readonly { queue_name: string }[]>(`${queues}?page=1&name=${name}`)));
        return new Map(found.flat().map(({ queue_name: name }) => [name, name]));
      },
      create: async (name) => {
        await post(queues, { queue_name: name });
        return name;
      },
    },
  };
};

type ResourceIds = ReadonlyMap<string, string>;

/** Returns the IDs of the needed resources that exist, by binding. */
export const findResources = async (account: Account, needed: readonly Resource[]): Promise<ResourceIds> => {
  const apis = createResourceApis(account);
  const findOfKind = async (kind: ResourceKind): Promise<readonly (readonly [binding: string, id: string])[]> => {
    const ofKind = needed.filter((resource) => resource.kind === kind);
    const ids = await apis[kind].find(ofKind.map(({ name }) => name));
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
  account: Account,
  needed: readonly Resource[],
  existing: ResourceIds,
  report: (resource: Resource) => void,
): Promise<ResourceIds> => {
  const apis = createResourceApis(account);
  const ids = new Map(existing);
  for (const resource of needed.filter(({ binding }) => !existing.has(binding))) {
    ids.set(resource.binding, await apis[resource.kind].create(resource.name));
    report(resource);
  }
  return ids;
};

/** Returns the names of the deployed Worker's secrets; null if there is no Worker yet. */
export const listDeployedSecrets = async ({ id, cloudflare }: Account, { worker }: Deployment): Promise<readonly string[] | null> => {
  const secrets = await nullIfMissing(cloudflare.get<readonly { name: string }[]>(`/accounts/${id}/workers/scripts/${worker}/secrets`));
  return secrets?.map(({ name }) => name) ?? null;
};

/**
 * Returns the API path of the email settings. The domain may be a subdomain of a zone. Throws a DeploymentError if the account has no zone
 * for it.
 */
const getSendingPath = async ({ id, cloudflare }: Account, domain: string): Promise<string> => {
  const labels = domain.split(".");
  for (let index = 0; index < labels.length - 1; index += 1) {
    const query = new URLSearchParams({ name: labels.slice(index).join("."), "account.id": id });
    const [zone] = await cloudflare.get<readonly { id: string }[]>(`/zones?${query}`);
    if (zone !== undefined) return `/zones/${zone.id}/email/sending/subdomains`;
  }
  throw new DeploymentError([`The account has no zone for ${domain}. Add the domain to your Cloudflare account.`]);
};

/** Returns whether Cloudflare's Email Service may send from the domain. */
export const isEmailEnabled = async (account: Account, domain: string): Promise<boolean> => {
  const subdomains = await account.cloudflare.get<readonly { name: string; enabled: boolean }[]>(await getSendingPath(account, domain));
  return subdomains.some(({ name, enabled }) => name === domain && enabled);
};

export const enableEmail = async (account: Account, domain: string): Promise<void> => {
  await account.cloudflare.post(await getSendingPath(account, domain), { name: domain });
};
