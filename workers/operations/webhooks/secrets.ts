// An endpoint's signing secret, shown to an owner and changed for another.
import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { secretBytes, secretHint, webhookSecret } from "../../../core/webhooks/signature.ts";
import { openSecret, sealSecret } from "../../../storage/webhook-secrets.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { enter, logHolding } from "./logs.ts";

export interface ShownSecret {
  readonly id: WebhookId;
  readonly secret: string;
}

/** The secret in force, once it stands in the audit chain who asked for it. */
export const revealSecret = async (
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  id: WebhookId,
): Promise<Result<ShownSecret, "not_found">> => {
  const held = await logHolding(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const secret = await openSecret(services.vault, owner, held.settings.secretSealed);
  await enter(services, member, "webhook.secret_revealed", id);
  return ok({ id, secret });
};

export interface RotatedSecret extends ShownSecret {
  /** Until then the one before signs too. */
  readonly previousUntil: Instant;
}

/**
 * The new secret signs from now on; the one before it signs beside it for a day, so that receivers can change over. `draft`
 * answers with the sealed secret to use: rotating anew where a first try died would end the one that receivers know.
 */
export const rotateSecret = async (
  services: Runtime & Stores & Events & Schedules,
  member: MemberSession,
  id: WebhookId,
  draft: (sealed: string) => Promise<string>,
): Promise<Result<RotatedSecret, "not_found">> => {
  const held = await logHolding(services, member.business.id, id);
  if (held === null) return refuse("not_found");
  const owner = { endpointId: id, businessId: member.business.id };
  const sealed = await draft(await sealSecret(services.vault, owner, webhookSecret(services.random(secretBytes))));
  const secret = await openSecret(services.vault, owner, sealed);
  await enter(services, member, "webhook.secret_rotated", id);
  const previousUntil = await held.log.rotateSecret(id, { sealed, hint: secretHint(secret) }, services.clock());
  return previousUntil === null ? refuse("not_found") : ok({ id, secret, previousUntil });
};
