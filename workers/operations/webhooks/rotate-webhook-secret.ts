// Implements POST /v1/webhooks/{webhook_id}/rotate-secret.
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
  /** Until this time, deliveries are also signed with the previous secret. */
  readonly previousUntil: Instant;
}

interface RotationOptions {
  /**
   * Saves the new sealed secret and returns the secret to use. After a crash, a repeated request must continue with that secret, because
   * another rotation would invalidate the secret that receivers still use.
   */
  readonly saveDraft?: ((sealed: string) => Promise<string>) | undefined;
  /** The hint of the secret to replace. Null replaces the current secret, whatever its hint. */
  readonly replacedHint?: string | null;
}

/**
 * Replaces the signing secret. For one more day, deliveries are also signed with the previous secret, so that receivers can switch. Can
 * return `not_found`, and `idempotency_conflict` if the current secret's hint is not `replacedHint`. In that case, the audit entry stays
 * even though nothing changed.
 */
export const rotateWebhookSecret = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
  { saveDraft = async (sealed) => sealed, replacedHint = null }: RotationOptions = {},
): Promise<Result<RotatedSecret, "not_found" | "idempotency_conflict">> => {
  const found = await findEventSequence(services, member.business.id, id);
  if (found === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const sealed = await saveDraft(await sealWebhookSecret(services.vault, owner, formatWebhookSecret(services.random(secretLength))));
  const secret = await openWebhookSecret(services.vault, owner, sealed);
  await commitWebhookAudit(services, member, "webhook.secret_rotated", id);
  const replacement = { sealed, hint: formatSecretHint(secret) };
  const previousUntil = await found.eventSequence.rotateSecret(id, replacement, services.clock(), replacedHint);
  if (previousUntil === "outdated") return refuse("idempotency_conflict");
  return previousUntil === null ? refuse("not_found") : ok({ id, secret, previousUntil });
};
