// The demo's businesses, clients, keys and people. Their IDs and keys are derived from a development secret of this machine. The databases
// store only hashes of the keys, so `npm run demo` derives the keys again.
import { toStoredIndex } from "../core/access/address-index.ts";
import { defaultLinkKeys, parseLinkKeys } from "../core/access/link-keys.ts";
import { environments, type BusinessStatus, type Environment, type Plan } from "../core/access/entitlement.ts";
import type { VerificationMethod } from "../core/access/origins.ts";
import { recheckIntervalMs } from "../core/accounts/domain-claim.ts";
import { fromBase64 } from "../core/bytes.ts";
import { normalizeEmailAddress } from "../core/email-address.ts";
import { hmacSha256, sha256Hex } from "../core/hash.ts";
import { firstShard, generateId, generateSecret, type ShardId, type RandomBytes } from "../core/ids.ts";
import { consumerEmailContext, memberEmailContext } from "../storage/people-contexts.ts";
import { openVault, type Vault } from "../storage/vault.ts";
import type { D1Like, D1Statement } from "./local-databases.ts";

interface DemoDomain {
  readonly domain: string;
  readonly status: "pending" | "verified" | "lapsed";
  readonly method: VerificationMethod | null;
}

export interface DemoBusiness {
  readonly id: string;
  readonly name: string;
  readonly status: BusinessStatus;
  readonly plan: Plan;
  readonly chain: string;
  readonly domains: readonly DemoDomain[];
  readonly clients: Readonly<Record<Environment, string>>;
  readonly keys: Readonly<Record<Environment, string>>;
}

export interface DemoWorld {
  readonly acme: DemoBusiness;
  readonly other: DemoBusiness;
  readonly examples: Readonly<Record<"free" | "past_due" | "suspended" | "closed", DemoBusiness>>;
  readonly ownerEmail: string;
  readonly memberEmail: string;
  readonly consumerEmail: string;
  readonly otherOwnerEmail: string;
}

const verifiedDomain = (domain: string, method: VerificationMethod): DemoDomain => ({ domain, status: "verified", method });

/** Derives the demo data from a base64 development secret. The same secret and shard always give the same data. */
export const createDemoWorld = (secret: string, shard: ShardId = firstShard): DemoWorld => {
  const key = fromBase64(secret);
  if (key === null) throw new Error("demo: the development secret is not base64");
  const derived =
    (label: string): RandomBytes =>
    (count) =>
      hmacSha256(key, `svc demo ${shard} ${label}`).subarray(0, count);
  const business = (label: string, name: string, status: BusinessStatus, plan: Plan, domains: readonly DemoDomain[]): DemoBusiness => ({
    id: generateId("biz_", shard, derived(`${label} business`)),
    name,
    status,
    plan,
    chain: sha256Hex(derived(`${label} chain`)(32)).slice(0, 32),
    domains,
    clients: {
      live: generateId("pc_live_", shard, derived(`${label} live client`)),
      sandbox: generateId("pc_test_", shard, derived(`${label} sandbox client`)),
    },
    keys: {
      live: generateSecret("sk_live_", shard, derived(`${label} live key`)),
      sandbox: generateSecret("sk_test_", shard, derived(`${label} test key`)),
    },
  });
  const exampleDomain = [verifiedDomain("example.com", "dns")];
  return {
    acme: business("acme", "Acme Solar LLC", "active", "enterprise", [
      verifiedDomain("acme-solar.example", "dns"),
      verifiedDomain("example.com", "dns"),
      verifiedDomain("demo.example", "meta"),
      { domain: "pending.example", status: "pending", method: null },
      { domain: "lapsed.example", status: "lapsed", method: "dns" },
      verifiedDomain("localhost", "meta"), // the hosts of the demo website
      verifiedDomain("127.0.0.1", "meta"),
    ]),
    other: business("other", "Bright Homes Inc", "active", "enterprise", [verifiedDomain("other.example", "dns")]),
    examples: {
      free: business("free", "Free Example Co", "active", "free", exampleDomain),
      past_due: business("past_due", "Past Due Example Co", "past_due", "enterprise", exampleDomain),
      suspended: business("suspended", "Suspended Example Co", "suspended", "enterprise", exampleDomain),
      closed: business("closed", "Closed Example Co", "closed", "enterprise", exampleDomain),
    },
    ownerEmail: "owner@acme-solar.example",
    memberEmail: "member@acme-solar.example",
    consumerEmail: "pat@example.com",
    otherOwnerEmail: "owner@bright-homes.example",
  };
};

/** Returns the demo credentials under the names that `npm run demo -- --json` and the landing page show. */
export const getDemoCredentials = ({ acme, ownerEmail }: DemoWorld) => ({
  client_id: acme.clients.live,
  sandbox_client_id: acme.clients.sandbox,
  api_key: acme.keys.live,
  test_api_key: acme.keys.sandbox,
  business_id: acme.id,
  business_name: acme.name,
  owner_email: ownerEmail,
});

/** Returns the time of a domain's last weekly check. A domain lapses at the third check that does not find its verification record. */
const getLastCheck = (status: DemoDomain["status"], createdAt: number, now: number): number | null => {
  if (status === "pending") return null;
  const checks = Math.floor((now - createdAt) / recheckIntervalMs);
  return createdAt + (status === "lapsed" ? Math.min(checks, 3) : checks) * recheckIntervalMs;
};

