// Types of the platform, the object that provides the dependencies of every operation. They are separate from create-platform.ts, which
// builds the platform, to avoid an import cycle with the background work that uses these types.
import type { ShardId } from "../../core/ids.ts";
import type { Mailer } from "../../core/mail/message.ts";
import type { CapturedMail } from "../../storage/captured-mail.ts";
import type { ReadTextAsset } from "../adapters/text-assets.ts";
import type { AccessDependencies } from "../operations/access/dependencies.ts";
import type { Metrics } from "../operations/admin/dependencies.ts";
import type { AgentDependencies } from "../operations/agents/dependencies.ts";
import type { AttestationCache } from "../operations/attestations/dependencies.ts";
import type { BillingDependencies } from "../operations/billing/dependencies.ts";
import type { CertificateDependencies } from "../operations/certificates/dependencies.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { IntegrationDependencies } from "../operations/integration/dependencies.ts";
import type { WebhookDependencies } from "../operations/webhooks/dependencies.ts";

/** Sends email. Operations only write to the email outbox, and the relay sends the email after the response. */
export interface Mail {
  readonly mailer: Mailer;
  /**
   * Returns the emails that a development deployment has captured, newest first: those to `to`, or all of them if `to` is null. The list is
   * always empty in other deployments.
   */
  readonly getMailbox: (to: string | null) => Promise<readonly CapturedMail[]>;
}

/** All dependencies except the functions that schedule follow-up work, which follow-up work itself must not call. */
export interface Platform
  extends AccessDependencies,
    AgentDependencies,
    CertificateDependencies,
    BillingDependencies,
    IntegrationDependencies,
    WebhookDependencies,
    AttestationCache,
    Metrics,
    Mail {
  /** The shard that this invocation of the background jobs is limited to; null for all shards. */
  readonly jobShard: ShardId | null;
  readonly readTextAsset: ReadTextAsset;
}

/**
 * All dependencies of the operations, created once per isolate. The type of each operation names only the dependencies that the operation
 * uses, which shows what it can access.
 */
export interface Services extends Platform, Schedules {}
