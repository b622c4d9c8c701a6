// Withdrawing from single recipients of one certificate, by the person or as the business recorded it; with the last of them the
// certificate is withdrawn.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { namedEntities, standingEntities, withdrawEntities } from "../../../core/withdrawals/entities.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityWithdrawal, isOutdatedAct } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { ownerMails } from "../../../storage/owners.ts";
import { withdrawableById } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { confirmationMail, withdrawCertificate, type Act, type LocatedRecord, type Withdrawn } from "./withdraw.ts";

/** One try, on the record as it was read. */
const commitEntities = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  { change, language, more }: Act,
  entities: readonly string[],
): Promise<Withdrawn> => {
  const { vault, signer } = services;
  const { certificate, entitiesWithdrawn } = record;
  const { id: certId, businessId } = certificate;
  const now = services.clock();
  const number = (entitiesWithdrawn.at(-1)?.number ?? 0) + 1;
  const { withdrawal, receipt, fact } = withdrawEntities({ certificate, change, number, entities, isTold: record.isToldAll, now });
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(receipt) };
  const data = { cert_id: certId, entities, cease_by: withdrawal.ceaseBy };
  const mails = await ownerMails(db, vault, businessId, { template: "entities_owner_notice", data, now });
  const confirmed = { change, language, scope: "certificate", entities: { number, names: entities }, now } as const;
  const { withdrawnAt, ceaseBy, method, recorded } = withdrawal;
  const receivedAt = recorded?.receivedAt ?? null;
  const act = { number, withdrawnAt, ceaseBy, method, receivedAt, acknowledgedAt: null, acknowledgement: null };
  const withdrawn: Withdrawn = {
    certId,
    withdrawnAt,
    ceaseBy,
    fromEntities: entities.map((entity) => ({ entity, ...act })),
    withdrawal: null,
  };
  const rows = [
    ...(await confirmationMail(services, db, record, confirmed)),
    ...(await insertEntityWithdrawal(db, vault, { certId, businessId }, withdrawal, { text: receipt, signature })),
    ...((await more?.(withdrawn)) ?? []),
    ...mails,
  ];
  await commit(db, services, rows, [fact]);
  services.scheduleMail();
  return withdrawn;
};

const maxAttempts = 10; // each time somebody else's act came first; more at once is not one person

/** Refuses `invalid_request` (somebody is no recipient here) and `already_revoked` (all of them are withdrawn from already). */
export const withdrawFromEntities = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  { entities, ...act }: Act & { readonly entities: readonly string[] },
): Promise<Result<Withdrawn, "invalid_request" | "already_revoked">> => {
  const named = namedEntities(record, entities);
  if (!named.ok) return named;
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (current.certificate.status === "revoked") return refuse("already_revoked");
    const standing = standingEntities(current);
    const chosen = named.value.filter((name) => standing.includes(name));
    if (chosen.length === 0) return refuse("already_revoked");
    if (chosen.length === standing.length)
      return withdrawCertificate(services, { db, record: current }, { ...act, scope: "certificate", address: null });
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