const buildSeedRows = (db: D1Like, business: DemoBusiness, createdAt: number, now: number): D1Statement[] => [
  db
    .prepare(
      `INSERT OR IGNORE INTO businesses (id, name, legal_name, status, plan, mailing_address, contact_email, audit_chain, created_at)
       VALUES (?, ?, ?, ?, ?, '1 Demo Street, Testville, CA 94000, US', 'privacy@example.com', ?, ?)`,
    )
    .bind(business.id, business.name, business.name, business.status, business.plan, business.chain, createdAt),
  ...business.domains.map(({ domain, status, method }, at) =>
    db
      .prepare(
        "INSERT OR IGNORE INTO domains (id, business_id, domain, status, method, token, verified_at, checked_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      )
      .bind(
        `dom_${sha256Hex(`${business.id} ${domain}`).slice(0, 26)}`,
        business.id,
        domain,
        status,
        method,
        status === "verified" ? null : sha256Hex(`${business.id} ${domain} token`).slice(0, 40),
        status === "verified" ? createdAt : null,
        getLastCheck(status, createdAt, now),
        createdAt - at, // decreasing, because lists show the newest domain first
      ),
  ),
  ...environments.flatMap((environment) => {
    const key = business.keys[environment];
    return [
      db
        .prepare("INSERT OR IGNORE INTO clients (id, business_id, environment, name, created_at) VALUES (?, ?, ?, 'Demo', ?)")
        .bind(business.clients[environment], business.id, environment, createdAt),
      db
        .prepare(
          "INSERT OR IGNORE INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, ?, ?, 'Demo', ?, ?)",
        )
        .bind(`key_${sha256Hex(key).slice(0, 26)}`, business.id, environment, sha256Hex(key), key.slice(-4), createdAt),
    ];
  }),
];

const listBusinesses = (world: DemoWorld): readonly DemoBusiness[] => [world.acme, world.other, ...Object.values(world.examples)];

/** Inserts the demo businesses, created at `createdAt`. Existing rows stay unchanged. */
export const seedDemo = async (db: D1Like, world: DemoWorld, createdAt: number, now = createdAt): Promise<void> => {
  await db.batch(listBusinesses(world).flatMap((business) => buildSeedRows(db, business, createdAt, now)));
};

/** Opens the vault with the keys in the settings, to seed encrypted rows. */
export const openVaultFromVars = (vars: Readonly<Record<string, unknown>>): Promise<Vault> => {
  const decodeKey = (text: string): Uint8Array<ArrayBuffer> => fromBase64(text) ?? new Uint8Array();
  const masterKeys = String(vars.MASTER_KEYS)
    .split(",")
    .map((part) => [part.slice(0, part.indexOf(":")), decodeKey(part.slice(part.indexOf(":") + 1))] as const);
  const { INDEX_ENCRYPTION_KEYS: text } = vars;
  const indexEncryptionKeys = typeof text === "string" && text !== "" ? parseLinkKeys(text) : defaultLinkKeys;
  if (indexEncryptionKeys === null) throw new Error("INDEX_ENCRYPTION_KEYS is not a list of keys.");
  return openVault({ masterKeys: new Map(masterKeys), indexKey: decodeKey(String(vars.INDEX_KEY)), indexEncryptionKeys });
};

/** Inserts the demo's members and consumer, with encrypted email addresses. Existing rows stay unchanged. */
export const seedPeople = async (db: D1Like, vault: Vault, world: DemoWorld, now: number): Promise<void> => {
  const computeIndex = async (email: string): Promise<string> =>
    toStoredIndex(await vault.blindIndex("email", normalizeEmailAddress(email) as string));
  const member = async (business: DemoBusiness, email: string, role: "owner" | "member"): Promise<D1Statement> => {
    const id = `mem_${business.id.slice(4, 6)}${sha256Hex(`${business.id} ${email}`).slice(0, 24)}`;
    return db
      .prepare("INSERT OR IGNORE INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, ?, ?)")
      .bind(id, business.id, await vault.seal(memberEmailContext(id, business.id), email), await computeIndex(email), role, now);
  };
  const consumerId = `con_${world.acme.id.slice(4, 6)}${sha256Hex(`${world.acme.id} ${world.consumerEmail}`).slice(0, 24)}`;
  await db.batch([
    await member(world.acme, world.ownerEmail, "owner"),
    await member(world.acme, world.memberEmail, "member"),
    await member(world.other, world.otherOwnerEmail, "owner"),
    ...(await Promise.all(Object.entries(world.examples).map(([name, business]) => member(business, getExampleOwnerEmail(name), "owner")))),
    db
      .prepare("INSERT OR IGNORE INTO consumers (id, email_sealed, email_index, audit_chain, created_at) VALUES (?, ?, ?, ?, ?)")
      .bind(
        consumerId,
        await vault.seal(consumerEmailContext(consumerId), world.consumerEmail),
        await computeIndex(world.consumerEmail),
        sha256Hex(`${consumerId} chain`).slice(0, 32),
        now,
      ),
  ]);
};

/** Returns an owner's email address, for example `owner@past-due.example` for the example business named `past_due`. */
export const getExampleOwnerEmail = (name: string): string => `owner@${name.replaceAll("_", "-")}.example`;
