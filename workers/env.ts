// A deployment's bindings and settings, read and checked once per isolate. If any setting is invalid, the deployment responds with 503 on
// every route and logs all invalid settings together.
import { alertDefinitions, alertKinds, type AlertThresholds } from "../core/alerts.ts";
import { defaultLinkKeys, parseLinkKeys, type LinkKeys } from "../core/access/link-keys.ts";
import { fromBase64, fromBase64Url, toHex } from "../core/bytes.ts";
import type { TextModelRunner } from "../core/integration/text-model-runner.ts";
import type { StorageLimits } from "../core/access/storage-limits.ts";
import { purchasablePlans, type PurchasablePlan } from "../core/billing/plans.ts";
import { hasRandomKeyBytes } from "../core/randomness.ts";
import { isEmailAddress } from "../core/email-address.ts";
import type { Bytes } from "../core/hash.ts";
import { defaultValidFrom, isIsoTime, parseKeyWithValidity, type KeyWithValidity } from "../core/ledger/key-validity.ts";
import type { MailCapabilities } from "../core/mail/message.ts";
import { parseLogSeeds } from "../core/ledger/log-seed.ts";
import { parseSkey } from "../core/ledger/note.ts";
import { parseProofSettings, type ProofSettings } from "../core/ledger/settings.ts";
import type { AuditLog } from "../durable-objects/audit-log/object.ts";
import type { DestinationHost } from "../durable-objects/destination-host/object.ts";
import type { EventSequence } from "../durable-objects/event-sequence/object.ts";
import type { DeliveryQueue } from "../durable-objects/delivery-queue/object.ts";
import type { LedgerLog } from "../durable-objects/ledger-log/object.ts";
import type { IntakeJournal } from "../durable-objects/intake-journal/object.ts";
import type { RateLimiter } from "../durable-objects/rate-limiter/object.ts";
import { describeOutOfRange, parseLimits, parseStorageLimits, type Limits } from "./limits.ts";

export interface Env {
  readonly ASSETS: Fetcher;
  readonly DB: D1Database;
  readonly KV: KVNamespace;
  /** R2 bucket for full tiles of the logs. Without it, the logs' Durable Objects keep and serve all tiles. */
  readonly LOG_TILES?: R2Bucket;
  readonly RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
  readonly AUDIT_LOG: DurableObjectNamespace<AuditLog>;
  readonly EVENT_SEQUENCE: DurableObjectNamespace<EventSequence>;
  readonly DELIVERY_QUEUE: DurableObjectNamespace<DeliveryQueue>;
  readonly DESTINATION_HOST: DurableObjectNamespace<DestinationHost>;
  readonly LEDGER_LOG: DurableObjectNamespace<LedgerLog>;
  readonly INTAKE_JOURNAL: DurableObjectNamespace<IntakeJournal>;
  readonly ANCHOR_QUEUE: Queue<object>;
  readonly JOB_QUEUE: Queue<object>;
  readonly SHIELD?: RateLimit;
  /** Cloudflare's Email Service, used if MAIL_TRANSPORT is "cloudflare". */
  readonly EMAIL?: SendEmail;
  /** Workers Analytics Engine. Without it, requests and metrics are only logged. */
  readonly METRICS?: AnalyticsEngineDataset;
  /** Workers AI for the integration helper. Without it, forms are mapped by heuristics only. */
  readonly AI?: TextModelRunner;
  /** All settings and secrets are strings. `loadConfig` checks them. */
  readonly [name: string]: unknown;
}

