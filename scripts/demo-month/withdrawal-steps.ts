// Withdraws consent during the demo month, and acknowledges the withdrawals.
import { actorFromApiKey } from "../../core/access/principal.ts";
import { minuteMs } from "../../core/time.ts";
import { acknowledgeEntityWithdrawals } from "../../workers/operations/withdrawals/acknowledge-entity-withdrawals.ts";
import { acknowledgeWithdrawal } from "../../workers/operations/withdrawals/acknowledge-withdrawal.ts";
import { recordWithdrawal } from "../../workers/operations/withdrawals/record-withdrawal.ts";
import { withdrawByLink } from "../../workers/operations/withdrawals/withdraw-by-link.ts";
import { getReceipt, getValue, type IssuedLead, type Month, type Step } from "./month.ts";
import { namedRecipient, planWithdrawals, type PlannedWithdrawal } from "./withdrawal-plan.ts";

const details = {
  note: "Removed from the call list and the CRM.",
  acknowledgedBy: "Dana Whitfield",
  actions: ["removed from CRM", "added to do-not-call list"],
};

/** Withdraws consent with the token in the withdrawal link from the form's response. */
export const withdrawWithLink = async ({ services }: Month, issued: IssuedLead, entities: readonly string[] | null): Promise<void> => {
  const { certId, manageUrl } = getReceipt(issued);
  const token = new URL(manageUrl).hash.slice("#m=".length);
  getValue(await withdrawByLink(services, { certId, token, scope: "certificate", entities, origin: null, language: "en" }));
};

const withdrawStep = (month: Month, issued: IssuedLead, { at, kind }: PlannedWithdrawal): Step => ({
  at,
  run: async () => {
    if (kind !== "phone") return withdrawWithLink(month, issued, kind === "recipient" ? [namedRecipient] : null);
    const business = await month.authenticate("live");
    const request = { receivedAt: at - 20 * minuteMs, note: "Called the office.", scope: null, entities: null, idempotencyKey: null };
    getValue(await recordWithdrawal(month.services, business, getReceipt(issued).certId, { channel: "phone", ...request }));
  },
});

const acknowledgeSteps = (month: Month, issued: IssuedLead, { kind, acknowledgedAt }: PlannedWithdrawal): readonly Step[] => {
  if (acknowledgedAt === null) return [];
  const { services, authenticate } = month;
  const run = async (): Promise<void> => {
    const business = await authenticate("live");
    const actor = actorFromApiKey(business);
    const { certId } = getReceipt(issued);
    const named = { ...details, entities: [namedRecipient] };
    if (kind === "recipient") getValue(await acknowledgeEntityWithdrawals(services, business, actor, certId, named));
    else getValue(await acknowledgeWithdrawal(services, business, actor, certId, details));
  };
  return [{ at: acknowledgedAt, run }];
};

export const listWithdrawalSteps = (month: Month, leads: readonly IssuedLead[]): readonly Step[] =>
  planWithdrawals(
    leads.map(({ lead }) => lead),
    month.now,
  ).flatMap((planned) => {
    const issued = leads[planned.lead] as IssuedLead;
    return [withdrawStep(month, issued, planned), ...acknowledgeSteps(month, issued, planned)];
  });
