// Types of the platform: the object that satisfies the dependencies of every operation. create-platform.ts builds it. The types have a file
// of their own because background work uses them and is itself started by the platform.
import type { Mailer } from "../../core/mail/message.ts";
import type { CapturedMail } from "../../storage/captured-mail.ts";
import type { AccessDependencies } from "../operations/access/dependencies.ts";
import type { AgentDependencies } from "../operations/agents/dependencies.ts";
import type { AttestationCache } from "../operations/attestations/dependencies.ts";
import type { BillingDependencies } from "../operations/billing/dependencies.ts";
import type { CertificateDependencies } from "../operations/certificates/dependencies.ts";
import type { ConsumerDependencies } from "../operations/consumers/dependencies.ts";
import type { Schedules } from "../operations/dependencies.ts";
import type { IntegrationDependencies } from "../operations/integration/dependencies.ts";
import type { WebhookDependencies } from "../operations/webhooks/dependencies.ts";

/** Sending mail. Operations only write to the mail outbox; nothing is sent before a response. */
export interface Mail {
  readonly mailer: Mailer;
  /** Captured mail of a development service, newest first; empty everywhere else. */
  readonly getMailbox: (to: string | null) => Promise<readonly CapturedMail[]>;
}

/** All of them but what asks for work that follows: what that work itself may use. */
export interface Platform
  extends AccessDependencies,
    AgentDependencies,
    CertificateDependencies,
    ConsumerDependencies,
    BillingDependencies,
    IntegrationDependencies,
    WebhookDependencies,
    AttestationCache,
    Mail {}

/** One an isolate. An operation names the groups it uses, so that its type says what it can touch. */
export interface Services extends Platform, Schedules {}