export interface Config extends ProofSettings {
  readonly environment: "development" | "production";
  readonly baseUrl: string;
  readonly verifyUrl: string;
  readonly cdnUrl: string;
  readonly mcpUrl: string;
  /** Whether the agent server supports protocol revision 2026-07-28 in addition to 2025-03-26. */
  readonly isMcpModernEnabled: boolean;
  readonly appUrl: string;
  /** Redirect hosts allowed for OAuth clients that register themselves. */
  readonly oauthHosts: readonly string[];
  /** Hosts whose OAuth clients are refused. */
  readonly oauthBlockedHosts: readonly string[];
  readonly dohUrls: readonly string[];
  readonly masterKeys: ReadonlyMap<string, Bytes>;
  readonly indexKey: Bytes;
  readonly linkKeys: LinkKeys;
  readonly indexEncryptionKeys: LinkKeys;
  readonly issuerSeed: Bytes;
  /** When the current issuer key becomes valid, in ISO 8601 format. */
  readonly issuerKeyFrom: string;
  readonly retiredIssuerKeys: readonly KeyWithValidity[];
  /** Whether new business accounts stay `pending` until the operator approves them. */
  readonly requiresSignupApproval: boolean;
  readonly limits: Limits;
  readonly storageLimits: StorageLimits;
  /** How long a submission waits for its database before it is journaled. */
  readonly intakeWaitMs: number;
  /** Location hint for new intake journals. Null lets Cloudflare choose. */
  readonly intakeLocation: DurableObjectLocationHint | null;
  readonly mail: MailSettings;
  /** Null if this deployment does not sell plans. */
  readonly billing: BillingSettings | null;
  /** Access to the metrics, for the operator's page. Null if the deployment cannot read them. */
  readonly metricsQuery: MetricsQuerySettings | null;
  /** Where to send traces. Null if the deployment records none. */
  readonly traces: TraceSettings | null;
  /** The address at which businesses and people can reach the operator. Pages and emails show it. Null if not set. */
  readonly supportEmail: string | null;
  /** Contact for vulnerability reports: a mailto:, https: or tel: URL (RFC 9116). Null if not set. */
  readonly securityContact: string | null;
  /** SHA-256 of the operator token in hex. Null disables the operator routes. */
  readonly adminTokenHash: string | null;
  /** Recipient of operator alerts. Null disables them. */
  readonly alertEmail: string | null;
  readonly alertThresholds: AlertThresholds;
  /** Workers AI model for the integration helper. Used only with the AI binding. */
  readonly aiModel: string;
  /** Added to every clock reading. Development only. */
  readonly clockOffsetMs: number;
  /** The database size at which a shard is full: D1's limit, unless development sets another one. */
  readonly maxShardBytes: number;
  /** How long changes are collected before the audit log and the ledger are notified. */
  readonly batchWindowMs: number;
  /** The `host:port` of local or plain HTTP hosts that may be fetched. Development only. */
  readonly devFetchAllow: readonly string[];
  /** Email addresses and keys of the fictional demo businesses, shown on the home page. Development only. */
  readonly demo: Readonly<Record<string, string>>;
  /**
   * Whether to use Cloudflare's rate limiting binding. False if DEV_RATE_SCALE changes the limits, because the binding's limits cannot be
   * scaled.
   */
  readonly isShieldEnabled: boolean;
}

export interface MailSettings {
  readonly from: string;
  readonly transport:
    | ({ readonly kind: "cloudflare" } & MailCapabilities)
    | ({ readonly kind: "http"; readonly url: string; readonly token: string } & MailCapabilities)
    /** Development only: stores email for /dev/mail instead of sending it. */
    | { readonly kind: "capture" };
}

export interface BillingSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** The provider's price IDs. */
  readonly prices: Readonly<Record<PurchasablePlan, string>>;
  /** The URL of a mock of the provider's API, in development only; null for the real API. */
  readonly apiUrl: URL | null;
}

/** Access to Workers Analytics Engine's SQL API. */
export interface MetricsQuerySettings {
  readonly accountId: string;
  /** API token with the permission to read the account's analytics. */
  readonly token: string;
  readonly dataset: string;
}

/** An OpenTelemetry collector that accepts OTLP over HTTP. */
export interface TraceSettings {
  readonly url: string;
  /** The headers that authorize the request. They are secret. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The fraction of requests, jobs and webhook deliveries to record, above 0 and up to 1. */
  readonly sampleRate: number;
}

/** Thrown if settings are missing or invalid. The message lists them and never contains a secret. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`not configured to run: ${faults.join(", ")}`);
    this.faults = faults;
    this.name = "ConfigError";
  }
}

const keyBytes = 32;
// This model supports JSON schema output and the languages that forms use.
const defaultAiModel = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";
// Most of the cost of anchoring is per batch (signature, checkpoint, tiles), so large batches are cheaper. Waiting two seconds does not
// matter, because an external attestation of the ledger's time takes minutes anyway.
const defaultBatchWindowMs = 2_000;
const defaultMaxShardBytes = 10_000_000_000; // the size limit of a D1 database
// Much longer than the slowest response of a healthy database, but short enough for a person who is waiting.
const defaultIntakeWaitMs = 600;
// High enough that the collector gets examples of each common request, and low enough that few requests bear the cost of a trace.
const defaultTraceSampleRate = 0.01;
const isLocationHint = (text: string): boolean => /^(?:[ew]nam|sam|[ew]eur|apac(?:-[ns]e)?|oc|afr|me)$/.test(text);
/** The path of the agent server. Clients identify the server by its URL, so only this spelling is accepted. */
export const mcpPath = "/mcp";

