// The platform: everything operations may use, created once per isolate from the bindings. Operations never see a binding.
import { waitUntil } from "cloudflare:workers";
import { BoundedMap } from "../core/bounded-map.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { ResolvedClient } from "../core/agents/oauth-client.ts";
import type { PaymentProvider } from "../core/billing/payment-provider.ts";
import type { AttestedStatement } from "../core/certificates/attested-statement.ts";
import type { WebAuthn } from "../core/access/passkey.ts";
import type { FetchPage } from "../core/access/outbound-page.ts";
import { getEventSequenceName } from "../core/events/event-sequence-name.ts";
import type { FormPage } from "../core/forms/form-page.ts";
import type { Proposal, ProposalRequest } from "../core/integration/proposal.ts";
import type { RateLimitState } from "../core/access/rate-limit.ts";
import type { ToE164 } from "../core/certificates/normalized-subject.ts";
import type { Mailer } from "../core/mail/message.ts";
import type { BusinessId, ClientId, RandomBytes } from "../core/ids.ts";
import { getLogPath } from "../core/ledger/checkpoint.ts";
import type { Clock } from "../core/time.ts";
import type { IssuingClient } from "../storage/accounts.ts";
import { openDatabase, type Database } from "../storage/database.ts";
import { insertCapturedMail, type CapturedMail } from "../storage/captured-mail.ts";
import { unknownAddressContext } from "../storage/people-contexts.ts";
import { openShards, type Shards } from "../storage/shards.ts";
import { openSigner, type Signer } from "../storage/signer.ts";
import { openVault, type Vault } from "../storage/vault.ts";
import type { AuditLog } from "../durable-objects/audit-log/object.ts";
import type { EventSequence } from "../durable-objects/event-sequence/object.ts";
import type { SendRequest } from "./adapters/exchange.ts";
import { AddressWindows } from "./adapters/address-windows.ts";
import { parsePage, type ParsePage } from "./adapters/html-page.ts";
import { createBindingMailer, createHttpMailer } from "./adapters/mailer.ts";
import { createPageFetcher } from "./adapters/page-fetcher.ts";
import { createFormModel } from "./adapters/form-model.ts";
import { parseFormPage } from "./adapters/form-page.ts";
import { createStripeProvider } from "./adapters/payment-provider.ts";
import { writePdf, type WritePdf } from "./adapters/pdf.ts";
import { toE164 } from "./adapters/phone.ts";
import { createHostCheck } from "./adapters/public-hosts.ts";
import { webAuthn } from "./adapters/webauthn.ts";
import { listMetaContents } from "./adapters/meta-tags.ts";
import { getRegistrableDomain, getSite } from "./adapters/site.ts";
import { createTxtLookup, type LookupTxt } from "./adapters/txt-records.ts";
import { createWebhookSender, type PostWebhook } from "./adapters/webhook-sender.ts";
import { createWebhookUrlCheck, type IsAllowedWebhookUrl } from "./adapters/webhook-url.ts";
import { loadCapturedMail } from "./background/mail-relay.ts";
import { createSchedules } from "./background/schedulers.ts";
import { loadConfig, type Config, type Env } from "./env.ts";
import type { LimitName } from "./limits.ts";
import { consoleLog, getErrorKind, type Log } from "./log.ts";
import { verifierSha256 } from "./pages/verifier.gen.ts";
import { createProofServices, type ProofServices } from "./platform/create-proof-services.ts";

/** What nearly everything needs. */
export interface Runtime {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Runs after the answer; an accelerator only, since the process may die first. What must happen is in an outbox. */
  readonly waitUntil: (work: () => Promise<void>) => void;
  /** False once work in the background has used what it is allowed (operations/allowance.ts): the next step is the next minute's. */
  readonly hasBudget: () => Promise<boolean>;
}

/** Where records are kept and how they are sealed. */
export interface Stores {
  readonly shards: Shards;
  readonly kv: KVNamespace;
  readonly vault: Vault;
  /** Where statements go. */
  readonly ledgerId: string;
}

/** What this isolate has learned and may forget. */
export interface Caches {
  /**
   * Accounts, so that a submission costs one round trip to the database instead of two. Never trusted: an insert names the revision
   * it was decided on and fails when that has passed, and a refusal is given only after a fresh reading.
   */
  readonly cachedClients: BoundedMap<ClientId, IssuingClient>;
  /** Hashes of API keys and agent tokens that were right when last asked for: never trusted, only not counted as guesses. */
  readonly knownKeyHashes: BoundedMap<string, true>;
  /** What programs' documents say, by their address. */
  readonly oauthClients: BoundedMap<string, Promise<ResolvedClient>>;
  /** Addresses of documents that are being read. */
  readonly pendingOAuthReads: Set<string>;
  /** Webhook secrets by their sealed form. */
  readonly openedSecrets: BoundedMap<string, string>;
  /** What others attested, by the receipt's reference. Found once, it stays what it is. */
  readonly attestedStatements: BoundedMap<string, AttestedStatement>;
  /** An address that is nobody's, sealed once. */
  readonly sealedPlaceholderAddress: () => Promise<string>;
}

