// The bindings and settings of a deployment, read once and checked once: a deployment that is not fit to run answers 503
// on every route instead of running half configured, and says in its log everything that is missing at once.
import { bytesOfBase64, bytesOfBase64Url, hexOf } from "../core/bytes.ts";
import type { TextModels } from "../core/integration/text-models.ts";
import type { DayLimits } from "../core/access/window.ts";
import { purchasablePlans, type PurchasablePlan } from "../core/billing/plans.ts";
import { isRandomKey } from "../core/randomness.ts";
import { isMailbox } from "../core/mailbox.ts";
import type { Bytes } from "../core/hash.ts";
import { always, isIsoTime, windowedKey, type WindowedKey } from "../core/ledger/key-window.ts";
import { parseSkey } from "../core/ledger/note.ts";
import { readProofSettings, type ProofSettings } from "../core/ledger/settings.ts";
import type { AuditLog } from "../durable-objects/audit-log/object.ts";
import type { BusinessLog } from "../durable-objects/business-log/object.ts";
import type { EndpointLane } from "../durable-objects/endpoint-lane/object.ts";
import type { LedgerLog } from "../durable-objects/ledger-log/object.ts";
import type { RateLimiter } from "../durable-objects/rate-limiter/object.ts";
import { readDayLimits, readLimits, type Limits } from "./limits.ts";

export interface Env {
  readonly DB: D1Database;
  readonly KV: KVNamespace;
  readonly RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
  readonly AUDIT_LOG: DurableObjectNamespace<AuditLog>;
  readonly BUSINESS_LOG: DurableObjectNamespace<BusinessLog>;
  readonly ENDPOINT_LANE: DurableObjectNamespace<EndpointLane>;
  readonly LEDGER_LOG: DurableObjectNamespace<LedgerLog>;
  readonly ANCHOR_KICKS: Queue<object>;
  readonly SHIELD?: RateLimit;
  /** Cloudflare's Email Service, for MAIL_TRANSPORT "cloudflare". */
  readonly EMAIL?: SendEmail;
  /** Workers AI, for the integration helper; without it heuristics alone map a form. */
  readonly AI?: TextModels;
  /** Settings and secrets arrive as text under many names; they are read through `readConfig` only. */
  readonly [name: string]: unknown;
}

export interface Config extends ProofSettings {
  readonly environment: "development" | "production";
  readonly baseUrl: string;
  readonly verifyUrl: string;
  readonly cdnUrl: string;
  readonly mcpUrl: string;
  /** Whether the agent server speaks revision 2026-07-28 beside 2025-03-26. */
  readonly mcpModern: boolean;
  readonly appUrl: string;
  /** Hosts that a program which registers itself may have its answers sent to. */
  readonly oauthHosts: readonly string[];
  /** Hosts whose programs may not be connected. */
  readonly oauthBlockedHosts: readonly string[];
  readonly dohUrls: readonly string[];
  readonly masterKeys: ReadonlyMap<string, Bytes>;
  readonly indexKey: Bytes;
  readonly issuerSeed: Bytes;
  /** Since when the issuer's key signs. */
  readonly issuerKeyFrom: string;
  readonly retiredIssuerKeys: readonly WindowedKey[];
  /** New accounts wait until the operator lets them in. */
  readonly approvesSignups: boolean;
  readonly limits: Limits;
  readonly dayLimits: DayLimits;
  readonly mail: MailSettings;
  /** Null for a deployment that sells nothing. */
  readonly billing: BillingSettings | null;
  /** Whom to tell of a weakness: a mailto:, https: or tel: address (RFC 9116). Null where nobody is named. */
  readonly securityContact: string | null;
  /** SHA-256 of the operator's token, hex; null where there is none, and then no operator's route. */
  readonly adminTokenHash: string | null;
  /** The model that the integration helper asks, where the binding AI is there. */
  readonly aiModel: string;
  /** Added to every clock read; development only. */
  readonly clockOffsetMs: number;
  /** How long changes are gathered before the audit log and the ledger are notified of them. */
  readonly gatherMs: number;
  /** `host:port` of local or plain-http hosts that may be fetched; development only. */
  readonly devFetchAllow: readonly string[];
  /** What the first page says of the demonstration: addresses and keys of businesses that do not exist; development only. */
  readonly demo: Readonly<Record<string, string>>;
  /** False once DEV_RATE_SCALE changed the limits: the platform's shield cannot be scaled with them. */
  readonly shielded: boolean;
}

