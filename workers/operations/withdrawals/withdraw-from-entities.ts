// Withdrawing from single recipients of one certificate, by the person or as the business recorded it; with the last of them the
// certificate is withdrawn.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { resolveNamedEntities, listActiveEntities, decideEntityWithdrawal } from "../../../core/withdrawals/entity-withdrawal.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityWithdrawal, isOutdatedEntityWithdrawal } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertOwnerMails } from "../../../storage/owners.ts";
import { findWithdrawable } from "../../../storage/withdrawals.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { prepareConfirmationMail } from "./confirmation-mail.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate, type WithdrawalRequest, type WithdrawalResult } from "./withdraw-certificate.ts";

/** One try, on the record as it was read. */
const commitEntityWithdrawal = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  { change, language, more }: WithdrawalRequest,
  entities: readonly string[],
): Promise<WithdrawalResult> => {
  const { vault, signer } = services;
  const { certificate, entitiesWithdrawn } = record;
  const { id: certId, businessId } = certificate;
  const now = services.clock();
  const number = (entitiesWithdrawn.at(-1)?.number ?? 0) + 1;
  const emitsEvent = record.isToldAll;
  const { withdrawal, receipt, domainEvent } = decideEntityWithdrawal({ certificate, change, number, entities, emitsEvent, now });
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(receipt) };
  const data = { certId, entities, ceaseBy: withdrawal.ceaseBy };
  const mails = await insertOwnerMails(db, vault, businessId, { template: "entities_owner_notice", data, now });
  const confirmed = { change, language, scope: "certificate", entities: { number, names: entities }, now } as const;
  const { withdrawnAt, ceaseBy, method, recorded } = withdrawal;
  const receivedAt = recorded?.receivedAt ?? null;
  const act = { number, withdrawnAt, ceaseBy, method, receivedAt, acknowledgedAt: null, acknowledgement: null };
  const withdrawn: WithdrawalResult = {
    certId,
    withdrawnAt,
    ceaseBy,
    fromEntities: entities.map((entity) => ({ entity, ...act })),
    withdrawal: null,
  };
  const rows = [
    ...(await prepareConfirmationMail(services, db, record, confirmed)),
    ...(await insertEntityWithdrawal(db, vault, { certId, businessId }, withdrawal, { text: receipt, signature })),
    ...((await more?.(withdrawn)) ?? []),
    ...mails,
  ];
  await commit(db, services, rows, [domainEvent]);
  services.scheduleMail();
  return withdrawn;
};

const maxAttempts = 10; // each time somebody else's act came first; more at once is not one person

/** Refuses `invalid_request` (somebody is no recipient here) and `already_revoked` (all of them are withdrawn from already). */
export const withdrawFromEntities = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  { entities, ...act }: WithdrawalRequest & { readonly entities: readonly string[] },
): Promise<Result<WithdrawalResult, "invalid_request" | "already_revoked">> => {
  const named = resolveNamedEntities(record, entities);
  if (!named.ok) return named;
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (current.certificate.status === "revoked") return refuse("already_revoked");
    const standing = listActiveEntities(current);
    const chosen = named.value.filter((name) => standing.includes(name));
    if (chosen.length === 0) return refuse("already_revoked");
    if (chosen.length === standing.length)
      return withdrawCertificate(services, { db, record: current }, { ...act, scope: "certificate", address: null });
    try {
      return ok(await commitEntityWithdrawal(services, { db, record: current }, act, chosen));
    } catch (error) {
      if (!isOutdatedEntityWithdrawal(error)) throw error;
      const again = await findWithdrawable(db, current.certificate.id);
      if (again === null) throw error;
      current = again;
    }
  }
  throw new StorageFault("outage"); // other acts kept coming first: nothing was written
};
