// Implements GET /v1/webhooks/{webhook_id}/secret.
import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { openWebhookSecret } from "../../../storage/webhook-secrets.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";
import { findEventSequence } from "./find-event-sequence.ts";

export interface RevealedSecret {
  readonly id: WebhookId;
  readonly secret: string;
}

/** Commits an audit entry about the read, and then returns the current signing secret. Can return `not_found`. */
export const revealWebhookSecret = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
): Promise<Result<RevealedSecret, "not_found">> => {
  const found = await findEventSequence(services, member.business.id, id);
  if (found === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const secret = await openWebhookSecret(services.vault, owner, found.settings.secretSealed);
  await commitWebhookAudit(services, member, "webhook.secret_revealed", id);
  return ok({ id, secret });
};