export interface MailSettings {
  /** One mailbox. */
  readonly from: string;
  readonly transport:
    | { readonly kind: "cloudflare" }
    | { readonly kind: "http"; readonly url: string; readonly token: string }
    /** Development only: kept here, sent to nobody. */
    | { readonly kind: "capture" };
}

export interface BillingSettings {
  readonly secretKey: string;
  /** Of the endpoint that the provider's events are sent to. */
  readonly webhookSecret: string;
  /** The provider's ids of what is sold. */
  readonly prices: Readonly<Record<PurchasablePlan, string>>;
  /** A stand-in for the provider's interface; development only. */
  readonly api: URL | null;
}

export class ConfigFault extends Error {
  constructor(faults: readonly string[]) {
    super(`not configured to run: ${faults.join(", ")}`);
    this.name = "ConfigFault";
  }
}

const keyBytes = 32;
const defaultAiModel = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"; // answers by a JSON schema, and reads the languages of forms
// Much of what anchoring costs is per batch (a signature, a checkpoint, tiles, leases), so under load a batch should be large. A
// ledger's time is in minutes anyway.
const defaultGatherMs = 2_000;
/** Where the agent server answers: the address is also the name that clients know it by, so it is spelt one way. */
export const mcpPath = "/mcp";
const addresses = ["BASE_URL", "VERIFY_URL", "CDN_URL", "MCP_URL", "APP_URL"] as const;

/** Where assistants of large makers that register themselves have their answers sent. */
const hostedAssistants = "claude.ai claude.com chatgpt.com vscode.dev insiders.vscode.dev www.cursor.com";

const wordsOf = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

const secretBytes = (text: string | undefined): Bytes | null => {
  const bytes = text === undefined ? null : bytesOfBase64(text);
  return bytes !== null && bytes.length === keyBytes && isRandomKey(bytes) ? bytes : null;
};

/** `1:<base64>,2:<base64>`: version and key, the newest last. */
const masterKeysOf = (text: string | undefined): ReadonlyMap<string, Bytes> | null => {
  const keys = new Map<string, Bytes>();
  for (const part of text?.split(",") ?? []) {
    const [, version, encoded] = /^([1-9][0-9]{0,3}):(.+)$/.exec(part) ?? [];
    const bytes = secretBytes(encoded);
    if (version === undefined || bytes === null || keys.has(version)) return null;
    keys.set(version, bytes);
  }
  return keys.size === 0 ? null : keys;
};

/** The settings whose key is that of a setting before them too: one secret for two purposes falls with either. */
const sharedKeys = (keys: readonly (readonly [name: string, key: Uint8Array])[]): string[] => {
  const owners = new Map<string, string>();
  const shared = keys.flatMap(([name, key]) => {
    const owner = owners.get(hexOf(key)) ?? name;
    owners.set(hexOf(key), owner);
    return owner === name ? [] : [name];
  });
  return [...new Set(shared)];
};

/** The seeds of note-format secrets, under the name of their setting. */
const seedsOf = (name: string, secrets: readonly string[]): (readonly [string, Uint8Array])[] =>
  secrets.flatMap((secret) => {
    const seed = parseSkey(secret)?.seed;
    return seed === undefined ? [] : [[name, seed] as const];
  });

/** How mail leaves. There is no deployment without it: nobody could sign in or withdraw, and nothing would say so. */
const mailOf = (
  env: Env,
  setting: (name: string) => string | undefined,
  development: boolean,
): { readonly mail: MailSettings; readonly faults: readonly string[] } => {
  const from = setting("MAIL_FROM") ?? "";
  const kind = setting("MAIL_TRANSPORT") ?? (development ? "capture" : "");
  const url = setting("MAIL_HTTP_URL") ?? "";
  const token = setting("MAIL_HTTP_TOKEN") ?? "";
  const faults = isMailbox(from) ? [] : ["MAIL_FROM"];
  const isHttps = URL.canParse(url) && (new URL(url).protocol === "https:" || development);
  if (kind === "cloudflare") {
    if (env.EMAIL === undefined) faults.push("EMAIL");
    return { mail: { from, transport: { kind } }, faults };
  }
  if (kind === "http") {
    if (!isHttps) faults.push("MAIL_HTTP_URL");
    if (token === "") faults.push("MAIL_HTTP_TOKEN");
    return { mail: { from, transport: { kind, url, token } }, faults };
  }
  if (kind !== "capture" || !development) faults.push("MAIL_TRANSPORT");
  return { mail: { from, transport: { kind: "capture" } }, faults };
};

