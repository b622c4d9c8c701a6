// The business says that it has ceased contact. Once a certificate; a second time answers with the first.
import { mayWrite } from "../../../core/access/entitlement.ts";
import type { Reader } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeCease, type CeaseDetails } from "../../../core/withdrawals/acknowledge.ts";
import { commit } from "../../../storage/commit.ts";
import { insertAcknowledgement, isAcknowledgedAlready } from "../../../storage/withdrawals.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { locateOwnRecord } from "./withdraw-certificate.ts";

export interface Ceased {
  readonly certId: CertId;
  readonly withdrawal: PublishedWithdrawal & { readonly acknowledgedAt: Instant };
  readonly isRepeated: boolean;
}

export type CeaseRefusal = "cert_not_found" | "cease_not_open" | "subscription_past_due" | "business_suspended" | "business_inactive";

/** Refuses writing while a payment is due, then cert_not_found, then cease_not_open (nobody has withdrawn). */
export const acknowledgeWithdrawal = async (
  services: Runtime & Stores & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  details: CeaseDetails,
  keep?: Keeping<Ceased>,
): Promise<Result<Ceased, CeaseRefusal>> => {
  const writable = mayWrite(reader.business.status);
  if (!writable.ok) return writable;
  const load = () => locateOwnRecord(services, reader, certId);
  const located = await load();
  if (located === null) return refuse("cert_not_found");
  const { db, record } = located;
  const { certificate, withdrawal } = record;
  if (withdrawal === null) return refuse("cease_not_open");
  const repeated = (known: PublishedWithdrawal, acknowledgedAt: Instant): Result<Ceased, CeaseRefusal> =>
    ok({ certId, withdrawal: { ...known, acknowledgedAt }, isRepeated: true });
  if (withdrawal.acknowledgedAt !== null) return repeated(withdrawal, withdrawal.acknowledgedAt);

  const now = services.clock();
  const fact = acknowledgeCease({ certificate, ceaseBy: withdrawal.ceaseBy, actor, now });
  const ceased: Ceased = { certId, withdrawal: { ...withdrawal, acknowledgedAt: now }, isRepeated: false };
  const store = { db, vault: services.vault, ledgerId: services.config.ledger.id };
  try {
    const of = { certId, businessId: certificate.businessId };
    const rows = await insertAcknowledgement(db, services.vault, of, details, now);
    await commit(store, [...rows, ...((await keep?.(ceased)) ?? [])], [fact]);
  } catch (error) {
    if (!isAcknowledgedAlready(error)) throw error;
    const again = (await load())?.record.withdrawal;
    return again?.acknowledgedAt ? repeated(again, again.acknowledgedAt) : refuse("cease_not_open");
  }
  services.scheduleEvents(certificate.businessId, certificate.environment);
  services.scheduleFollowUp();
  return ok(ceased);
};
