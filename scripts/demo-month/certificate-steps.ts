// Issues the certificates of the demo month. Also simulates visits to their public pages, and the owner opening some of them in the portal.
import { dayMs, hourMs, minuteMs, type Instant } from "../../core/time.ts";
import { captureConsent } from "../../workers/operations/certificates/capture-consent.ts";
import { getCertificate } from "../../workers/operations/certificates/get-certificate.ts";
import { getCertificatePage } from "../../workers/operations/certificates/get-certificate-page.ts";
import { resolveSubmissionClient } from "../../workers/operations/certificates/resolve-submission-client.ts";
import { listLeadTimes } from "./calendar.ts";
import { createLead, pickVisitor, siteOrigin } from "./leads.ts";
import { getReceipt, getValue, type IssuedLead, type Month, type Step } from "./month.ts";

const viewedShare = 0.12;
const linkPreview = { ip: "192.0.2.10", userAgent: "Mozilla/5.0 (compatible; LinkPreviewBot/1.0; +https://preview.example/bot)" };

export const issueStep = ({ services, site }: Month, issued: IssuedLead, clientId: Month["clientId"]): Step => ({
  at: issued.lead.at,
  run: async () => {
    const { at, submission, circumstances } = issued.lead;
    // Skips the work after the response, which would only copy the account to KV. The running service does that at its first submission.
    const issuing = { ...site.withCapturedPolicies(services, at), waitUntil: () => {} };
    const client = await resolveSubmissionClient(services, clientId, siteOrigin);
    const request = { client, submission, originHeader: siteOrigin, circumstances, idempotencyKey: null, caller: null };
    issued.receipt = getValue(await captureConsent(issuing, request)).receipt;
  },
});

/** Simulates up to three visits to the certificate's public page, by people or link preview bots. Most certificates get none. */
const viewSteps = ({ services, dice, now }: Month, issued: IssuedLead): readonly Step[] => {
  if (dice.roll() > viewedShare) return [];
  const count = 1 + Math.floor(dice.roll() * 3);
  return Array.from({ length: count }, (_, view) => {
    const visitor = dice.roll() < 0.15 ? linkPreview : pickVisitor(dice);
    return {
      at: Math.floor(issued.lead.at + minuteMs + (view + dice.roll()) * dayMs),
      run: async () => {
        getValue(await getCertificatePage(services, getReceipt(issued).certId, { ...visitor, isPrefetch: false }));
      },
    };
  }).filter(({ at }) => at < now);
};

/** Opens a certificate in the portal as the owner. The audit log records this. */
const readStep = ({ services, owner }: Month, issued: IssuedLead, at: Instant): Step => ({
  at,
  run: async () => {
    const reader = { business: owner.business, environment: "live" } as const;
    getValue(await getCertificate(services, reader, { kind: "member", id: owner.userId }, getReceipt(issued).certId));
  },
});

export const createLeads = ({ now, dice }: Pick<Month, "now" | "dice">): readonly IssuedLead[] =>
  listLeadTimes(now, dice).map((at): IssuedLead => ({ lead: createLead(at, dice), receipt: null }));

export const listCertificateSteps = (month: Month, leads: readonly IssuedLead[]): readonly Step[] =>
  [
    ...leads.map((issued) => issueStep(month, issued, month.clientId)),
    ...leads.flatMap((issued) => viewSteps(month, issued)),
    ...leads.filter((_, at) => at % 40 === 7).map((issued) => readStep(month, issued, issued.lead.at + 2 * hourMs)),
  ].filter(({ at }) => at < month.now);