/** `npm start` writes it: a JSON object of texts. */
const demoOf = (text: string | undefined): Readonly<Record<string, string>> | null => {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, string>>;
  } catch {
    return null;
  }
};

const liveKey = /^[sr]k_live_[A-Za-z0-9_-]{8,}$/;
const anyKey = /^[sr]k_(?:live|test)_[A-Za-z0-9_-]{8,}$/;

/** All of it or nothing: with a part of it somebody could pay and get nothing for it. Test keys take no money, so production has none. */
const billingOf = (
  setting: (name: string) => string | undefined,
  development: boolean,
): { readonly billing: BillingSettings | null; readonly faults: readonly string[] } => {
  const priceNames = purchasablePlans.map((plan) => [plan, `STRIPE_PRICE_${plan.toUpperCase()}`] as const);
  const names = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", ...priceNames.map(([, name]) => name)];
  if (names.every((name) => setting(name) === undefined)) return { billing: null, faults: [] };
  const [secretKey = "", webhookSecret = ""] = [setting("STRIPE_SECRET_KEY"), setting("STRIPE_WEBHOOK_SECRET")];
  const faults = names.filter((name) => setting(name) === undefined);
  if (!faults.includes("STRIPE_SECRET_KEY") && !(development ? anyKey : liveKey).test(secretKey)) faults.push("STRIPE_SECRET_KEY");
  if (webhookSecret !== "" && !/^whsec_.{16,}$/.test(webhookSecret)) faults.push("STRIPE_WEBHOOK_SECRET");
  const api = setting("DEV_STRIPE_API");
  if (api !== undefined && !URL.canParse(api)) return { billing: null, faults: [...faults, "DEV_STRIPE_API"] };
  const prices = Object.fromEntries(priceNames.map(([plan, name]) => [plan, setting(name) ?? ""])) as BillingSettings["prices"];
  return { billing: { secretKey, webhookSecret, prices, api: api === undefined ? null : new URL(api) }, faults };
};

