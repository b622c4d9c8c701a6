// The business says that it has ceased contact: once a certificate, and once a recipient that the person withdrew from alone. A second
// time answers with the first.
import { mayWrite } from "../../../core/access/entitlement.ts";
import type { Reader } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { acknowledgeCease, acknowledgeEntities, type CeaseDetails } from "../../../core/withdrawals/acknowledge.ts";
import { namedEntities, type WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityAcknowledgement, isOutdatedAcknowledgement } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertAcknowledgement, isAcknowledgedAlready } from "../../../storage/withdrawals.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { locateOwnRecord, type LocatedRecord } from "./withdraw.ts";

export interface Ceased {
  readonly certId: CertId;
  readonly withdrawal: PublishedWithdrawal & { readonly acknowledgedAt: Instant };
  readonly isRepeated: boolean;
}

export interface EntitiesCeased {
  readonly certId: CertId;
  /** Of the certificate as a whole; null while it is active. */
  readonly withdrawal: PublishedWithdrawal | null;
  /** Those that were named, each acknowledged. */
  readonly ceased: readonly (WithdrawnEntity & { readonly acknowledgedAt: Instant })[];
  readonly isRepeated: boolean;
}

type CeaseRefusal = "cert_not_found" | "cease_not_open" | "subscription_past_due" | "business_suspended" | "business_inactive";

/** Writing, so not while a payment is due. */
const locateWritable = async (services: Stores, reader: Reader, certId: CertId): Promise<Result<LocatedRecord, CeaseRefusal>> => {
  const writable = mayWrite(reader.business.status);
  if (!writable.ok) return writable;
  const located = await locateOwnRecord(services, reader, certId);
  return located === null ? refuse("cert_not_found") : ok(located);
};

const hasAcknowledged = <T extends { readonly acknowledgedAt: Instant | null }>(one: T): one is T & { readonly acknowledgedAt: Instant } =>
  one.acknowledgedAt !== null;

/** Refuses writing while a payment is due, then cert_not_found, then cease_not_open (nobody has withdrawn). */
export const acknowledgeWithdrawal = async (
  services: Runtime & Stores & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  details: CeaseDetails,
  keep?: Keeping<Ceased>,
): Promise<Result<Ceased, CeaseRefusal>> => {
  const located = await locateWritable(services, reader, certId);
  if (!located.ok) return located;
  const { db, record } = located.value;
  const { certificate, withdrawal } = record;
  if (withdrawal === null) return refuse("cease_not_open");
  if (hasAcknowledged(withdrawal)) return ok({ certId, withdrawal, isRepeated: true });

  const now = services.clock();
  const fact = acknowledgeCease({ certificate, ceaseBy: withdrawal.ceaseBy, actor, now });
  const ceased: Ceased = { certId, withdrawal: { ...withdrawal, acknowledgedAt: now }, isRepeated: false };
  try {
    const of = { certId, businessId: certificate.businessId };
    const rows = await insertAcknowledgement(db, services.vault, of, details, now);
    await commit(db, services, [...rows, ...((await keep?.(ceased)) ?? [])], [fact]);
  } catch (error) {
    if (!isAcknowledgedAlready(error)) throw error;
    const again = (await locateOwnRecord(services, reader, certId))?.record.withdrawal ?? null;
    return again !== null && hasAcknowledged(again) ? ok({ certId, withdrawal: again, isRepeated: true }) : refuse("cease_not_open");
  }
  return ok(ceased);
};

const maxAttempts = 10; // each time somebody else's acknowledgement came first

/** Of single recipients. Refuses likewise, `cease_not_open` also where one of them was not withdrawn from alone, and `invalid_request`. */
export const acknowledgeSingle = async (
  services: Runtime & Stores & Schedules,
  reader: Reader,
  actor: Actor,
  certId: CertId,
  { entities, ...details }: CeaseDetails & { readonly entities: readonly string[] },
): Promise<Result<EntitiesCeased, CeaseRefusal | "invalid_request">> => {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const located = await locateWritable(services, reader, certId);
    if (!located.ok) return located;
    const { db, record } = located.value;
    const { certificate, withdrawal, entitiesWithdrawn } = record;
    const names = namedEntities(record, entities);
    if (!names.ok) return names;
    const named = entitiesWithdrawn.filter(({ entity }) => names.value.includes(entity));
    if (named.length < names.value.length) return refuse("cease_not_open");
    const open = named.filter((one) => !hasAcknowledged(one));
    if (open.length === 0) return ok({ certId, withdrawal, ceased: named.filter(hasAcknowledged), isRepeated: true });

    const now = services.clock();
    const fact = acknowledgeEntities({ certificate, ceased: open, actor, now });
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