/** What signs, and the logs that prove. */
export interface Proofs extends ProofServices {
  readonly signer: Signer;
  /** Of the file at /svc-verify.mjs, hex. */
  readonly verifierSha256: string;
  /** A shard of the audit log, by its number. */
  readonly auditLogStub: (shard: number) => DurableObjectStub<AuditLog>;
  /** The embedded ledger's HTTP interface. */
  readonly fetchLedger: (request: Request) => Promise<Response>;
  /** Asks for the anchors to be worked on, somewhere else and soon. */
  readonly requestAnchoring: () => Promise<void>;
}

/** What a business is told of, and how. */
export interface Events {
  /** A business's events and endpoints, live or of its sandbox. */
  readonly eventSequence: (businessId: string, environment: Environment) => DurableObjectStub<EventSequence>;
  /** A guarded POST to a receiver. */
  readonly postWebhook: PostWebhook;
  /** Whether an address may be registered as a receiver. */
  readonly isAllowedWebhookUrl: IsAllowedWebhookUrl;
}

/** How mail leaves. Operations put it into the outbox and never send before an answer. */
export interface Mail {
  readonly mailer: Mailer;
  /** Development's mailbox, newest first; empty everywhere else. */
  readonly getMailbox: (to: string | null) => Promise<readonly CapturedMail[]>;
}

/** Somebody else's pages. */
export interface PageFetcher {
  /** A guarded GET. */
  readonly fetchPage: FetchPage;
  readonly parsePage: ParsePage;
  /** Which hosts belong together: the registrable domain. */
  readonly getSite: (hostname: string) => string;
  /** Null for what nobody can register: addresses, public suffixes. */
  readonly getRegistrableDomain: (hostname: string) => string | null;
  /** What resolvers say is published at a name. */
  readonly lookupTxt: LookupTxt;
  readonly listMetaContents: (html: string, name: string, by?: "name" | "http-equiv") => readonly string[];
}

/** What compares telephone numbers. */
export interface PhoneNumbers {
  readonly toE164: ToE164;
}

/** What a passkey is asked and answers. */
export interface WebAuthnGroup {
  readonly webAuthn: WebAuthn;
}

/** Who takes the money; null where nothing is sold. */
export interface Billing {
  readonly paymentProvider: PaymentProvider | null;
}

/** What reads the forms of a business's page. */
export interface Forms {
  readonly parseFormPage: (html: string) => FormPage;
  /** What a model would add; null where none is bound, or it did not answer in time and in shape. Never throws. */
  readonly proposeMapping: (question: ProposalRequest) => Promise<Proposal | null>;
}

/** What is handed out as a file. */
export interface Pdf {
  readonly writePdf: WritePdf;
}

/** Counts a call against a limit. */
export interface Counters {
  /** Kept in this isolate, behind the platform's shield. */
  readonly takeByAddress: (name: LimitName, key: string) => Promise<RateLimitState>;
  /** Exact, kept in an object. Of several calls that come together, all count or none. */
  readonly takeExactly: (name: LimitName, key: string, calls?: number) => Promise<RateLimitState>;
}

/** What a change may ask for once it is committed. Costs nothing before the answer. */
export interface Schedules {
  /** Audit entries join their chains, statements go to the ledger. Asked for by `commit`. */
  readonly scheduleFollowUp: () => void;
  /** Mail leaves. */
  readonly scheduleMail: () => void;
  /** Policies are captured, and withdrawals that did not fit into one batch go on. */
  readonly scheduleRelay: () => void;
  /** A business's events are in its feed and on their way to its endpoints some milliseconds after the answer. Likewise, of facts. */
  readonly scheduleEvents: (businessId: BusinessId, environment: Environment) => void;
}

/** All of them but what asks for work that follows: what that work itself may use. */
export interface Platform
  extends Runtime,
    Stores,
    Caches,
    Proofs,
    Events,
    Mail,
    PageFetcher,
    PhoneNumbers,
    WebAuthnGroup,
    Billing,
    Forms,
    Pdf,
    Counters {}

/** One an isolate. An operation names the groups it uses, so that its type says what it can touch. */
export interface Services extends Platform, Schedules {}

/** Captured mail is stored in shard 00, because it belongs to no account. */
const createMailer = (env: Env, config: Config, store: { readonly db: Database; readonly vault: Vault }, clock: Clock): Mailer => {
  const { transport } = config.mail;
  if (transport.kind === "cloudflare") return createBindingMailer(env.EMAIL as SendEmail);
  if (transport.kind === "http") return createHttpMailer(transport);
  return {
    send: async (message) => {
      await insertCapturedMail(store.db, store.vault, message, clock());
      return "accepted";
    },
  };
};

