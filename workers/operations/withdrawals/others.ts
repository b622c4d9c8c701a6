// The other certificates of a business that name the person, told only to who has proved the address; and the answer to a code on the
// page, which asks first how far it is meant where there are others.
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { batch } from "../../../storage/database.ts";
import { spendCode } from "../../../storage/mailed-codes.ts";
import { otherCertificates } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { codeBinding, judgeCode, mailedLinks, rightAnswer, withdrawProved, type CodeAnswer, type PersonRefusal } from "./by-person.ts";
import { locateRecord, type LocatedRecord } from "./withdraw.ts";

const shown = 20; // newest; more is not what one person looks through

export type OtherCertificates = Awaited<ReturnType<typeof otherCertificates>>;

/**
 * Those that stay active as things stand. After a withdrawal from everything the ones that were there then are withdrawn, or will be
 * in a moment: only what was given since counts.
 */
const othersOf = async ({ db, record }: LocatedRecord): Promise<OtherCertificates> => {
  const { certificate, emailIndex, withdrawal } = record;
  if (emailIndex === null) return { count: 0, newest: [] };
  const { id: certId, businessId, environment } = certificate;
  const issuedAfter = withdrawal?.scope === "business" ? withdrawal.withdrawnAt : null;
  return otherCertificates(db, { businessId, environment, address: { kind: "email", index: emailIndex } }, { certId, issuedAfter }, shown);
};

/** The same for who holds a link that was mailed. Null for every other token: what is not mailed to the address proves nothing about it. */
export const othersByLink = async (services: Runtime & Stores, certId: CertId, token: string): Promise<OtherCertificates | null> => {
  const located = await locateRecord(services, certId);
  if (located === null) return null;
  const given = sha256Hex(token);
  const mailed = await mailedLinks(services, located, services.clock());
  return mailed.some((hash) => isSameSecret(hash, given)) ? othersOf(located) : null;
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
  const judged = await judgeCode(services, answer);
  if (!judged.ok) return judged;
  const { located, codeId } = judged.value;
  const token = await services.vault.linkToken(codeBinding(codeId));
  if (answer.entities === null && (await othersOf(located)).count > 0) {
    const { db } = located;
    const [spent] = await batch(db, [
      spendCode(db, { codeId, sessionHash: sha256Hex(token), now: services.clock() }),
      ...rightAnswer(located),
    ]);
    return spent.meta.changes === 1 ? ok({ isWithdrawn: false, token }) : refuse("opt_out_failed");
  }
  const withdrawn = await withdrawProved(services, located, "email_code", answer);
  return withdrawn.ok ? ok({ isWithdrawn: true, token }) : withdrawn;
};
