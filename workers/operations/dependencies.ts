// The dependencies that operations in all folders share. If only one folder needs a dependency, that folder's `dependencies.ts` declares
// it. The signature of each operation uses the smallest type that it needs, which shows what the operation can access. create-platform.ts
// builds one object per isolate that provides all of them. Operations never access bindings directly.
import type { Environment } from "../../core/access/entitlement.ts";
import type { FetchPage } from "../../core/access/outbound-page.ts";
import type { RateLimitState } from "../../core/access/rate-limit.ts";
import type { FormatPhone, ToE164 } from "../../core/certificates/recognized-fields.ts";
import type { BusinessId, RandomBytes, ShardId } from "../../core/ids.ts";
import type { Clock } from "../../core/time.ts";
import type { Shards } from "../../storage/shards.ts";
import type { Signer } from "../../storage/signer.ts";
import type { Vault } from "../../storage/vault.ts";
import type { AuditLog } from "../../durable-objects/audit-log/object.ts";
import type { CredentialLookups } from "../adapters/credential-lookups.ts";
import type { ParsePage } from "../adapters/html-page.ts";
import type { LookupTxt } from "../adapters/txt-records.ts";
import type { Config } from "../env.ts";
import type { LimitName } from "../limits.ts";
import type { Log } from "../log.ts";
import type { ProofServices } from "../platform/create-proof-services.ts";

export interface Runtime {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /**
   * Runs work in the background, so that the response does not wait for it. The platform may stop the process before the work ends, so work
   * that must happen is also in an outbox.
   */
  readonly waitUntil: (work: () => Promise<void>) => void;
  /** Runs `work` in a new trace with this name, which must be a constant. Only a sample of the calls is traced. */
  readonly trace: <T>(name: string, work: () => Promise<T>) => Promise<T>;
  /**
   * Returns false if this background run has used up its budget (work-budget.ts). The caller must then stop, and the next run continues.
   */
  readonly hasBudget: () => Promise<boolean>;
}

export interface Stores {
  readonly shards: Shards;
  readonly kv: KVNamespace;
  readonly vault: Vault;
  /** Returns the ID of the ledger for statements about a record: the ledger of the record's shard. */
  readonly getLedgerId: (recordId: string) => string;
}

/** Functions that schedule follow-up work after a commit. Calling them does not delay the response. */
export interface Schedules {
  /** Tells the audit logs to read new entries, requests anchoring of new statements and counts new certificates. `commit` calls this. */
  readonly scheduleFollowUp: () => void;
  readonly scheduleMail: () => void;
  /** Captures policies, and continues withdrawals that did not fit into one batch. */
  readonly scheduleRelay: () => void;
  /** Tells a business's event sequence to read its events from the change log and push them to its endpoints. */
  readonly scheduleEvents: (businessId: BusinessId, environment: Environment) => void;
}

export interface ReadDependencies extends Runtime, Stores {}

export interface WriteDependencies extends Runtime, Stores, Schedules {}

export interface Counters {
  /** Counts a call in this isolate and in the platform's rate limiter. Each isolate has its own count, so the limit is approximate. */
  readonly takeApproximately: (name: LimitName, key: string) => Promise<RateLimitState>;
  /** Returns the limit's state for the next call, without counting a call. Includes only the calls that this isolate has counted. */
  readonly peekApproximately: (name: LimitName, key: string) => RateLimitState;
  readonly credentialLookups: CredentialLookups;
  /** Counts calls exactly, in a Durable Object. If the limit does not allow all `calls`, counts none of them. */
  readonly takeExactly: (name: LimitName, key: string, calls?: number) => Promise<RateLimitState>;
}

export interface PhoneNumbers {
  readonly toE164: ToE164;
  readonly formatPhone: FormatPhone;
}

/** Fetches and parses pages of other sites. Requests to private IP addresses are blocked. */
export interface PageFetcher {
  readonly fetchPage: FetchPage;
  readonly parsePage: ParsePage;
  /** Returns a hostname's registrable domain, or the hostname if it has none. Hosts with the same result count as one site. */
  readonly getSite: (hostname: string) => string;
  /** Returns a hostname's registrable domain, or null if it has none. IP addresses and public suffixes have none. */
  readonly getRegistrableDomain: (hostname: string) => string | null;
  readonly lookupTxt: LookupTxt;
  readonly listMetaContents: (html: string, name: string, by?: "name" | "http-equiv") => readonly string[];
}

export interface Proofs extends ProofServices {
  readonly signer: Signer;
  /** The SHA-256 of the file served at /svc-verify.mjs, as hex. */
  readonly verifierSha256: string;
  readonly auditLogStub: (auditLog: ShardId) => DurableObjectStub<AuditLog>;
  /** Sends a request to the embedded ledger. All access to the ledger is over HTTP. */
  readonly fetchLedger: (request: Request) => Promise<Response>;
  /** Serves a full tile of the log named `origin` from R2. Returns null if the log's Durable Object must serve the request. */
  readonly serveStoredTile: (origin: string, request: Request) => Promise<Response | null>;
  /** Requests anchoring in a separate invocation, which starts within seconds. */
  readonly requestAnchoring: () => Promise<void>;
}
