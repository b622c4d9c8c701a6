// The dependencies that operations in all folders share. Dependencies needed in only one folder are declared in that folder's
// `dependencies.ts`. Each operation's signature uses the smallest type it needs, which shows what it can access. The composition root
// builds one object per isolate that provides all of them; operations never access bindings directly.
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

/** Configuration, clock, randomness, log, and a way to run work after the response. */
export interface Runtime {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Runs work after the response. The process may be terminated first, so required work is also in an outbox. */
  readonly waitUntil: (work: () => Promise<void>) => void;
  /** Returns false once background work has used up its budget (work-budget.ts). The caller then leaves the rest to the next minute. */
  readonly hasBudget: () => Promise<boolean>;
}

/** Databases and encryption. */
export interface Stores {
  readonly shards: Shards;
  readonly kv: KVNamespace;
  readonly vault: Vault;
  /** Returns the ID of the ledger that receives the statements about a record: the ledger of the record's shard. */
  readonly getLedgerId: (recordId: string) => string;
}

/** Schedules the work that follows a commit. Calling these does not delay the response. */
export interface Schedules {
  /** Drains audit entries into their logs and anchors statements in the ledger. `commit` calls it. */
  readonly scheduleFollowUp: () => void;
  /** Sends email from the outbox. */
  readonly scheduleMail: () => void;
  /** Captures policies, and continues withdrawals that did not fit into one batch. */
  readonly scheduleRelay: () => void;
  /** Moves a business's events from the outbox to its event sequence and endpoints, a few milliseconds after the response. */
  readonly scheduleEvents: (businessId: BusinessId, environment: Environment) => void;
}

export interface ReadDependencies extends Runtime, Stores {}

export interface WriteDependencies extends Runtime, Stores, Schedules {}

/** Rate limit counters. */
export interface Counters {
  /** Counts in this isolate, in addition to the platform's rate limiter. Approximate across isolates. */
  readonly takeApproximately: (name: LimitName, key: string) => Promise<RateLimitState>;
  /** Returns the state that the next call would find, without counting a call. Includes only the calls that this isolate counted. */
  readonly peekApproximately: (name: LimitName, key: string) => RateLimitState;
  readonly credentialLookups: CredentialLookups;
  /** Counts exactly, in a Durable Object. If several calls are counted together, either all of them are counted or none. */
  readonly takeExactly: (name: LimitName, key: string, calls?: number) => Promise<RateLimitState>;
}

/** Phone number parsing. */
export interface PhoneNumbers {
  readonly toE164: ToE164;
  readonly formatPhone: FormatPhone;
}

/** Fetching and parsing pages from other sites. Fetches of private IP addresses are blocked. */
export interface PageFetcher {
  readonly fetchPage: FetchPage;
  readonly parsePage: ParsePage;
  /** Returns a hostname's registrable domain. Hosts that share a registrable domain are treated as one site. */
  readonly getSite: (hostname: string) => string;
  /** Returns null for names that cannot be registered: IP addresses and public suffixes. */
  readonly getRegistrableDomain: (hostname: string) => string | null;
  readonly lookupTxt: LookupTxt;
  readonly listMetaContents: (html: string, name: string, by?: "name" | "http-equiv") => readonly string[];
}

/** Signing, and the transparency logs. */
export interface Proofs extends ProofServices {
  readonly signer: Signer;
  /** SHA-256 of the file served at /svc-verify.mjs, as hex. */
  readonly verifierSha256: string;
  readonly auditLogStub: (auditLog: ShardId) => DurableObjectStub<AuditLog>;
  /** HTTP interface of the embedded ledger. */
  readonly fetchLedger: (request: Request) => Promise<Response>;
  /** Requests anchoring in another invocation, which starts within seconds. */
  readonly requestAnchoring: () => Promise<void>;
}
