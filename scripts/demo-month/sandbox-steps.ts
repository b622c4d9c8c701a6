// Creates test data in the demo month: a few test certificates, including two withdrawn ones, and shares by test people.
import { actorFromApiKey } from "../../core/access/principal.ts";
import type { ClientId } from "../../core/ids.ts";
import { dayMs, hourMs } from "../../core/time.ts";
import { shareAsTestPerson } from "../../workers/operations/sandbox/share-as-test-person.ts";
import { acknowledgeWithdrawal } from "../../workers/operations/withdrawals/acknowledge-withdrawal.ts";
import { issueStep } from "./certificate-steps.ts";
import { createLead } from "./leads.ts";
import { getReceipt, getValue, type IssuedLead, type Month, type Step } from "./month.ts";
import { withdrawWithLink } from "./withdrawal-steps.ts";

const certificateDaysAgo = [29.1, 28.9, 28.4, 22.2, 16.3, 9.4, 3.3, 1.2];
const shareDaysAgo = [27.5, 8.2];

const withdrawStep = (month: Month, issued: IssuedLead): Step => ({
  at: issued.lead.at + 3 * hourMs,
  run: () => withdrawWithLink(month, issued, null),
});

const acknowledgeStep = ({ services, authenticate }: Month, issued: IssuedLead): Step => ({
  at: issued.lead.at + 4 * hourMs,
  run: async () => {
    const tester = await authenticate("sandbox");
    const details = { note: null, acknowledgedBy: null, actions: [] };
    getValue(await acknowledgeWithdrawal(services, tester, actorFromApiKey(tester), getReceipt(issued).certId, details));
  },
});

export const listSandboxSteps = (month: Month, clientId: ClientId): readonly Step[] => {
  const { services, authenticate, now, dice } = month;
  const leads = certificateDaysAgo.map(
    (daysAgo): IssuedLead => ({ lead: createLead(now - daysAgo * dayMs, dice, "/quote"), receipt: null }),
  );
  const [first, last] = [leads[0], leads.at(-1)] as [IssuedLead, IssuedLead];
  return [
    ...leads.map((issued) => issueStep(month, issued, clientId)),
    ...[first, last].map((issued) => withdrawStep(month, issued)),
    acknowledgeStep(month, first),
    ...shareDaysAgo.map((daysAgo) => ({
      at: now - daysAgo * dayMs,
      run: async () => {
        getValue(
          await shareAsTestPerson(services, await authenticate("sandbox"), { durationDays: 90, requestId: `req_${crypto.randomUUID()}` }),
        );
      },
    })),
  ];
};
