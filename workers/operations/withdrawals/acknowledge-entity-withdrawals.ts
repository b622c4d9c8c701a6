// Implements POST /v1/certs/{id}/cease-ack with `entities`. Records that individual recipients have stopped contact.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeEntityCease, type CeaseDetails } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { resolveNamedEntities, type WithdrawnEntity } from "../../../core/withdrawals/entity-withdrawal.ts";
import { commit, retryOnConflict } from "../../../storage/commit.ts";
import { insertEntityAcknowledgement, isOutdatedAcknowledgement } from "../../../storage/entity-withdrawals.ts";
import { locateWritableRecord, hasAcknowledged, type AcknowledgementRefusal } from "./locate-writable-record.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";

export interface EntityAcknowledgement {
  readonly certId: CertId;
  /** The withdrawal of the whole certificate; null while the certificate is active. */
  readonly withdrawal: PublishedWithdrawal | null;
  /** The named recipients, each with its acknowledgment. */
  readonly ceased: readonly (WithdrawnEntity & { readonly acknowledgedAt: Instant })[];
  readonly isRepeated: boolean;
}

const maxAttempts = 10; // an attempt fails only if another acknowledgment for the same certificate is committed first

/**
 * Records that the named recipients have stopped contact. A recipient that was already acknowledged keeps its first acknowledgment (SPEC
 * Withdrawal). Returns the first of these errors that applies:
 * - the errors of `authorizeWrite`
 * - `cert_not_found`
 * - `invalid_request` for a name that is not a recipient
 * - `cease_not_open` unless the person has withdrawn consent for all of these recipients
 * - `storage_unavailable` after 10 failed attempts
 */
export const acknowledgeEntityWithdrawals = (
  services: WithdrawalWriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  { entities, ...details }: CeaseDetails & { readonly entities: readonly string[] },
): Promise<Result<EntityAcknowledgement, AcknowledgementRefusal | "invalid_request" | "storage_unavailable">> =>
  retryOnConflict(
    [isOutdatedAcknowledgement],
    async () => {
      const located = await locateWritableRecord(services, reader, certId);
      if (!located.ok) return located;
      const { db, record } = located.value;
      const { certificate, withdrawal, entitiesWithdrawn } = record;
      const names = resolveNamedEntities(record, entities);
      if (!names.ok) return names;
      const named = entitiesWithdrawn.filter(({ entity }) => names.value.includes(entity));
      if (named.length < names.value.length) return refuse("cease_not_open");
      const open = named.filter((entity) => !hasAcknowledged(entity));
      if (open.length === 0) return ok({ certId, withdrawal, ceased: named.filter(hasAcknowledged), isRepeated: true });

      const now = services.clock();
      const domainEvent = acknowledgeEntityCease({ certificate, ceased: open, actor, now });
      const number = Math.max(0, ...entitiesWithdrawn.map((entity) => entity.acknowledgement ?? 0)) + 1;
      const acknowledgement = { number, entities: open.map(({ entity }) => entity), details, now };
      const statements = await insertEntityAcknowledgement(
        db,
        services.vault,
        { certId, businessId: certificate.businessId },
        acknowledgement,
      );
      await commit(db, services, statements, [domainEvent]);
      const ceased = named.map((entity) => ({ ...entity, acknowledgedAt: entity.acknowledgedAt ?? now }));
      return ok({ certId, withdrawal, ceased, isRepeated: false });
    },
    maxAttempts,
  );
