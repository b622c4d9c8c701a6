// The bindings and settings of a deployment, read once and checked once: a deployment that is not fit to run answers 503
// on every route instead of running half configured, and says in its log everything that is missing at once.
import { fromBase64, fromBase64Url, toHex } from "../core/bytes.ts";
import type { TextModelRunner } from "../core/integration/text-model-runner.ts";
import type { DailyLimits } from "../core/access/rate-limit.ts";
import { purchasablePlans, type PurchasablePlan } from "../core/billing/plans.ts";
import { hasRandomKeyBytes } from "../core/randomness.ts";
import { isEmailAddress } from "../core/email-address.ts";
import type { Bytes } from "../core/hash.ts";
import { defaultValidFrom, isIsoTime, parseKeyWithValidity, type KeyWithValidity } from "../core/ledger/key-validity.ts";
import { parseSkey } from "../core/ledger/note.ts";
import { parseProofSettings, type ProofSettings } from "../core/ledger/settings.ts";
import type { AuditLog } from "../durable-objects/audit-log/object.ts";
import type { EventSequence } from "../durable-objects/event-sequence/object.ts";
import type { DeliveryQueue } from "../durable-objects/delivery-queue/object.ts";
import type { LedgerLog } from "../durable-objects/ledger-log/object.ts";
import type { RateLimiter } from "../durable-objects/rate-limiter/object.ts";
import { parseDayLimits, parseLimits, type Limits } from "./limits.ts";

export interface Env {
  readonly DB: D1Database;
  readonly KV: KVNamespace;
  readonly RATE_LIMITER: DurableObjectNamespace<RateLimiter>;
  readonly AUDIT_LOG: DurableObjectNamespace<AuditLog>;
  readonly EVENT_SEQUENCE: DurableObjectNamespace<EventSequence>;
  readonly DELIVERY_QUEUE: DurableObjectNamespace<DeliveryQueue>;
  readonly LEDGER_LOG: DurableObjectNamespace<LedgerLog>;
  readonly ANCHOR_QUEUE: Queue<object>;
  readonly SHIELD?: RateLimit;
  /** Cloudflare's Email Service, for MAIL_TRANSPORT "cloudflare". */
  readonly EMAIL?: SendEmail;
  /** Workers AI, for the integration helper; without it heuristics alone map a form. */
  readonly AI?: TextModelRunner;
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
  readonly isMcpModernEnabled: boolean;
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
  readonly retiredIssuerKeys: readonly KeyWithValidity[];
  /** New accounts wait until the operator lets them in. */
  readonly requiresSignupApproval: boolean;
  readonly limits: Limits;
  readonly dayLimits: DailyLimits;
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
  readonly batchWindowMs: number;
  /** `host:port` of local or plain-http hosts that may be fetched; development only. */
  readonly devFetchAllow: readonly string[];
  /** What the first page says of the demonstration: addresses and keys of businesses that do not exist; development only. */
  readonly demo: Readonly<Record<string, string>>;
  /** False once DEV_RATE_SCALE changed the limits: the platform's shield cannot be scaled with them. */
  readonly isShieldEnabled: boolean;
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
  readonly apiUrl: URL | null;
}

export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`not configured to run: ${faults.join(", ")}`);
    this.name = "ConfigFault";
  }
}

const keyBytes = 32;
const defaultAiModel = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"; // answers by a JSON schema, and reads the languages of forms
// Much of what anchoring costs is per batch (a signature, a checkpoint, tiles, leases), so under load a batch should be large. A
// ledger's time is in minutes anyway.
const defaultBatchWindowMs = 2_000;
/** Where the agent server answers: the address is also the name that clients know it by, so it is spelt one way. */
export const mcpPath = "/mcp";

/** Where assistants of large makers that register themselves have their answers sent. */
const defaultOAuthHosts = "claude.ai claude.com chatgpt.com vscode.dev insiders.vscode.dev www.cursor.com";

/** A setting's text; undefined where it is absent or empty. */
type GetSetting = (name: string) => string | undefined;

const splitWords = (text = ""): readonly string[] => text.split(" ").filter((word) => word !== "");

const parseSecretBytes = (text: string | undefined): Bytes | null => {
  const bytes = text === undefined ? null : fromBase64(text);
  return bytes !== null && bytes.length === keyBytes && hasRandomKeyBytes(bytes) ? bytes : null;
};

/** `1:<base64>,2:<base64>`: version and key, the newest last. */
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

/** The settings whose key is that of a setting before them too: one secret for two purposes falls with either. One that is missing is no key. */
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

/** The seeds of note-format secrets, under the name of their setting. */
const parseSeeds = (name: string, secrets: readonly string[]): (readonly [string, Uint8Array])[] =>
  secrets.flatMap((secret) => {
    const seed = parseSkey(secret)?.seed;
    return seed === undefined ? [] : [[name, seed] as const];
  });

/** How mail leaves. There is no deployment without it: nobody could sign in or withdraw, and nothing would say so. */
const parseMailSettings = (env: Env, setting: GetSetting, development: boolean, faults: string[]): MailSettings => {
  const from = setting("MAIL_FROM") ?? "";
  const kind = setting("MAIL_TRANSPORT") ?? (development ? "capture" : "");
  if (!isEmailAddress(from)) faults.push("MAIL_FROM");
  if (kind === "cloudflare") {
    if (env.EMAIL === undefined) faults.push("EMAIL");
    return { from, transport: { kind } };
  }
  if (kind === "http") {
    const [url = "", token = ""] = [setting("MAIL_HTTP_URL"), setting("MAIL_HTTP_TOKEN")];
    if (!URL.canParse(url) || !(new URL(url).protocol === "https:" || development)) faults.push("MAIL_HTTP_URL");
    if (token === "") faults.push("MAIL_HTTP_TOKEN");
    return { from, transport: { kind, url, token } };
  }
  if (kind !== "capture" || !development) faults.push("MAIL_TRANSPORT");
  return { from, transport: { kind: "capture" } };
};

