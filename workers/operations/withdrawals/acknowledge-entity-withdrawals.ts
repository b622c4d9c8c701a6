import type { BusinessScope } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeEntityCease, type CeaseDetails } from "../../../core/withdrawals/cease-acknowledgment.ts";
import { resolveNamedEntities, type WithdrawnEntity } from "../../../core/withdrawals/entity-withdrawal.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityAcknowledgement, isOutdatedAcknowledgement } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { locateWritableRecord, hasAcknowledged, type AcknowledgementRefusal } from "./locate-writable-record.ts";

export interface EntityAcknowledgement {
  readonly certId: CertId;
  /** Of the certificate as a whole; null while it is active. */
  readonly withdrawal: PublishedWithdrawal | null;
  /** Those that were named, each acknowledged. */
  readonly ceased: readonly (WithdrawnEntity & { readonly acknowledgedAt: Instant })[];
  readonly isRepeated: boolean;
}

const maxAttempts = 10;

// each time somebody else's acknowledgement came first

/** Of single recipients. Refuses likewise, `cease_not_open` also where one of them was not withdrawn from alone, and `invalid_request`. */
export const acknowledgeEntityWithdrawals = async (
  services: WriteDependencies,
  reader: BusinessScope,
  actor: Actor,
  certId: CertId,
  { entities, ...details }: CeaseDetails & { readonly entities: readonly string[] },
): Promise<Result<EntityAcknowledgement, AcknowledgementRefusal | "invalid_request">> => {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const located = await locateWritableRecord(services, reader, certId);
    if (!located.ok) return located;
    const { db, record } = located.value;
    const { certificate, withdrawal, entitiesWithdrawn } = record;
    const names = resolveNamedEntities(record, entities);
    if (!names.ok) return names;
    const named = entitiesWithdrawn.filter(({ entity }) => names.value.includes(entity));
    if (named.length < names.value.length) return refuse("cease_not_open");
    const open = named.filter((one) => !hasAcknowledged(one));
    if (open.length === 0) return ok({ certId, withdrawal, ceased: named.filter(hasAcknowledged), isRepeated: true });

    const now = services.clock();
    const fact = acknowledgeEntityCease({ certificate, ceased: open, actor, now });
    const number = Math.max(0, ...entitiesWithdrawn.map(({ acknowledgement }) => acknowledgement ?? 0)) + 1;
    const said = { number, entities: open.map(({ entity }) => entity), details, now };
    try {
      const rows = await insertEntityAcknowledgement(db, services.vault, { certId, businessId: certificate.businessId }, said);
      await commit(db, services, rows, [fact]);
    } catch (error) {
      if (!isOutdatedAcknowledgement(error)) throw error;
      continue; // somebody else acknowledged in the meantime: what is left is decided anew
    }
    const ceased = named.map((one) => ({ ...one, acknowledgedAt: one.acknowledgedAt ?? now }));
    return ok({ certId, withdrawal, ceased, isRepeated: false });
  }
  throw new StorageFault("outage"); // other acknowledgements kept coming first: nothing was written
};
