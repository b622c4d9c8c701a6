// The person answers the mailed code, which withdraws.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, type Result } from "../../../core/result.ts";
import { judgeAnswer } from "../../../core/withdrawals/answer.ts";
import { namedEntities } from "../../../core/withdrawals/entities.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { answeredCode } from "../access/mailed-codes.ts";
import { askerAbout } from "./asker.ts";
import { codeBinding, commitByPerson, isForeign, locateRecord, type PersonRefusal, type Withdrawn } from "./by-person.ts";
import { commitEntitiesByPerson } from "./withdraw-entities.ts";

export interface CodeAnswer {
  readonly certId: CertId;
  readonly email: string;
  readonly code: string;
  /** The secret of the browser that answers; null when it never asked for a code. */
  readonly context: string | null;
  readonly scope: WithdrawalScope;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  /** The site the browser names, where it names one. */
  readonly origin: string | null;
}

/**
 * A try is spent before anything is compared; address and code are judged together. Refuses `opt_out_failed` for everything
 * that is not the right pair, and `already_revoked` for the right pair only.
 */
export const confirmWithdrawal = async (
  services: Runtime & Stores & Proofs & Schedules,
  answer: CodeAnswer,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const found = await locateRecord(services, answer.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  if (isForeign(services, record, answer.origin)) return refuse("forbidden");
  const named = answer.entities === null ? null : namedEntities(record, answer.entities); // the names are public: no try is spent
  if (named?.ok === false) return named;
  const { addressIndex, asker } = await askerAbout(services, record, answer.email, answer.context);
  const { withdrawal: limits } = mailedCodeLimits;
  const answered = await answeredCode(services, db, asker, { limits, binding: codeBinding, code: answer.code });
  const judged = judgeAnswer({
    addressOnCertificate: record.emailIndex,
    addressGiven: addressIndex,
    isCode: answered !== null,
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  return answer.entities === null
    ? commitByPerson(services, found, { method: "email_code", scope: answer.scope })
    : commitEntitiesByPerson(services, found, { method: "email_code", entities: answer.entities });
};
