// Withdrawing from single recipients of one certificate, by the person or as the business recorded it; with the last of them the
// certificate is withdrawn.
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import type { Instant } from "../../../core/time.ts";
import { namedEntities, standingEntities, withdrawEntities, type WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityWithdrawal, isOutdatedAct } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ownerAddresses } from "../../../storage/owners.ts";
import { withdrawableById } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { afterWithdrawal } from "./commit-withdrawals.ts";
import { confirmationMail } from "./confirmation-mail.ts";
import { withdrawCertificate, type Act, type LocatedRecord } from "./withdraw-certificate.ts";

export interface EntitiesWithdrawn {
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Those withdrawn from now; empty where it was the last of them, and the certificate is withdrawn. */
  readonly fromEntities: readonly WithdrawnEntity[];
  readonly withdrawal: PublishedWithdrawal | null;
}

/** One try, on the record as it was read. */
const commitEntities = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  { change, language, more }: Act,
  entities: readonly string[],
): Promise<EntitiesWithdrawn> => {
  const { vault, signer, config } = services;
  const { certificate, entitiesWithdrawn } = record;
  const now = services.clock();
  const number = (entitiesWithdrawn.at(-1)?.number ?? 0) + 1;
  const { withdrawal, receipt, fact } = withdrawEntities({ certificate, change, number, entities, isTold: record.isToldAll, now });
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(receipt) };
  const owners = await ownerAddresses(db, vault, certificate.businessId);
  const data = { cert_id: certificate.id, entities, cease_by: withdrawal.ceaseBy };
  const mails = await Promise.all(owners.map((to) => insertMail(db, vault, { template: "entities_owner_notice", data, to, now })));
  const confirmed = { change, language, scope: "certificate", entities: { number, names: entities }, now } as const;
  const { withdrawnAt, ceaseBy, method, recorded } = withdrawal;
  const common = {
    number,
    withdrawnAt,
    ceaseBy,
    method,
    receivedAt: recorded?.receivedAt ?? null,
    acknowledgedAt: null,
    acknowledgement: null,
  };
  const fromEntities = entities.map((entity) => ({ entity, ...common }));
  const rows = [
    ...(await confirmationMail(services, db, record, confirmed)),
    ...(await insertEntityWithdrawal(db, vault, { certId: certificate.id, businessId: certificate.businessId }, withdrawal, {
      text: receipt,
      signature,
    })),
    ...(await more({ number, withdrawnAt, ceaseBy, fromEntities })),
    ...mails.flat(),
  ];
  await commit({ db, vault, ledgerId: config.ledger.id }, rows, [fact]);
  afterWithdrawal(services, certificate);
  return { withdrawnAt, ceaseBy, withdrawal: null, fromEntities };
};

const maxAttempts = 10; // each time somebody else's act came first; more at once is not one person

/** Refuses `invalid_request` (somebody is no recipient here) and `already_revoked` (all of them are withdrawn from already). */
export const withdrawFromEntities = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  { entities, ...act }: Act & { readonly entities: readonly string[] },
): Promise<Result<EntitiesWithdrawn, "invalid_request" | "already_revoked">> => {
  const named = namedEntities(record, entities);
  if (!named.ok) return named;
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (current.certificate.status === "revoked") return refuse("already_revoked");
    const standing = standingEntities(current);
    const chosen = named.value.filter((name) => standing.includes(name));
    if (chosen.length === 0) return refuse("already_revoked");
    if (chosen.length === standing.length) {
      const whole = await withdrawCertificate(services, { db, record: current }, { ...act, scope: "certificate", address: null });
      if (!whole.ok) return whole;
      const { withdrawnAt, ceaseBy } = whole.value;
      return ok({ withdrawnAt, ceaseBy, fromEntities: [], withdrawal: whole.value });
    }
    try {
      return ok(await commitEntities(services, { db, record: current }, act, chosen));
    } catch (error) {
      if (!isOutdatedAct(error)) throw error;
      const again = await withdrawableById(db, current.certificate.id);
      if (again === null) throw error;
      current = again;
    }
  }
  throw new StorageFault("outage"); // other acts kept coming first: nothing was written
};
