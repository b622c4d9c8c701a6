// The business says of single recipients, which the person withdrew from alone, that they have ceased contact. Once a recipient.
import { mayWrite } from "../../../core/access/entitlement.ts";
import type { Reader } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeEntities, type CeaseDetails } from "../../../core/withdrawals/acknowledge.ts";
import { namedEntities, type WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityAcknowledgement, isOutdatedAcknowledgement } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { CeaseRefusal } from "./acknowledge-cease.ts";
import { locateOwnRecord } from "./withdraw-certificate.ts";

export interface EntitiesCeased {
  readonly certId: CertId;
  /** Of the certificate as a whole; null while it is active. */
  readonly withdrawal: PublishedWithdrawal | null;
  /** Those that were named, each acknowledged. */
  readonly ceased: readonly (WithdrawnEntity & { readonly acknowledgedAt: Instant })[];
  readonly isRepeated: boolean;
}

const isAcknowledged = (one: WithdrawnEntity): one is EntitiesCeased["ceased"][number] => one.acknowledgedAt !== null;

const maxAttempts = 10; // each time somebody else's acknowledgement came first

/** Refuses as `acknowledgeWithdrawal`, `cease_not_open` also where one of them was not withdrawn from alone, and `invalid_request`. */
export const acknowledgeSingle = async (
  services: Runtime & Stores & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  { entities, ...details }: CeaseDetails & { readonly entities: readonly string[] },
): Promise<Result<EntitiesCeased, CeaseRefusal | "invalid_request">> => {
  const writable = mayWrite(reader.business.status);
  if (!writable.ok) return writable;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const located = await locateOwnRecord(services, reader, certId);
    if (located === null) return refuse("cert_not_found");
    const { db, record } = located;
    const { certificate, withdrawal, entitiesWithdrawn } = record;
    const names = namedEntities(record, entities);
    if (!names.ok) return names;
    const named = entitiesWithdrawn.filter(({ entity }) => names.value.includes(entity));
    if (named.length < names.value.length) return refuse("cease_not_open");
    const open = named.filter((one) => !isAcknowledged(one));
    if (open.length === 0) return ok({ certId, withdrawal, ceased: named.filter(isAcknowledged), isRepeated: true });

    const now = services.clock();
    const fact = acknowledgeEntities({ certificate, ceased: open, actor, now });
    const number = Math.max(0, ...entitiesWithdrawn.map(({ acknowledgement }) => acknowledgement ?? 0)) + 1;
    const said = { number, entities: open.map(({ entity }) => entity), details, now };
    const { vault, config } = services;
    try {
      const rows = await insertEntityAcknowledgement(db, vault, { certId, businessId: certificate.businessId }, said);
      await commit({ db, vault, ledgerId: config.ledger.id }, rows, [fact]);
    } catch (error) {
      if (!isOutdatedAcknowledgement(error)) throw error;
      continue; // somebody else acknowledged in the meantime: what is left is decided anew
    }
    services.scheduleFollowUp();
    const ceased = named.map((one) => ({ ...one, acknowledgedAt: one.acknowledgedAt ?? now }));
    return ok({ certId, withdrawal, ceased, isRepeated: false });
  }
  throw new StorageFault("outage"); // other acknowledgements kept coming first: nothing was written
};
