// Implements POST /v1/contact-check. Returns whether the business may still contact the given people, according to its current records.
// Compares only blind indexes, and neither decrypts nor returns personal data.
import type { Principal } from "../../../core/access/principal.ts";
import { resolveContactVerdict, type ContactVerdict, type ContactBasis } from "../../../core/contact/verdict.ts";
import type { Instant } from "../../../core/time.ts";
import { shardOfId } from "../../../core/ids.ts";
import { findCertificateRecords, findContactRecords, mergeContactRecords } from "../../../storage/contact.ts";
import type { ContactDependencies } from "./dependencies.ts";
import { queryShardsOf } from "../query-issuing-shards.ts";
import { computeSubjectIndexes, type SubjectQuery } from "./compute-subject-indexes.ts";

export interface ContactQuery {
  readonly subjects: readonly SubjectQuery[];
  /**
   * If set, only consent for this recipient counts. A share then counts only if this is the business's name. If null, consent for any
   * recipient counts.
   */
  readonly entity: string | null;
  /** If set, only consent for this purpose counts. If null, consent for any purpose counts. */
  readonly purpose: string | null;
}

export interface ContactCheck extends ContactVerdict {
  readonly basis: readonly ContactBasis[];
  /** True if the person has older records that were not checked. */
  readonly isTruncated: boolean;
  readonly checkedAt: Instant;
}

/** Returns one result for each subject, in the same order. */
export const checkContact = async (
  services: ContactDependencies,
  principal: Principal,
  { subjects, entity, purpose }: ContactQuery,
): Promise<readonly ContactCheck[]> => {
  const { business, environment } = principal;
  const indexes = await Promise.all(subjects.map((subject) => computeSubjectIndexes(services, business.country, subject)));
  const checkedAt = services.clock();
  const query = { businessId: business.id, environment, subjects: indexes, entity, purpose };
  const found = await queryShardsOf(services, business, (db, shard) =>
    shard === shardOfId(business.id) ? findContactRecords(db, query, checkedAt) : findCertificateRecords(db, query),
  );
  return mergeContactRecords(found).map(({ basis, isTruncated }) => ({ ...resolveContactVerdict(basis), basis, isTruncated, checkedAt }));
};
