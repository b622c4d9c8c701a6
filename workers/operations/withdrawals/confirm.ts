// The person answers the mailed code, which withdraws.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { judgeAnswer } from "../../../core/withdrawals/answer.ts";
import { namedEntities } from "../../../core/withdrawals/entities.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { batch } from "../../../storage/database.ts";
import { spendCode } from "../../../storage/mailed-codes.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { answeredCode } from "../access/mailed-codes.ts";
import { askerAbout } from "./asker.ts";
import {
  codeBinding,
  commitByPerson,
  commitEntitiesByPerson,
  isForeign,
  rightAnswer,
  type PersonRefusal,
  type Withdrawn,
} from "./by-person.ts";
import { othersOf } from "./others.ts";
import { locateRecord, type LocatedRecord } from "./withdraw-certificate.ts";

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
  /** Of the mail that confirms it. */
  readonly language: MailLanguage;
}

/**
 * A try is spent before anything is compared; address and code are judged together. Refuses `opt_out_failed` for everything
 * that is not the right pair, and `already_revoked` for the right pair only.
 */
const judgedAnswer = async (
  services: Runtime & Stores,
  answer: CodeAnswer,
): Promise<Result<{ readonly located: LocatedRecord; readonly codeId: string }, PersonRefusal>> => {
  const located = await locateRecord(services, answer.certId);
  if (located === null) return refuse("cert_not_found");
  const { db, record } = located;
  if (isForeign(services, record, answer.origin)) return refuse("forbidden");
  const named = answer.entities === null ? null : namedEntities(record, answer.entities); // the names are public: no try is spent
  if (named?.ok === false) return named;
  const { addressIndex, asker } = await askerAbout(services, record, answer.email, answer.context);
  const { withdrawal: limits } = mailedCodeLimits;
  const codeId = await answeredCode(services, db, asker, { limits, binding: codeBinding, code: answer.code });
  const judged = judgeAnswer({
    addressOnCertificate: record.emailIndex,
    addressGiven: addressIndex,
    isCode: codeId !== null,
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  return codeId === null ? refuse("opt_out_failed") : ok({ located, codeId });
};

const withdrawAsAnswered = (
  services: Runtime & Stores & Proofs & Schedules,
  located: LocatedRecord,
  { scope, entities, language }: CodeAnswer,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> =>
  entities === null
    ? commitByPerson(services, located, { method: "email_code", scope, language }, keep)
    : commitEntitiesByPerson(services, located, { method: "email_code", entities, language }, keep);

/** Refuses as above, and `invalid_request` for somebody who is no recipient. */
export const confirmWithdrawal = async (
  services: Runtime & Stores & Proofs & Schedules,
  answer: CodeAnswer,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const judged = await judgedAnswer(services, answer);
  return judged.ok ? withdrawAsAnswered(services, judged.value.located, answer, keep) : judged;
};

export interface Answered {
  /** False: the person is asked first how far it is meant. */
  readonly isWithdrawn: boolean;
  /** Of the link in the same mail: it proves the address from here on, in the place of the code. */
  readonly token: string;
}

/**
 * The answer on the page. Where other certificates of the business name the address, nothing is withdrawn yet: the code is spent,
 * once, on a proof with which the person chooses. Refuses as `confirmWithdrawal`; of two that answer the same code at once, one.
 */
export const answerOnPage = async (
  services: Runtime & Stores & Proofs & Schedules,
  answer: CodeAnswer,
): Promise<Result<Answered, PersonRefusal>> => {
  const judged = await judgedAnswer(services, answer);
  if (!judged.ok) return judged;
  const { located, codeId } = judged.value;
  const token = await services.vault.linkToken(codeBinding(codeId));
  if (answer.entities === null && (await othersOf(located)).count > 0) {
    const { db } = located;
    const [spent] = await batch(db, [
      spendCode(db, { codeId, sessionHash: sha256Hex(token), now: services.clock() }),
      ...(await rightAnswer(located)()),
    ]);
    return spent.meta.changes === 1 ? ok({ isWithdrawn: false, token }) : refuse("opt_out_failed");
  }
  const withdrawn = await withdrawAsAnswered(services, located, answer);
  return withdrawn.ok ? ok({ isWithdrawn: true, token }) : withdrawn;
};