/** `npm start` writes it: a JSON object of texts. */
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

/** All of it or nothing: with a part of it somebody could pay and get nothing for it. Test keys take no money, so production has none. */
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

/** Throws one ConfigFault naming every missing or unfit setting. Never prints a value. */
export const loadConfig = (env: Env): Config => {
  const faults: string[] = [];
  const setting: GetSetting = (name) => (typeof env[name] === "string" && env[name] !== "" ? env[name] : undefined);
  const development = setting("ENVIRONMENT") === "development";
  if (!development && setting("ENVIRONMENT") !== "production") faults.push("ENVIRONMENT");

  // Of what is not fit these give something of the type: nothing is answered with it.
  const address = (name: string): string => {
    const text = setting(name) ?? "";
    const url = URL.canParse(text) ? new URL(text) : null;
    const isElsewhere = name === "MCP_URL" && url?.pathname !== mcpPath;
    if (url === null || text.endsWith("/") || (url.protocol !== "https:" && !development) || isElsewhere) faults.push(name);
    return text;
  };
  const secret = (name: string): Bytes => {
    const bytes = parseSecretBytes(setting(name));
    if (bytes === null) faults.push(name);
    return bytes ?? new Uint8Array();
  };
  const text = (name: string, isFit: (value: string) => boolean, preset: string): string => {
    const value = setting(name) ?? preset;
    if (value !== preset && !isFit(value)) faults.push(name);
    return value;
  };
  const number = (name: string, isFit: (value: number) => boolean, preset: number): number => {
    const value = Number(setting(name) ?? preset);
    if (!isFit(value)) faults.push(name);
    return value;
  };

  const masterKeys = parseMasterKeys(setting("MASTER_KEYS"));
  if (masterKeys === null) faults.push("MASTER_KEYS");
  const indexKey = secret("INDEX_KEY");
  const issuerSeed = secret("ISSUER_KEY");
  const retired = splitWords(setting("RETIRED_ISSUER_KEYS")).map(parseKeyWithValidity);
  const retiredIssuerKeys = retired.filter((one) => one !== null && fromBase64Url(one.key)?.length === keyBytes) as KeyWithValidity[];
  if (retiredIssuerKeys.length !== retired.length) faults.push("RETIRED_ISSUER_KEYS");
  const { settings: proofs, faults: proofFaults } = parseProofSettings(setting, !development);
  faults.push(
    ...proofFaults,
    ...findSharedKeys([
      ...[...(masterKeys?.values() ?? [])].map((key) => ["MASTER_KEYS", key] as const),
      ["INDEX_KEY", indexKey],
      ["ISSUER_KEY", issuerSeed],
      ...parseSeeds("AUDIT_KEY", [...proofs.auditKeys.values()].flat()),
      ...parseSeeds("LEDGER_KEY", proofs.ledger.keys),
      ...parseSeeds("LEDGER_WITNESS_KEY", proofs.ledger.witnessKey === null ? [] : [proofs.ledger.witnessKey]),
    ]),
  );

  // By their prefix, so that a setting added for development is refused here without anybody thinking of it.
  if (!development) faults.push(...Object.keys(env).filter((name) => name.startsWith("DEV_") && setting(name) !== undefined));
  const demo = parseDemoSettings(setting("DEV_DEMO"));
  if (demo === null) faults.push("DEV_DEMO");
  const scale = number("DEV_RATE_SCALE", (value) => value > 0, 1);
  const { limits, faults: limitFaults } = parseLimits(setting, scale);
  const { dayLimits, faults: dayFaults } = parseDayLimits(setting, scale);
  faults.push(...limitFaults, ...dayFaults);

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
    issuerSeed,
    issuerKeyFrom: text("ISSUER_KEY_FROM", isIsoTime, defaultValidFrom),
    retiredIssuerKeys,
    requiresSignupApproval: text("SIGNUP_APPROVAL", (value) => value === "manual", "none") === "manual",
    limits,
    dayLimits,
    mail: parseMailSettings(env, setting, development, faults),
    billing: parseBillingSettings(setting, development, faults),
    securityContact: text("SECURITY_CONTACT", (value) => /^(?:mailto:|https:\/\/|tel:)[\x21-\x7e]+$/.test(value), "") || null,
    adminTokenHash: text("ADMIN_TOKEN_SHA256", (value) => /^[0-9a-f]{64}$/.test(value), "") || null,
    aiModel: setting("AI_MODEL") ?? defaultAiModel,
    clockOffsetMs: number("DEV_CLOCK_OFFSET_MS", Number.isSafeInteger, 0),
    batchWindowMs: number("DEV_BATCH_WINDOW_MS", (value) => Number.isSafeInteger(value) && value >= 0, defaultBatchWindowMs),
    demo: demo ?? {},
    devFetchAllow: (setting("DEV_FETCH_ALLOW") ?? "").split(",").flatMap((entry) => entry.trim() || []),
    isShieldEnabled: scale === 1,
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
};
