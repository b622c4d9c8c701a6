// The person withdraws: by the code that was mailed, or by a link, from the receipt of the form or from a mail. The state of the business's
// account is never asked: withdrawing is the person's.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import { rulesFor, verifyOrigin } from "../../../core/access/origins.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { isManageable, judgeAnswer, judgeToken, linkLifeMs } from "../../../core/withdrawals/answer.ts";
import { namedEntities } from "../../../core/withdrawals/entities.ts";
import { byPerson, type PersonMethod, type WithdrawableCertificate, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { codesMailedSince, forgetFailures, type Asker, type ProvedAddress } from "../../../storage/mailed-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { answeredCode, type Binding } from "../access/mailed-codes.ts";
import { locateRecord, withdrawCertificate, type LocatedRecord, type Withdrawn } from "./withdraw.ts";
import { withdrawFromEntities } from "./withdraw-entities.ts";

/** What the person wants, however they prove to be it. */
interface PersonAct {
  readonly certId: CertId;
  readonly scope: WithdrawalScope;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  /** The site the browser names, where it names one. */
  readonly origin: string | null;
  /** Of the mail that confirms it. */
  readonly language: MailLanguage;
}

export interface CodeAnswer extends PersonAct {
  readonly email: string;
  readonly code: string;
  /** The secret of the browser that answers; null when it never asked for a code. */
  readonly context: string | null;
}

export interface FollowedLink extends PersonAct {
  readonly token: string;
}

export type PersonRefusal = "cert_not_found" | "forbidden" | "opt_out_failed" | "already_revoked" | "invalid_request";

/** Codes and links are bound to their row by it. */
export const codeBinding: Binding = (id) => `withdrawal ${id}`;

/** What a mailed code or link opens: every certificate of one business and environment that names the address. */
const provedAddress = ({ id: certId, businessId, environment }: WithdrawableCertificate, addressIndex: string): ProvedAddress => ({
  purpose: "withdrawal",
  topic: `${businessId} ${environment}`,
  addressIndex,
  certId,
});

/**
 * Who asks, by the address they name and the browser they use. For an address that is not on the certificate the asker is nobody's, and
 * counted apart: so what is asked about other people's certificates takes nothing from a person, and looks the same.
 */
export const askerAbout = async (
  { vault }: Stores,
  { certificate, emailIndex }: WithdrawableRecord,
  email: string,
  context: string | null,
): Promise<{ readonly addressIndex: string; readonly isOnCertificate: boolean; readonly asker: Asker }> => {
  const addressIndex = await vault.blindIndex("email", comparableMailbox(email) ?? "");
  const nobodys = await vault.sentHash(certificate.id, addressIndex);
  const isOnCertificate = emailIndex === addressIndex;
  const proved = provedAddress(certificate, isOnCertificate ? addressIndex : nobodys);
  return { addressIndex, isOnCertificate, asker: { ...proved, contextHash: sha256Hex(context ?? "") } };
};

/** Hashes of the tokens whose links were mailed to the address within their life. */
export const mailedLinks = async (services: Stores, { db, record }: LocatedRecord, now: Instant): Promise<readonly string[]> => {
  const { certificate, emailIndex } = record;
  if (emailIndex === null) return [];
  const ids = await codesMailedSince(db, provedAddress(certificate, emailIndex), now - linkLifeMs);
  return Promise.all(ids.map(async (id) => sha256Hex(await services.vault.linkToken(codeBinding(id)))));
};

/** The row of a right answer: failures in a row start anew. */
export const rightAnswer = ({ db, record: { certificate, emailIndex } }: LocatedRecord) =>
  emailIndex === null ? [] : [forgetFailures(db, provedAddress(certificate, emailIndex))];

/**
 * A browser says which site sent it: ours, or one of the business's. Other sites have no reason to answer a code; programs
 * name no site. The code is the proof either way.
 */
const isForeign = (services: Runtime, record: WithdrawableRecord, origin: string | null): boolean => {
  const { baseUrl, verifyUrl, appUrl } = services.config;
  if (origin === null || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).origin === origin)) return false;
  return !verifyOrigin(origin, record.domains, rulesFor(services.config, record.certificate)).ok;
};

/** The certificate, where the act can be about it: its names are public, so no try is spent on wrong ones. */
const locateFor = async (
  services: Runtime & Stores,
  { certId, origin, entities }: PersonAct,
): Promise<Result<LocatedRecord, PersonRefusal>> => {
  const located = await locateRecord(services, certId);
  if (located === null) return refuse("cert_not_found");
  if (isForeign(services, located.record, origin)) return refuse("forbidden");
  const named = entities === null ? ok([]) : namedEntities(located.record, entities);
  return named.ok ? ok(located) : named;
};

/**
 * A try is spent before anything is compared; address and code are judged together. Refuses `opt_out_failed` for everything
 * that is not the right pair, and `already_revoked` for the right pair only.
 */
export const judgeCode = async (
  services: Runtime & Stores,
  answer: CodeAnswer,
): Promise<Result<{ readonly located: LocatedRecord; readonly codeId: string }, PersonRefusal>> => {
  const found = await locateFor(services, answer);
  if (!found.ok) return found;
  const { db, record } = found.value;
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
  return codeId === null ? refuse("opt_out_failed") : ok({ located: found.value, codeId });
};

/** What was proved is done: from the recipients that are named, else the whole certificate, and with `business` the others that name the address. */
export const withdrawProved = (
  services: Runtime & Stores & Proofs & Schedules,
  located: LocatedRecord,
  method: PersonMethod,
  { scope, entities, language }: PersonAct,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const { emailIndex } = located.record;
  const more: Keeping<Withdrawn> = async (withdrawn) => [...rightAnswer(located), ...((await keep?.(withdrawn)) ?? [])];
  const act = { change: byPerson(method), language, more };
  if (entities !== null) return withdrawFromEntities(services, located, { ...act, entities });
  const address = emailIndex === null ? null : ({ kind: "email", index: emailIndex } as const);
  return withdrawCertificate(services, located, { ...act, scope, address });
};

/** Refuses as `judgeCode`, and `invalid_request` for somebody who is no recipient. */
export const confirmWithdrawal = async (
  services: Runtime & Stores & Proofs & Schedules,
  answer: CodeAnswer,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const judged = await judgeCode(services, answer);
  return judged.ok ? withdrawProved(services, judged.value.located, "email_code", answer, keep) : judged;
};

/**
 * The link from the receipt of the form, or from the mail with a code: its token is the proof. Refuses as `confirmWithdrawal`, and
 * `invalid_request` where the link from the 201 is to reach further than its certificate.
 */
export const withdrawByLink = async (
  services: Runtime & Stores & Proofs & Schedules,
  link: FollowedLink,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const found = await locateFor(services, link);
  if (!found.ok) return found;
  const { record } = found.value;
  const now = services.clock();
  const judged = judgeToken({
    expectedHash: record.manageTokenHash,
    mailedHashes: await mailedLinks(services, found.value, now),
    givenHash: sha256Hex(link.token),
    isInTime: isManageable(record.certificate.issuedAt, now),
    scope: link.scope,
    status: record.certificate.status,
  });
  return judged.ok ? withdrawProved(services, found.value, judged.value, link, keep) : judged;
};
