import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeCease, type CeaseDetails } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { commit } from "../../../storage/commit.ts";
import { insertAcknowledgement, isAlreadyAcknowledged } from "../../../storage/withdrawals.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateOwnRecord } from "./locate-record.ts";
import { locateWritableRecord, hasAcknowledged, type AcknowledgementRefusal } from "./locate-writable-record.ts";

export interface WithdrawalAcknowledgement {
  readonly certId: CertId;
  readonly withdrawal: PublishedWithdrawal & { readonly acknowledgedAt: Instant };
  readonly isRepeated: boolean;
}

/** Refuses writing while a payment is due, then cert_not_found, then cease_not_open (nobody has withdrawn). */
export const acknowledgeWithdrawal = async (
  services: WriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  details: CeaseDetails,
  keep?: SaveIdempotentResponse<WithdrawalAcknowledgement>,
): Promise<Result<WithdrawalAcknowledgement, AcknowledgementRefusal>> => {
  const located = await locateWritableRecord(services, reader, certId);
  if (!located.ok) return located;
  const { db, record } = located.value;
  const { certificate, withdrawal } = record;
  if (withdrawal === null) return refuse("cease_not_open");
  if (hasAcknowledged(withdrawal)) return ok({ certId, withdrawal, isRepeated: true });

  const now = services.clock();
  const fact = acknowledgeCease({ certificate, ceaseBy: withdrawal.ceaseBy, actor, now });
  const ceased: WithdrawalAcknowledgement = { certId, withdrawal: { ...withdrawal, acknowledgedAt: now }, isRepeated: false };
  try {
    const of = { certId, businessId: certificate.businessId };
    const rows = await insertAcknowledgement(db, services.vault, of, details, now);
    await commit(db, services, [...rows, ...((await keep?.(ceased)) ?? [])], [fact]);
  } catch (error) {
    if (!isAlreadyAcknowledged(error)) throw error;
    const again = (await locateOwnRecord(services, reader, certId))?.record.withdrawal ?? null;
    return again !== null && hasAcknowledged(again) ? ok({ certId, withdrawal: again, isRepeated: true }) : refuse("cease_not_open");
  }
  return ok(ceased);
};
