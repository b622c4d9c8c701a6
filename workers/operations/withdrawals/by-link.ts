// The person follows the link from the receipt of the form, or from the mail with a code: its token is the proof.
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { isManageable, judgeToken, linkLifeMs } from "../../../core/withdrawals/answer.ts";
import { namedEntities } from "../../../core/withdrawals/entities.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { codesMailedSince } from "../../../storage/mailed-codes.ts";
import { activeWithAddress } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import {
  codeBinding,
  commitByPerson,
  isForeign,
  locateRecord,
  provedAddress,
  type LocatedRecord,
  type PersonRefusal,
  type Withdrawn,
} from "./by-person.ts";
import { commitEntitiesByPerson } from "./withdraw-entities.ts";

/** Hashes of the tokens whose links were mailed within their life. */
const mailedLinks = async (services: Stores, { db, record }: LocatedRecord, now: Instant): Promise<readonly string[]> => {
  const { certificate, emailIndex } = record;
  if (emailIndex === null) return [];
  const ids = await codesMailedSince(db, provedAddress(certificate, emailIndex), now - linkLifeMs);
  return Promise.all(ids.map(async (id) => sha256Hex(await services.vault.linkToken(codeBinding(id)))));
};

export interface FollowedLink {
  readonly certId: CertId;
  readonly token: string;
  readonly scope: WithdrawalScope;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  /** The site the browser names, where it names one. */
  readonly origin: string | null;
}

/** Refuses as `confirmWithdrawal`, and `invalid_request` where the link from the 201 is to reach further than its certificate. */
export const withdrawByLink = async (
  services: Runtime & Stores & Proofs & Schedules,
  link: FollowedLink,
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
  return link.entities === null
    ? commitByPerson(services, found, { method: judged.value, scope: link.scope })
    : commitEntitiesByPerson(services, found, { method: judged.value, entities: link.entities });
};

/** More than anybody gives one business. */
const maxCounted = 1_000;

/**
 * How many other active certificates of the business name the person who holds a link that was mailed. Null for every other
 * token: what is not mailed to the address proves nothing about it.
 */
export const othersByLink = async (services: Runtime & Stores, certId: CertId, token: string): Promise<number | null> => {
  const found = await locateRecord(services, certId);
  if (found === null || found.record.emailIndex === null) return null;
  const { db, record } = found;
  const now = services.clock();
  const given = sha256Hex(token);
  const mailed = await mailedLinks(services, found, now);
  if (!mailed.some((hash) => isSameSecret(hash, given))) return null;
  const { businessId, environment } = record.certificate;
  const same = await activeWithAddress(
    db,
    { businessId, environment, addressIndex: found.record.emailIndex, issuedUntil: now },
    maxCounted,
  );
  return same.filter(({ id }) => id !== certId).length;
};
