// Creates the platform, which contains all dependencies of the operations, from the bindings. Operations never access bindings directly.
import { waitUntil } from "cloudflare:workers";
import { listOwnHosts } from "../../core/access/outbound-url.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { getEventSequenceName } from "../../core/events/event-sequence-name.ts";
import { IntakeState } from "../../core/intake/intake-state.ts";
import type { Mailer } from "../../core/mail/message.ts";
import { shardOfId, type RandomBytes } from "../../core/ids.ts";
import { getLogPath } from "../../core/ledger/checkpoint.ts";
import { listLedgerOrigins } from "../../core/ledger/ledger-origins.ts";
import type { Clock } from "../../core/time.ts";
import { openDatabase, requestTimeoutMs, withDeadline, type Database } from "../../storage/database.ts";
import { insertCapturedMail } from "../../storage/captured-mail.ts";
import { unknownAddressContext } from "../../storage/people-contexts.ts";
import { openShards } from "../../storage/shards.ts";
import { openSigner } from "../../storage/signer.ts";
import { openVault, type Vault } from "../../storage/vault.ts";
import type { SendRequest } from "../adapters/exchange.ts";
import { AddressWindows } from "../adapters/address-windows.ts";
import { CredentialLookups } from "../adapters/credential-lookups.ts";
import { parsePage } from "../adapters/html-page.ts";
import { createBindingMailer, createHttpMailer } from "../adapters/mailer.ts";
import { createPageFetcher } from "../adapters/page-fetcher.ts";
import { createFormModel } from "../adapters/form-model.ts";
import { parseFormPage } from "../adapters/form-page.ts";
import { createStripeProvider } from "../adapters/payment-provider.ts";
import { formatPhone, toE164 } from "../adapters/phone.ts";
import { createHostCheck } from "../adapters/public-hosts.ts";
import { withMetrics } from "./metrics-log.ts";
import { webAuthn } from "../adapters/webauthn.ts";
import { listMetaContents } from "../adapters/meta-tags.ts";
import { getRegistrableDomain, getSite } from "../adapters/site.ts";
import { createRequestCounter } from "../adapters/request-counts.ts";
import { createTextAssetReader } from "../adapters/text-assets.ts";
import { createTxtLookup } from "../adapters/txt-records.ts";
import { createTraceExporter, type Attributes } from "../adapters/trace-exporter.ts";
import { createWebhookSender, type WebhookResult } from "../adapters/webhook-sender.ts";
import { createWebhookUrlCheck } from "../adapters/webhook-url.ts";
import { loadCapturedMail } from "../background/captured-mail.ts";
import { createSchedules } from "../background/follow-up-work.ts";
import { loadConfig, type Config, type Env } from "../env.ts";
import { consoleLog, getErrorKind } from "../log.ts";
import type { Platform, Services } from "./platform.ts";
import { verifierSha256 } from "../pages/verifier.gen.ts";
import { createProofServices } from "./create-proof-services.ts";
import { createTileServer } from "./stored-tiles.ts";
import { createTracer, noTracer, traceBindings, type Tracer } from "./tracer.ts";

/** Captured emails are stored in `store`, the first shard's database, because they belong to no account. */
const createMailer = (env: Env, config: Config, store: { readonly db: Database; readonly vault: Vault }, clock: Clock): Mailer => {
  const { transport } = config.mail;
  if (transport.kind === "cloudflare") return createBindingMailer(env.EMAIL as SendEmail, transport);
  if (transport.kind === "http") return createHttpMailer(transport);
  return {
    send: async (message) => {
      await insertCapturedMail(store.db, store.vault, message, clock());
      return "accepted";
    },
  };
};

export const randomBytes: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

const openTracer = (config: Config, clock: Clock): Tracer => {
  if (config.traces === null) return noTracer;
  const resource = { "service.name": "svc", "service.namespace": new URL(config.baseUrl).host };
  const report = (error: string): void => consoleLog.error({ at: "traces", error });
  const exportSpans = createTraceExporter(config.traces, resource, clock, report);
  return createTracer({ sampleRate: config.traces.sampleRate, clock, random: randomBytes, exportSpans, waitUntil });
};

const describeWebhookResult = (result: WebhookResult): Attributes =>
  result.kind === "answered" ? { "http.response.status_code": result.status } : { "error.type": result.error };

