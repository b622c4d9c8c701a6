// The steps that the owner takes to set up the demo business before the first certificate: completing the profile and adding two webhook
// endpoints.
import type { EventType } from "../../core/events/event.ts";
import type { Instant } from "../../core/time.ts";
import { updateAccount } from "../../workers/operations/portal/update-account.ts";
import { createWebhook } from "../../workers/operations/webhooks/create-webhook.ts";
import { getValue, type Month, type Step } from "./month.ts";
import { receiverUrls } from "./receiver.ts";

const profile = {
  contactEmail: "privacy@acme-solar.example",
  contactPhone: "+1 916 555 0100",
  mailingAddress: "1 Demo Street, Testville, CA 94000, US",
};

const stopTypes: readonly EventType[] = ["certificate.revoked", "share.expired", "share.revoked"];

const endpoints = [
  { url: receiverUrls.crm, description: "CRM: withdrawals and shares", events: null },
  { url: receiverUrls.dialer, description: "Dialer: stops calls after a withdrawal", events: stopTypes },
] as const;

export const listAccountSteps = ({ services, owner }: Month, setupAt: Instant): readonly Step[] => [
  {
    at: setupAt,
    run: async () => {
      getValue(await updateAccount(services, owner, profile));
      for (const settings of endpoints)
        getValue(await createWebhook(services, owner, { ...settings, environment: "live", idempotencyKey: null }));
    },
  },
];