/** Redirect hosts of well-known assistants that register themselves as clients. */
const defaultOAuthHosts = "claude.ai claude.com chatgpt.com vscode.dev insiders.vscode.dev www.cursor.com";

/** Returns undefined for a missing or empty setting. */
type GetSetting = (name: string) => string | undefined;

const splitWords = (text = ""): readonly string[] => text.split(" ").filter((word) => word !== "");

const parseSecretBytes = (text: string | undefined): Bytes | null => {
  const bytes = text === undefined ? null : fromBase64(text);
  return bytes !== null && bytes.length === keyBytes && hasRandomKeyBytes(bytes) ? bytes : null;
};

/** Parses `<version>:<base64 key>` pairs, separated by commas, newest last. */
const parseMasterKeys = (text: string | undefined): ReadonlyMap<string, Bytes> | null => {
  const keys = new Map<string, Bytes>();
  for (const part of text?.split(",") ?? []) {
    const [, version, encoded] = /^([1-9][0-9]{0,3}):(.+)$/.exec(part) ?? [];
    const bytes = parseSecretBytes(encoded);
    if (version === undefined || bytes === null || keys.has(version)) return null;
    keys.set(version, bytes);
  }
  return keys.size === 0 ? null : keys;
};

const listKeyBytes = ({ current, others }: LinkKeys): readonly Bytes[] => [current, ...others].flatMap(({ key }) => key ?? []);

const parseRandomLinkKeys = (text: string | undefined): LinkKeys | null => {
  const keys = text === undefined ? defaultLinkKeys : parseLinkKeys(text);
  return keys !== null && listKeyBytes(keys).every(hasRandomKeyBytes) ? keys : null;
};

/**
 * Returns the names of settings that reuse another setting's key. With separate keys, a leaked key compromises only one setting. Ignores
 * missing keys.
 */
const findSharedKeys = (keys: readonly (readonly [name: string, key: Uint8Array])[]): string[] => {
  const owners = new Map<string, string>();
  const shared = keys.flatMap(([name, key]) => {
    if (key.length === 0) return [];
    const owner = owners.get(toHex(key)) ?? name;
    owners.set(toHex(key), owner);
    return owner === name ? [] : [name];
  });
  return [...new Set(shared)];
};

/** Returns the seed of each note-format signing key, with the setting's name. Skips malformed keys. */
const parseSeeds = (name: string, secrets: readonly string[]): (readonly [string, Uint8Array])[] =>
  secrets.flatMap((secret) => {
    const seed = parseSkey(secret)?.seed;
    return seed === undefined ? [] : [[name, seed] as const];
  });

/**
 * Parses the email settings. They are required, because without email people could not sign in or withdraw consent, and no error would be
 * visible.
 */
const parseMailSettings = (env: Env, setting: GetSetting, development: boolean, faults: string[]): MailSettings => {
  const from = setting("MAIL_FROM") ?? "";
  const kind = setting("MAIL_TRANSPORT") ?? (development ? "capture" : "");
  if (!isEmailAddress(from)) faults.push("MAIL_FROM");
  const utf8 = setting("MAIL_SMTPUTF8") ?? "off";
  if (utf8 !== "on" && utf8 !== "off") faults.push("MAIL_SMTPUTF8");
  const supportsUtf8Addresses = utf8 === "on";
  if (kind === "cloudflare") {
    if (env.EMAIL === undefined) faults.push("EMAIL");
    return { from, transport: { kind, supportsUtf8Addresses } };
  }
  if (kind === "http") {
    const [url = "", token = ""] = [setting("MAIL_HTTP_URL"), setting("MAIL_HTTP_TOKEN")];
    if (!URL.canParse(url) || !(new URL(url).protocol === "https:" || development)) faults.push("MAIL_HTTP_URL");
    if (token === "") faults.push("MAIL_HTTP_TOKEN");
    return { from, transport: { kind, url, token, supportsUtf8Addresses } };
  }
  if (kind !== "capture" || !development) faults.push("MAIL_TRANSPORT");
  return { from, transport: { kind: "capture" } };
};