export const randomBytes: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

/** Reads the settings and opens keys, stores and adapters. Throws ConfigError when a setting is missing or invalid. */
export const createPlatform = async (env: Env): Promise<Services> => {
  const config = loadConfig(env);
  const windows = new AddressWindows();
  const ownHosts = [config.baseUrl, config.verifyUrl, config.cdnUrl, config.mcpUrl, config.appUrl].map((url) => new URL(url).host);
  const outbound = {
    ownHosts,
    developmentHosts: config.devFetchAllow,
    checkHost: createHostCheck({ dohUrls: config.dohUrls, ownHosts }),
  };
  const clock: Clock = () => Date.now() + config.clockOffsetMs;
  const vault = await openVault(config);
  // Each half-year's ledger is its own object; earlier ones stay readable at their old paths.
  const findRetiredLedger = (path: string) => config.ledger.retiredKeys.find(({ origin }) => path.startsWith(`${getLogPath(origin)}/`));
  const fetchLedger: SendRequest = (request) =>
    env.LEDGER_LOG.getByName(findRetiredLedger(new URL(request.url).pathname)?.origin ?? config.ledger.origin).fetch(request);
  let sealedPlaceholder: Promise<string> | undefined;
  const platform: Platform = {
    config,
    shards: openShards(env),
    kv: env.KV,
    vault,
    ledgerId: config.ledger.id,
    verifierSha256,
    signer: await openSigner(
      config.issuerSeed,
      config.retiredIssuerKeys.map(({ key }) => key),
    ),
    cachedClients: new BoundedMap(2_000), // about 1 KiB each
    knownKeyHashes: new BoundedMap(5_000), // 64 characters each
    oauthClients: new BoundedMap(200), // at most 8 KiB each
    pendingOAuthReads: new Set(),
    openedSecrets: new BoundedMap(200),
    attestedStatements: new BoundedMap(1_000), // about 2 KiB each
    sealedPlaceholderAddress: () => {
      sealedPlaceholder ??= vault.seal(unknownAddressContext, "nobody@example.com");
      return sealedPlaceholder;
    },
    toE164,
    webAuthn,
    writePdf,
    fetchPage: createPageFetcher(outbound),
    postWebhook: createWebhookSender({ ...outbound, clock }),
    isAllowedWebhookUrl: createWebhookUrlCheck(outbound),
    parsePage,
    getSite,
    getRegistrableDomain,
    lookupTxt: createTxtLookup(config.dohUrls),
    listMetaContents,
    parseFormPage,
    proposeMapping:
      env.AI === undefined
        ? async () => null
        : createFormModel(env.AI, config.aiModel, (error) => consoleLog.error({ at: "form model", error })),
    paymentProvider:
      config.billing === null ? null : createStripeProvider(config.billing, (error) => consoleLog.error({ at: "payment provider", error })),
    auditLogStub: (logNumber) => env.AUDIT_LOG.getByName(String(logNumber)),
    eventSequence: (businessId, environment) => env.EVENT_SEQUENCE.getByName(getEventSequenceName(businessId, environment)),
    fetchLedger,
    requestAnchoring: async () => {
      await env.ANCHOR_QUEUE.send({});
    },
    ...(await createProofServices(config, fetchLedger, clock, randomBytes)),
    mailer: createMailer(env, config, { db: openDatabase(env.DB), vault }, clock),
    getMailbox: (to) => loadCapturedMail(platform, openDatabase(env.DB), to),
    clock,
    random: randomBytes,
    log: consoleLog,
    waitUntil: (work) => waitUntil(work()),
    hasBudget: async () => true,
    takeByAddress: async (name, key) => {
      const state = windows.take(`${name}:${key}`, config.limits[name], clock());
      if (!state.isAllowed || !config.isShieldEnabled || env.SHIELD === undefined) return state;
      try {
        const { success } = await env.SHIELD.limit({ key: `${name}:${key}` });
        return success ? state : { isAllowed: false, remaining: 0, resetMs: 60_000 };
      } catch (error) {
        consoleLog.error({ at: "limits", error: getErrorKind(error) });
        return state; // the isolate's own window has counted the call, so a failing shield refuses no one
      }
    },
    takeExactly: (name, key, calls = 1) => {
      const { count, seconds } = config.limits[name];
      return env.RATE_LIMITER.getByName(`${name}:${key}`).take({ count, seconds }, clock(), calls);
    },
  };
  return Object.assign(platform, createSchedules(platform));
};

const platforms = new WeakMap<Env, Promise<Services>>();

/** The platform of this isolate, created once per `env` object. Requests and Durable Objects share it. A failed creation is retried. */
export const getPlatform = (env: Env): Promise<Services> => {
  const existing = platforms.get(env);
  if (existing !== undefined) return existing;
  const platform = createPlatform(env);
  platforms.set(env, platform);
  platform.catch(() => platforms.delete(env));
  return platform;
};
