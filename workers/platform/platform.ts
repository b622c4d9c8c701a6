// Types of the platform, the object that provides the dependencies of every operation. create-platform.ts builds it. The types are in a
// separate file to avoid an import cycle: create-platform.ts imports background work, which uses these types.
import type { ShardId } from "../../core/ids.ts";
import type { Mailer } from "../../core/mail/message.ts";
import type { CapturedMail } from "../../storage/captured-mail.ts";
import type { AccessDependencies } from "../operations/access/dependencies.ts";
import type { Metrics } from "../operations/admin/dependencies.ts";
import type { AgentDependencies } from "../operations/agents/dependencies.ts";
import type { AttestationCache } from "../operations/attestations/dependencies.ts";
import type { BillingDependencies } from "../operations/billing/dependencies.ts";
import type { CertificateDependencies } from "../operations/certificates/dependencies.ts";
import type { ConsumerDependencies } from "../operations/consumers/dependencies.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { IntegrationDependencies } from "../operations/integration/dependencies.ts";
import type { WebhookDependencies } from "../operations/webhooks/dependencies.ts";

/** Sends email. Operations only write to the email outbox, and the email is sent after the response. */
export interface Mail {
  readonly mailer: Mailer;
  /** Returns the captured email of a development deployment, newest first. The list is always empty in other deployments. */
  readonly getMailbox: (to: string | null) => Promise<readonly CapturedMail[]>;
}

/** All dependencies except the functions that schedule follow-up work. Follow-up work itself may use only these. */
export interface Platform
  extends AccessDependencies,
    AgentDependencies,
    CertificateDependencies,
    ConsumerDependencies,
    BillingDependencies,
    IntegrationDependencies,
    WebhookDependencies,
    AttestationCache,
    Metrics,
    Mail {
  /** The shard to which this invocation of the background jobs is limited; null if the invocation is for all shards. */
  readonly jobShard: ShardId | null;
}

/**
 * All dependencies of operations, with one instance per isolate. Each operation's type lists the groups that it uses, which shows what the
 * operation can access.
 */
export interface Services extends Platform, Schedules {}