/** Reads the settings and opens keys, stores and adapters. Throws ConfigError if a setting is missing or invalid. */
export const createPlatform = async (bindings: Env): Promise<Services> => {
  const config = loadConfig(bindings);
  const clock: Clock = () => Date.now() + config.clockOffsetMs;
  const tracer = openTracer(config, clock);
  const { traceCalls, traceMethods } = tracer;
  const env = tracer === noTracer ? bindings : traceBindings(bindings, tracer);
  const windows = new AddressWindows();
  const ownHosts = listOwnHosts(config);
  const outbound = {
    ownHosts,
    developmentHosts: config.devFetchAllow,
    checkHost: traceCalls("DNS", createHostCheck({ dohUrls: config.dohUrls, ownHosts })),
  };
  const vault = await openVault(config);
  const shards = openShards(env, requestTimeoutMs, tracer.traceShard);
  const shardIds = shards.all().map(([shard]) => shard);
  // Each shard has one ledger per half-year. Each ledger is a separate object, named after its origin. Earlier ledgers can still be read at
  // their old paths.
  const ledgerOrigins = listLedgerOrigins(config.ledger, shardIds);
  const fetchLedger: SendRequest = (request) => {
    const { pathname } = new URL(request.url);
    const origin = ledgerOrigins.find((known) => pathname.startsWith(`${getLogPath(known)}/`)) ?? config.ledger.origin;
    return env.LEDGER_LOG.getByName(origin).fetch(request);
  };
  const proofServices = await createProofServices(
    config,
    shardIds,
    fetchLedger,
    clock,
    randomBytes,
    traceCalls("proof service", (request) => fetch(request)),
  );
  let sealedPlaceholder: Promise<string> | undefined;
  const platform: Platform = {
    config,
    shards,
    jobShard: null,
    readTextAsset: createTextAssetReader(env.ASSETS),
    kv: env.KV,
    vault,
    getLedgerId: (recordId) => proofServices.ledgersOf(shardOfId(recordId))[0]?.id ?? config.ledger.id,
    verifierSha256,
    signer: await openSigner(
      config.issuerSeed,
      config.retiredIssuerKeys.map(({ key }) => key),
    ),
    intakeState: new IntakeState(),
    intakeJournal: (name) =>
      env.INTAKE_JOURNAL.getByName(name, config.intakeLocation === null ? {} : { locationHint: config.intakeLocation }),
    cachedClients: new BoundedMap(2_000), // an entry takes about 1 KiB
    oauthClients: new BoundedMap(200), // an entry takes at most 8 KiB
    pendingOAuthReads: new Map(),
    openedSecrets: new BoundedMap(200),
    attestedStatements: new BoundedMap(1_000), // an entry takes about 2 KiB
    sealedPlaceholderAddress: () => {
      sealedPlaceholder ??= vault.seal(unknownAddressContext, "nobody@example.com");
      return sealedPlaceholder;
    },
    toE164,
    formatPhone,
    webAuthn,
    fetchPage: traceCalls("page", createPageFetcher(outbound)),
    postWebhook: traceCalls("webhook", createWebhookSender({ ...outbound, clock }), describeWebhookResult),
    findWebhookUrlFault: createWebhookUrlCheck(outbound),
    parsePage,
    getSite,
    getRegistrableDomain,
    lookupTxt: traceCalls("DNS", createTxtLookup(config.dohUrls)),
    listMetaContents,
    parseFormPage,
    proposeMapping:
      env.AI === undefined
        ? async () => null
        : createFormModel(env.AI, config.aiModel, (error) => consoleLog.error({ at: "form model", error })),
    paymentProvider:
      config.billing === null
        ? null
        : traceMethods(
            "payment",
            createStripeProvider(config.billing, (error) => consoleLog.error({ at: "payment provider", error })),
          ),
    countRequests: config.metricsQuery === null ? null : createRequestCounter(config.metricsQuery),
    auditLogStub: (shard) => env.AUDIT_LOG.getByName(shard),
    eventSequence: (businessId, environment) => env.EVENT_SEQUENCE.getByName(getEventSequenceName(businessId, environment)),
    destinationHost: (host) => env.DESTINATION_HOST.getByName(host),
    fetchLedger,
    serveStoredTile: createTileServer(env, config.baseUrl, clock, consoleLog),
    requestAnchoring: async () => {
      await env.ANCHOR_QUEUE.send({});
    },
    ...proofServices,
    mailer: traceMethods("mail", createMailer(env, config, { db: openDatabase(env.DB), vault }, clock)),
    getMailbox: (to) => loadCapturedMail(platform, openDatabase(env.DB), to),
    clock,
    random: randomBytes,
    log: tracer.traceRequests(withMetrics(consoleLog, env.METRICS)),
    waitUntil: (work) => waitUntil(tracer.continueTrace(work)),
    trace: tracer.trace,
    hasBudget: async () => true,
    takeApproximately: async (name, key) => {
      const state = windows.take(`${name}:${key}`, config.limits[name], clock());
      if (!state.isAllowed || !config.isShieldEnabled || env.SHIELD === undefined) return state;
      try {
        const { success } = await env.SHIELD.limit({ key: `${name}:${key}` });
        return success ? state : { isAllowed: false, remaining: 0, resetMs: 60_000 };
      } catch (error) {
        consoleLog.error({ at: "limits", error: getErrorKind(error) });
        return state; // this isolate's count allows the call, so allow it even if the platform's rate limiter fails
      }
    },
    peekApproximately: (name, key) => windows.peek(`${name}:${key}`, config.limits[name], clock()),
    credentialLookups: new CredentialLookups(),
    takeExactly: (name, key, calls = 1) => {
      const { count, seconds } = config.limits[name];
      const limiter = env.RATE_LIMITER.getByName(`${name}:${key}`);
      return withDeadline(async () => limiter.take({ count, seconds }, clock(), calls), requestTimeoutMs);
    },
  };
  return Object.assign(platform, createSchedules(platform));
};

const platforms = new WeakMap<Env, Promise<Services>>();

/**
 * Returns this isolate's platform, created once per `env` object. Requests and Durable Objects share it. If creating it fails, the next
 * call tries again.
 */
export const getPlatform = (env: Env): Promise<Services> => {
  const existing = platforms.get(env);
  if (existing !== undefined) return existing;
  const platform = createPlatform(env);
  platforms.set(env, platform);
  platform.catch(() => platforms.delete(env));
  return platform;
};
