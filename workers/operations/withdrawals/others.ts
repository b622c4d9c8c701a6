// The other certificates of a business that name the person, told only to who has proved the address.
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { linkLifeMs } from "../../../core/withdrawals/answer.ts";
import { codesMailedSince } from "../../../storage/mailed-codes.ts";
import { otherCertificates } from "../../../storage/withdrawals.ts";
import type { Runtime, Stores } from "../../services.ts";
import { codeBinding, provedAddress } from "./by-person.ts";
import { locateRecord, type LocatedRecord } from "./withdraw-certificate.ts";

/** Hashes of the tokens whose links were mailed within their life. */
export const mailedLinks = async (services: Stores, { db, record }: LocatedRecord, now: Instant): Promise<readonly string[]> => {
  const { certificate, emailIndex } = record;
  if (emailIndex === null) return [];
  const ids = await codesMailedSince(db, provedAddress(certificate, emailIndex), now - linkLifeMs);
  return Promise.all(ids.map(async (id) => sha256Hex(await services.vault.linkToken(codeBinding(id)))));
};

export interface OtherCertificates {
  readonly count: number;
  /** The newest of them. */
  readonly newest: readonly { readonly id: CertId; readonly issuedAt: Instant }[];
}

const shown = 20; // newest; more is not what one person looks through

/**
 * Those that stay active as things stand. After a withdrawal from everything the ones that were there then are withdrawn, or will be
 * in a moment: only what was given since counts.
 */
export const othersOf = async ({ db, record }: LocatedRecord): Promise<OtherCertificates> => {
  const { certificate, emailIndex, withdrawal } = record;
  if (emailIndex === null) return { count: 0, newest: [] };
  const { id: certId, businessId, environment } = certificate;
  const issuedAfter = withdrawal?.scope === "business" ? withdrawal.withdrawnAt : null;
  return otherCertificates(db, { businessId, environment, address: { kind: "email", index: emailIndex } }, { certId, issuedAfter }, shown);
};

/**
 * The same for who holds a link that was mailed. Null for every other token: what is not mailed to the address proves nothing
 * about it.
 */
export const othersByLink = async (services: Runtime & Stores, certId: CertId, token: string): Promise<OtherCertificates | null> => {
  const located = await locateRecord(services, certId);
  if (located === null) return null;
  const given = sha256Hex(token);
  const mailed = await mailedLinks(services, located, services.clock());
  return mailed.some((hash) => isSameSecret(hash, given)) ? othersOf(located) : null;
};
