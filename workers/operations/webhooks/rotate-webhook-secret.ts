import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { formatWebhookSecret, secretLength, formatSecretHint } from "../../../core/webhooks/signature.ts";
import { sealWebhookSecret, openWebhookSecret } from "../../../storage/webhook-secrets.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";
import { findEventSequence } from "./find-event-sequence.ts";
import type { RevealedSecret } from "./reveal-webhook-secret.ts";

export interface RotatedSecret extends RevealedSecret {
  /** Until then the one before signs too. */
  readonly previousUntil: Instant;
}

/**
 * The new secret signs from now on; the one before it signs beside it for a day, so that receivers can change over. `draft`
 * answers with the sealed secret to use: rotating anew where a first try died would end the one that receivers know.
 */
export const rotateWebhookSecret = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
  draft: (sealed: string) => Promise<string>,
): Promise<Result<RotatedSecret, "not_found">> => {
  const held = await findEventSequence(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const sealed = await draft(await sealWebhookSecret(services.vault, owner, formatWebhookSecret(services.random(secretLength))));
  const secret = await openWebhookSecret(services.vault, owner, sealed);
  await commitWebhookAudit(services, member, "webhook.secret_rotated", id);
  const previousUntil = await held.eventSequence.rotateSecret(id, { sealed, hint: formatSecretHint(secret) }, services.clock());
  return previousUntil === null ? refuse("not_found") : ok({ id, secret, previousUntil });
};
