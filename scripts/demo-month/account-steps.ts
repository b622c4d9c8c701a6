// What the owner of the demo business set up before the first certificate: the profile and two webhook endpoints.
import { optInEventTypes, standardEventTypes } from "../../core/events/event.ts";
import { minuteMs, type Instant } from "../../core/time.ts";
import { updateAccount } from "../../workers/operations/portal/update-account.ts";
import { createWebhook } from "../../workers/operations/webhooks/create-webhook.ts";
import { getValue, type Month, type Step } from "./month.ts";
import { receiverPaths } from "./receiver.ts";

const profile = {
  contactEmail: "privacy@acme-solar.example",
  contactPhone: "+1 916 555 0100",
  mailingAddress: "1 Demo Street, Testville, CA 94000, US",
  emitsIssued: true,
};

const endpoints = [
  { path: receiverPaths.crm, description: "CRM: leads, withdrawals and shares", events: [...standardEventTypes, ...optInEventTypes] },
  { path: receiverPaths.dialer, description: "Dialer: stops calls after a withdrawal", events: null },
] as const;

/** `siteBase` is the demo website, which receives the webhooks. */
export const listAccountSteps = ({ services, owner }: Month, at: Instant, siteBase: string): readonly Step[] => [
  {
    at,
    run: async () => {
      getValue(await updateAccount(services, owner, profile));
    },
  },
  ...endpoints.map(({ path, description, events }, number) => ({
    at: at + (number + 1) * 6 * minuteMs,
    run: async () => {
      const endpoint = { url: `${siteBase}${path}`, events, description, environment: "live", idempotencyKey: null } as const;
      getValue(await createWebhook(services, owner, endpoint));
    },
  })),
];
