// The person withdraws from single recipients of one certificate; who names the last of them withdraws the certificate.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { namedEntities, standingEntities, withdrawEntities, type PersonMethod } from "../../../core/withdrawals/entities.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityWithdrawal, isOutdatedAct } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ownerAddresses } from "../../../storage/owners.ts";
import { forgetFailures } from "../../../storage/mailed-codes.ts";
import { withdrawableById } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { commitByPerson, provedAddress, type LocatedRecord, type Withdrawn } from "./by-person.ts";
import { afterWithdrawal } from "./commit-withdrawals.ts";

interface Change {
  readonly method: PersonMethod;
  /** As the person named them. */
  readonly entities: readonly string[];
}

/** One try, on the record as it was read. */
const commitEntities = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  method: PersonMethod,
  entities: readonly string[],
): Promise<Withdrawn> => {
  const { vault, signer, config } = services;
  const { certificate, emailIndex, entitiesWithdrawn } = record;
  const now = services.clock();
  const number = (entitiesWithdrawn.at(-1)?.number ?? 0) + 1;
  const { withdrawal, receipt, fact } = withdrawEntities({ certificate, number, entities, method, isTold: record.isToldAll, now });
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(receipt) };
  const owners = await ownerAddresses(db, vault, certificate.businessId);
  const data = { cert_id: certificate.id, entities, cease_by: withdrawal.ceaseBy };
  const mails = await Promise.all(owners.map((to) => insertMail(db, vault, { template: "entities_owner_notice", data, to, now })));
  const forgotten = emailIndex === null ? [] : [forgetFailures(db, provedAddress(certificate, emailIndex))];
  const act = insertEntityWithdrawal(db, certificate.id, withdrawal, { text: receipt, signature });
  await commit({ db, vault, ledgerId: config.ledger.id }, [...act, ...forgotten, ...mails.flat()], [fact]);
  afterWithdrawal(services, certificate);
  const { withdrawnAt, ceaseBy } = withdrawal;
  return {
    certId: certificate.id,
    withdrawnAt,
    ceaseBy,
    fromEntities: entities.map((entity) => ({ entity, number, withdrawnAt, ceaseBy })),
  };
};

const maxAttempts = 10; // each time somebody else's act came first; more at once is not one person

/** Refuses `invalid_request` (somebody is no recipient here) and `already_revoked` (all of them are withdrawn from already). */
export const commitEntitiesByPerson = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  { method, entities }: Change,
): Promise<Result<Withdrawn, "invalid_request" | "already_revoked">> => {
  const named = namedEntities(record, entities);
  if (!named.ok) return named;
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (current.certificate.status === "revoked") return refuse("already_revoked");
    const standing = standingEntities(current);
    const chosen = named.value.filter((name) => standing.includes(name));
    if (chosen.length === 0) return refuse("already_revoked");
    if (chosen.length === standing.length) return commitByPerson(services, { db, record: current }, { method, scope: "certificate" });
    try {
      return ok(await commitEntities(services, { db, record: current }, method, chosen));
    } catch (error) {
      if (!isOutdatedAct(error)) throw error;
      const again = await withdrawableById(db, current.certificate.id);
      if (again === null) throw error;
      current = again;
    }
  }
  throw new StorageFault("outage"); // other acts kept coming first: nothing was written
};