/** Throws one ConfigFault naming every missing or unfit setting. Never prints a value. */
export const readConfig = (env: Env): Config => {
  const setting = (name: string): string | undefined => (typeof env[name] === "string" && env[name] !== "" ? env[name] : undefined);
  const faults: string[] = [];
  const development = setting("ENVIRONMENT") === "development";
  if (!development && setting("ENVIRONMENT") !== "production") faults.push("ENVIRONMENT");

  for (const name of addresses) {
    const text = setting(name);
    const url = text !== undefined && URL.canParse(text) ? new URL(text) : null;
    const isElsewhere = name === "MCP_URL" && url?.pathname !== mcpPath;
    if (url === null || text?.endsWith("/") || (url.protocol !== "https:" && !development) || isElsewhere) faults.push(name);
  }
  const mcpModern = setting("MCP_MODERN") ?? "on";
  if (mcpModern !== "on" && mcpModern !== "off") faults.push("MCP_MODERN");
  const masterKeys = masterKeysOf(setting("MASTER_KEYS"));
  if (masterKeys === null) faults.push("MASTER_KEYS");
  const indexKey = secretBytes(setting("INDEX_KEY"));
  if (indexKey === null) faults.push("INDEX_KEY");
  const issuerSeed = secretBytes(setting("ISSUER_KEY"));
  if (issuerSeed === null) faults.push("ISSUER_KEY");
  const issuerKeyFrom = setting("ISSUER_KEY_FROM") ?? always;
  if (!isIsoTime(issuerKeyFrom)) faults.push("ISSUER_KEY_FROM");
  const retired = (setting("RETIRED_ISSUER_KEYS") ?? "")
    .split(" ")
    .filter((key) => key !== "")
    .map(windowedKey);
  const retiredIssuerKeys = retired.filter((one) => one !== null && bytesOfBase64Url(one.key)?.length === keyBytes) as WindowedKey[];
  if (retiredIssuerKeys.length !== retired.length) faults.push("RETIRED_ISSUER_KEYS");
  const { settings: proofs, faults: proofFaults } = readProofSettings(setting, !development);
  faults.push(...proofFaults);
  faults.push(
    ...sharedKeys([
      ...[...(masterKeys?.values() ?? [])].map((key) => ["MASTER_KEYS", key] as const),
      ...(indexKey === null ? [] : [["INDEX_KEY", indexKey] as const]),
      ...(issuerSeed === null ? [] : [["ISSUER_KEY", issuerSeed] as const]),
      ...seedsOf("AUDIT_KEY", [...proofs.auditKeys.values()].flat()),
      ...seedsOf("LEDGER_KEY", proofs.ledger.keys),
      ...seedsOf("LEDGER_WITNESS_KEY", proofs.ledger.witnessKey === null ? [] : [proofs.ledger.witnessKey]),
    ]),
  );

  const { mail, faults: mailFaults } = mailOf(env, setting, development);
  faults.push(...mailFaults);
  const { billing, faults: billingFaults } = billingOf(setting, development);
  faults.push(...billingFaults);

  const signupApproval = setting("SIGNUP_APPROVAL") ?? "none";
  if (signupApproval !== "manual" && signupApproval !== "none") faults.push("SIGNUP_APPROVAL");

  const securityContact = setting("SECURITY_CONTACT") ?? null;
  if (securityContact !== null && !/^(?:mailto:|https:\/\/|tel:)[\x21-\x7e]+$/.test(securityContact)) faults.push("SECURITY_CONTACT");

  const adminTokenHash = setting("ADMIN_TOKEN_SHA256") ?? null;
  if (adminTokenHash !== null && !/^[0-9a-f]{64}$/.test(adminTokenHash)) faults.push("ADMIN_TOKEN_SHA256");

  // By their prefix, so that a setting added for development is refused here without anybody thinking of it.
  if (!development) faults.push(...Object.keys(env).filter((name) => name.startsWith("DEV_") && setting(name) !== undefined));
  const scale = Number(setting("DEV_RATE_SCALE") ?? "1");
  if (!(scale > 0)) faults.push("DEV_RATE_SCALE");
  const clockOffsetMs = Number(setting("DEV_CLOCK_OFFSET_MS") ?? "0");
  if (!Number.isSafeInteger(clockOffsetMs)) faults.push("DEV_CLOCK_OFFSET_MS");
  const gatherMs = Number(setting("DEV_GATHER_MS") ?? defaultGatherMs);
  if (!Number.isSafeInteger(gatherMs) || gatherMs < 0) faults.push("DEV_GATHER_MS");
  const demo = demoOf(setting("DEV_DEMO"));
  if (demo === null) faults.push("DEV_DEMO");
  const { limits, faults: limitFaults } = readLimits(setting, scale);
  const { dayLimits, faults: dayFaults } = readDayLimits(setting, scale);
  faults.push(...limitFaults, ...dayFaults);

  if (faults.length > 0 || demo === null || masterKeys === null || indexKey === null || issuerSeed === null) throw new ConfigFault(faults);
  return Object.freeze({
    environment: development ? "development" : "production",
    baseUrl: setting("BASE_URL") as string,
    verifyUrl: setting("VERIFY_URL") as string,
    cdnUrl: setting("CDN_URL") as string,
    mcpUrl: setting("MCP_URL") as string,
    mcpModern: mcpModern === "on",
    appUrl: setting("APP_URL") as string,
    oauthHosts: wordsOf(setting("OAUTH_DCR_HOSTS") ?? hostedAssistants),
    oauthBlockedHosts: wordsOf(setting("OAUTH_BLOCKED_HOSTS") ?? ""),
    ...proofs,
    dohUrls: wordsOf(setting("DOH_URLS") ?? ""),
    masterKeys,
    indexKey,
    issuerSeed,
    issuerKeyFrom,
    retiredIssuerKeys,
    approvesSignups: signupApproval === "manual",
    limits,
    dayLimits,
    mail,
    billing,
    securityContact,
    adminTokenHash,
    aiModel: setting("AI_MODEL") ?? defaultAiModel,
    clockOffsetMs,
    gatherMs,
    demo,
    devFetchAllow: (setting("DEV_FETCH_ALLOW") ?? "").split(",").flatMap((entry) => entry.trim() || []),
    shielded: scale === 1,
  });
};
