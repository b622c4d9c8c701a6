import { generateId, firstShard, type BusinessId, type WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { toCallOutcome, toOutcome, type CallOutcome } from "./call-outcome.ts";
import { findEventSequence } from "./find-event-sequence.ts";
import { sendEvent } from "./send-event.ts";

/** `test.ping`: an event that is stored nowhere. Refuses `not_found`. */
export const testEndpoint = async (
  services: WebhookDependencies,
  businessId: BusinessId,
  endpointId: WebhookId,
): Promise<Result<CallOutcome, "not_found">> => {
  const held = await findEventSequence(services, businessId, endpointId);
  if (held === null) return refuse("not_found");
  const { settings } = held;
  const ping = {
    id: crypto.randomUUID(),
    type: "test.ping",
    createdAt: services.clock(),
    shareId: null,
    certId: null,
    dataSealed: null,
    seq: 0,
  };
  const deliveryId = generateId("dlv_", firstShard, services.random);
  const sent = await sendEvent(services, { settings, event: ping, deliveryId, attempt: 1 });
  if (sent.kind === "cancelled") throw new Error("webhook: a test carries nothing that could be withheld");
  return ok(toCallOutcome(toOutcome(sent)));
};
