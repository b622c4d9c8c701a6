// The steps that the owner takes to set up the demo business: completing the profile before the first certificate, adding two webhook
// endpoints later, and returning to the default event types at the end.
import type { MemberSession } from "../../core/access/session.ts";
import { optInEventTypes, standardEventTypes } from "../../core/events/event.ts";
import type { WebhookId } from "../../core/ids.ts";
import { dayMs, type Instant } from "../../core/time.ts";
import { updateAccount } from "../../workers/operations/portal/update-account.ts";
import { createWebhook } from "../../workers/operations/webhooks/create-webhook.ts";
import { listWebhooks } from "../../workers/operations/webhooks/list-webhooks.ts";
import { updateWebhook } from "../../workers/operations/webhooks/update-webhook.ts";
import { getValue, type Month, type Step } from "./month.ts";
import { receiverUrls } from "./receiver.ts";

const profile = {
  contactEmail: "privacy@acme-solar.example",
  contactPhone: "+1 916 555 0100",
  mailingAddress: "1 Demo Street, Testville, CA 94000, US",
  emitsIssued: true,
};

const endpoints = [
  {
    url: receiverUrls.crm,
    description: "CRM: withdrawals and shares",
    events: [...standardEventTypes, ...optInEventTypes],
  },
  { url: receiverUrls.dialer, description: "Dialer: stops calls after a withdrawal", events: null },
] as const;

const endpointAgeMs = 14 * dayMs; // deliveries for the whole month would take up a third of the replay time

export const listAccountSteps = ({ services, business, owner, now, signInOwner }: Month, setupAt: Instant): readonly Step[] => [
  {
    at: setupAt,
    run: async () => {
      getValue(await updateAccount(services, owner, profile));
    },
  },
  {
    at: now - endpointAgeMs,
    run: async () => {
      const member = await signInOwner();
      // Sequence the earlier events first, because an endpoint receives only events that are sequenced after it was added.
      await services.eventSequence(business.business.id, "live").drain();
      for (const settings of endpoints)
        getValue(await createWebhook(services, member, { ...settings, environment: "live", idempotencyKey: null }));
    },
  },
];

/**
 * Selects the default event types for the account and its endpoints, as for a new business. Call this after the events of the month have
 * been delivered, because an endpoint gets only the types that are selected at that time.
 */
export const selectDefaultEvents = async ({ services }: Month, owner: MemberSession): Promise<void> => {
  getValue(await updateAccount(services, owner, { emitsIssued: false }));
  for (const { endpoint } of await listWebhooks(services, owner))
    getValue(await updateWebhook(services, owner, endpoint.id as WebhookId, { events: null }));
};