/** Parses the JSON object of strings that `npm start` passes. Returns null if the text is not JSON. */
const parseDemoSettings = (text: string | undefined): Readonly<Record<string, string>> | null => {
  if (text === undefined) return {};
  try {
    return JSON.parse(text) as Readonly<Record<string, string>>;
  } catch {
    return null;
  }
};

const liveKeyPattern = /^[sr]k_live_[A-Za-z0-9_-]{8,}$/;
const anyKeyPattern = /^[sr]k_(?:live|test)_[A-Za-z0-9_-]{8,}$/;

/**
 * Parses the billing settings, which must be either all present or all missing. With only some of them, a customer could pay and get
 * nothing. Production refuses the provider's test keys, because test payments move no money.
 */
const parseBillingSettings = (setting: GetSetting, development: boolean, faults: string[]): BillingSettings | null => {
  const priceNames = purchasablePlans.map((plan) => [plan, `STRIPE_PRICE_${plan.toUpperCase()}`] as const);
  const names = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", ...priceNames.map(([, name]) => name)];
  if (names.every((name) => setting(name) === undefined)) return null;
  const [secretKey = "", webhookSecret = ""] = [setting("STRIPE_SECRET_KEY"), setting("STRIPE_WEBHOOK_SECRET")];
  faults.push(...names.filter((name) => setting(name) === undefined));
  if (secretKey !== "" && !(development ? anyKeyPattern : liveKeyPattern).test(secretKey)) faults.push("STRIPE_SECRET_KEY");
  if (webhookSecret !== "" && !/^whsec_.{16,}$/.test(webhookSecret)) faults.push("STRIPE_WEBHOOK_SECRET");
  const api = setting("DEV_STRIPE_API");
  if (api !== undefined && !URL.canParse(api)) faults.push("DEV_STRIPE_API");
  const prices = Object.fromEntries(priceNames.map(([plan, name]) => [plan, setting(name) ?? ""])) as BillingSettings["prices"];
  return { secretKey, webhookSecret, prices, apiUrl: api !== undefined && URL.canParse(api) ? new URL(api) : null };
};

/** Parses the settings for reading metrics. The account and the token must be either both present or both missing. */
const parseMetricsQuerySettings = (setting: GetSetting, faults: string[]): MetricsQuerySettings | null => {
  const [accountId, token] = [setting("METRICS_ACCOUNT_ID"), setting("METRICS_TOKEN")];
  const dataset = setting("METRICS_DATASET") ?? "svc";
  if (!/^[A-Za-z0-9_]{1,64}$/.test(dataset)) faults.push("METRICS_DATASET");
  if (accountId === undefined && token === undefined) return null;
  if (accountId === undefined || !/^[0-9a-f]{32}$/.test(accountId)) faults.push("METRICS_ACCOUNT_ID");
  if (token === undefined) faults.push("METRICS_TOKEN");
  return { accountId: accountId ?? "", token: token ?? "", dataset };
};

/**
 * Parses `name=value` pairs, separated by commas, with URL-encoded values: the format of the standard variable OTEL_EXPORTER_OTLP_HEADERS.
 * Returns null if a pair is not a valid header.
 */
const parseTraceHeaders = (text: string): TraceSettings["headers"] | null => {
  const pairs = text.split(",").flatMap((pair) => pair.trim() || []);
  const matches = pairs.flatMap((pair) => [...pair.matchAll(/^([\w-]+)=(.+)$/g)]);
  if (matches.length < pairs.length) return null;
  try {
    return [...new Headers(matches.map(([, name = "", value = ""]): [string, string] => [name, decodeURIComponent(value)]))];
  } catch {
    return null; // a value is not URL-encoded, or a header cannot contain it
  }
};

