// Implements POST /v1/certs/{id}/cease-ack. Records that the business has stopped contact after a withdrawal of consent.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeCease, type CeaseDetails } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import { insertAcknowledgement, isAlreadyAcknowledged } from "../../../storage/withdrawals.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateWritableRecord, hasAcknowledged, type AcknowledgementRefusal } from "./locate-writable-record.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";

export interface WithdrawalAcknowledgement {
  readonly certId: CertId;
  readonly withdrawal: PublishedWithdrawal & { readonly acknowledgedAt: Instant };
  readonly isRepeated: boolean;
}

/**
 * Records the acknowledgment. A second acknowledgment changes nothing and returns the first one (SPEC Withdrawal). Returns the first of
 * these errors that applies: the errors of `authorizeWrite`, `cert_not_found`, `cease_not_open` if the certificate is active,
 * `storage_unavailable` after three failed attempts.
 */
export const acknowledgeWithdrawal = (
  services: WithdrawalWriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  details: CeaseDetails,
  saveIdempotentResponse: SaveIdempotentResponse<WithdrawalAcknowledgement> = async () => [],
): Promise<Result<WithdrawalAcknowledgement, AcknowledgementRefusal | "storage_unavailable">> =>
  // If another acknowledgment is committed first, the next attempt returns it.
  retryOnConflict([isAlreadyAcknowledged], async () => {
    const located = await locateWritableRecord(services, reader, certId);
    if (!located.ok) return located;
    const { db, record } = located.value;
    const { certificate, withdrawal } = record;
    if (withdrawal === null) return refuse("cease_not_open");
    if (hasAcknowledged(withdrawal)) return ok({ certId, withdrawal, isRepeated: true });

    const now = services.clock();
    const domainEvent = acknowledgeCease({ certificate, ceaseBy: withdrawal.ceaseBy, actor, now });
    const ceased: WithdrawalAcknowledgement = { certId, withdrawal: { ...withdrawal, acknowledgedAt: now }, isRepeated: false };
    const owned = { certId, businessId: certificate.businessId };
    const statements = await insertAcknowledgement(db, services.vault, owned, details, now);
    await commit(db, services, [...statements, ...(await saveIdempotentResponse(ceased))], [domainEvent]);
    return ok(ceased);
  });
