// The person follows the link from the receipt of the form, or from the mail with a code: its token is the proof.
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, type Result } from "../../../core/result.ts";
import { isManageable, judgeToken } from "../../../core/withdrawals/answer.ts";
import { namedEntities } from "../../../core/withdrawals/entities.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { commitByPerson, commitEntitiesByPerson, isForeign, type PersonRefusal, type Withdrawn } from "./by-person.ts";
import { mailedLinks } from "./others.ts";
import { locateRecord } from "./withdraw-certificate.ts";

export interface FollowedLink {
  readonly certId: CertId;
  readonly token: string;
  readonly scope: WithdrawalScope;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  /** The site the browser names, where it names one. */
  readonly origin: string | null;
  /** Of the mail that confirms it. */
  readonly language: MailLanguage;
}

/** Refuses as `confirmWithdrawal`, and `invalid_request` where the link from the 201 is to reach further than its certificate. */
export const withdrawByLink = async (
  services: Runtime & Stores & Proofs & Schedules,
  link: FollowedLink,
  keep?: Keeping<Withdrawn>,
): Promise<Result<Withdrawn, PersonRefusal>> => {
  const found = await locateRecord(services, link.certId);
  if (found === null) return refuse("cert_not_found");
  const { record } = found;
  if (isForeign(services, record, link.origin)) return refuse("forbidden");
  const named = link.entities === null ? null : namedEntities(record, link.entities); // the names are public: no try is spent
  if (named?.ok === false) return named;
  const now = services.clock();
  const judged = judgeToken({
    expectedHash: record.manageTokenHash,
    mailedHashes: await mailedLinks(services, found, now),
    givenHash: sha256Hex(link.token),
    isInTime: isManageable(record.certificate.issuedAt, now),
    scope: link.scope,
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  const { scope, entities, language } = link;
  return entities === null
    ? commitByPerson(services, found, { method: judged.value, scope, language }, keep)
    : commitEntitiesByPerson(services, found, { method: judged.value, entities, language }, keep);
};
