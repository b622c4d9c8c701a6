// Implements POST /v1/webhooks/deliveries/{delivery_id}/reveal.
import type { MemberSession } from "../../../core/access/session.ts";
import type { DeliveryId, WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWebhookAudit } from "./commit-webhook-audit.ts";
import { findDeliveryRecord } from "./find-delivery-record.ts";
import { openDelivery, type OpenedDelivery } from "./open-delivery.ts";
import { openEventPayloads } from "./open-event-payloads.ts";

/**
 * Returns a delivery with the shared details that it sent and everything that the receiver returned. If there are shared details, commits
 * an audit entry about the read before it returns them. Can return `not_found`, and `share_inactive` if the details can no longer be read.
 */
export const revealDelivery = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  deliveryId: DeliveryId,
): Promise<Result<OpenedDelivery, "not_found" | "share_inactive">> => {
  const record = await findDeliveryRecord(services, member.business.id, deliveryId);
  if (record === null) return refuse("not_found");
  if (record.event.dataSealed === null) return ok(await openDelivery(services, record, null));
  const payload = (await openEventPayloads(services, [record.event])).get(record.event.id);
  if (payload === undefined) return refuse("share_inactive");
  const opened = await openDelivery(services, record, payload);
  const id = record.settings.endpointId as WebhookId;
  await commitWebhookAudit(services, member, "webhook.delivery_revealed", id, { delivery_id: deliveryId });
  return ok(opened);
};