/** Parses the settings for traces. Without a URL, or with a sample rate of 0, the deployment records none. */
const parseTraceSettings = (setting: GetSetting, sampleRate: number, development: boolean, faults: string[]): TraceSettings | null => {
  const url = setting("OTLP_TRACES_URL");
  const headers = parseTraceHeaders(setting("OTLP_HEADERS") ?? "");
  if (headers === null) faults.push("OTLP_HEADERS");
  if (url === undefined) return null;
  if (!URL.canParse(url) || !(new URL(url).protocol === "https:" || development)) faults.push("OTLP_TRACES_URL");
  return sampleRate > 0 ? { url, headers: headers ?? [], sampleRate } : null;
};

/**
 * Reads and checks every setting. Throws one ConfigError that lists all missing or invalid settings. For limits and numbers, the message
 * contains the value and the allowed range. It never contains other values.
 */
export const loadConfig = (env: Env): Config => {
  const faults: string[] = [];
  const setting: GetSetting = (name) => (typeof env[name] === "string" && env[name] !== "" ? env[name] : undefined);
  const development = setting("ENVIRONMENT") === "development";
  if (!development && setting("ENVIRONMENT") !== "production") faults.push("ENVIRONMENT");

  // For an invalid setting, these functions return a placeholder of the right type. `loadConfig` then throws, so the placeholder is never
  // used.
  const address = (name: string): string => {
    const text = setting(name) ?? "";
    const url = URL.canParse(text) ? new URL(text) : null;
    const isWrongPath = name === "MCP_URL" && url?.pathname !== mcpPath;
    if (url === null || text.endsWith("/") || (url.protocol !== "https:" && !development) || isWrongPath) faults.push(name);
    return text;
  };
  const secret = (name: string): Bytes => {
    const bytes = parseSecretBytes(setting(name));
    if (bytes === null) faults.push(name);
    return bytes ?? new Uint8Array();
  };
  const text = (name: string, isValid: (value: string) => boolean, defaultValue: string): string => {
    const value = setting(name) ?? defaultValue;
    if (value !== defaultValue && !isValid(value)) faults.push(name);
    return value;
  };
  const number = (name: string, isValid: (value: number) => boolean, rule: string, defaultValue: number): number => {
    const value = Number(setting(name) ?? defaultValue);
    if (!isValid(value)) faults.push(describeOutOfRange(name, setting(name) ?? "", rule));
    return value;
  };
  const wholeNumberFrom = (min: number, name: string, defaultValue: number): number =>
    number(name, (value) => Number.isSafeInteger(value) && value >= min, `a whole number from ${min}`, defaultValue);

  const masterKeys = parseMasterKeys(setting("MASTER_KEYS"));
  if (masterKeys === null) faults.push("MASTER_KEYS");
  const indexKey = secret("INDEX_KEY");
  const linkKeys = parseRandomLinkKeys(setting("LINK_KEYS"));
  if (linkKeys === null) faults.push("LINK_KEYS");
  const indexEncryptionKeys = parseRandomLinkKeys(setting("INDEX_ENCRYPTION_KEYS"));
  if (indexEncryptionKeys === null) faults.push("INDEX_ENCRYPTION_KEYS");
  const issuerSeed = secret("ISSUER_KEY");
  const retired = splitWords(setting("RETIRED_ISSUER_KEYS")).map(parseKeyWithValidity);
  const retiredIssuerKeys = retired.filter((key) => key !== null && fromBase64Url(key.key)?.length === keyBytes) as KeyWithValidity[];
  if (retiredIssuerKeys.length !== retired.length) faults.push("RETIRED_ISSUER_KEYS");
  const { settings: proofs, faults: proofFaults } = parseProofSettings(setting, !development);
  faults.push(
    ...proofFaults,
    ...findSharedKeys([
      ...[...(masterKeys?.values() ?? [])].map((key) => ["MASTER_KEYS", key] as const),
      ["INDEX_KEY", indexKey],
      ...listKeyBytes(linkKeys ?? defaultLinkKeys).map((key) => ["LINK_KEYS", key] as const),
      ...listKeyBytes(indexEncryptionKeys ?? defaultLinkKeys).map((key) => ["INDEX_ENCRYPTION_KEYS", key] as const),
      ["ISSUER_KEY", issuerSeed],
      ...(parseLogSeeds(proofs.logSeed) ?? []).map(({ seed }) => ["LOG_SEED", seed] as const),
      ...parseSeeds("AUDIT_KEY", proofs.auditKeys),
      ...parseSeeds("LEDGER_KEY", proofs.ledger.keys),
      ...parseSeeds("LEDGER_WITNESS_KEY", proofs.ledger.witnessKey === null ? [] : [proofs.ledger.witnessKey]),
    ]),
  );

  // Production refuses every setting that starts with DEV_, including development settings that are added later.
  if (!development) faults.push(...Object.keys(env).filter((name) => name.startsWith("DEV_") && setting(name) !== undefined));
  const demo = parseDemoSettings(setting("DEV_DEMO"));
  if (demo === null) faults.push("DEV_DEMO");
  const scale = number("DEV_RATE_SCALE", (value) => value > 0, "a number above 0", 1);
  const { limits, faults: limitFaults } = parseLimits(setting, scale);
  const { storageLimits, faults: storageFaults } = parseStorageLimits(setting, scale);
  faults.push(...limitFaults, ...storageFaults);

  const config: Config = {
    environment: development ? "development" : "production",
    baseUrl: address("BASE_URL"),
    verifyUrl: address("VERIFY_URL"),
    cdnUrl: address("CDN_URL"),
    mcpUrl: address("MCP_URL"),
    isMcpModernEnabled: text("MCP_MODERN", (value) => value === "off", "on") === "on",
    appUrl: address("APP_URL"),
    oauthHosts: splitWords(setting("OAUTH_DCR_HOSTS") ?? defaultOAuthHosts),
    oauthBlockedHosts: splitWords(setting("OAUTH_BLOCKED_HOSTS")),
    ...proofs,
    dohUrls: splitWords(setting("DOH_URLS")),
    masterKeys: masterKeys ?? new Map(),
    indexKey,
    linkKeys: linkKeys ?? defaultLinkKeys,
    indexEncryptionKeys: indexEncryptionKeys ?? defaultLinkKeys,
    issuerSeed,
    issuerKeyFrom: text("ISSUER_KEY_FROM", isIsoTime, defaultValidFrom),
    retiredIssuerKeys,
    requiresSignupApproval: text("SIGNUP_APPROVAL", (value) => value === "manual", "none") === "manual",
    limits,
    storageLimits,
    intakeWaitMs: number(
      "INTAKE_WAIT_MS",
      (value) => Number.isSafeInteger(value) && value >= 100 && value <= 1_900,
      "a whole number from 100 to 1900",
      defaultIntakeWaitMs,
    ),
    intakeLocation: (text("INTAKE_LOCATION", isLocationHint, "") || null) as DurableObjectLocationHint | null,
    mail: parseMailSettings(env, setting, development, faults),
    billing: parseBillingSettings(setting, development, faults),
    metricsQuery: parseMetricsQuerySettings(setting, faults),
    traces: parseTraceSettings(
      setting,
      number("TRACE_SAMPLE_RATE", (value) => value >= 0 && value <= 1, "a number from 0 to 1", defaultTraceSampleRate),
      development,
      faults,
    ),
    supportEmail: text("SUPPORT_EMAIL", isEmailAddress, "") || null,
    securityContact: text("SECURITY_CONTACT", (value) => /^(?:mailto:|https:\/\/|tel:)[\x21-\x7e]+$/.test(value), "") || null,
    adminTokenHash: text("ADMIN_TOKEN_SHA256", (value) => /^[0-9a-f]{64}$/i.test(value), "").toLowerCase() || null,
    alertEmail: text("ALERT_EMAIL", isEmailAddress, "") || null,
    alertThresholds: Object.fromEntries(
      alertKinds.map((kind) => {
        const { setting: name, defaultThreshold } = alertDefinitions[kind];
        return [kind, wholeNumberFrom(0, name, defaultThreshold)];
      }),
    ) as AlertThresholds,
    aiModel: setting("AI_MODEL") ?? defaultAiModel,
    clockOffsetMs: number("DEV_CLOCK_OFFSET_MS", Number.isSafeInteger, "a whole number", 0),
    maxShardBytes: wholeNumberFrom(1, "DEV_SHARD_BYTES", defaultMaxShardBytes),
    batchWindowMs: wholeNumberFrom(0, "DEV_BATCH_WINDOW_MS", defaultBatchWindowMs),
    demo: demo ?? {},
    devFetchAllow: (setting("DEV_FETCH_ALLOW") ?? "").split(",").flatMap((entry) => entry.trim() || []),
    isShieldEnabled: scale === 1,
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
};
