// The email addresses and phone numbers on certificates, as blind indexes. In this file, "address" means either. Searches for a person's
// certificates read this table, so they find a certificate by any of its addresses. The table `certificates` also stores the addresses of
// each certificate. Triggers use them to find a certificate's rows in this table when it is revoked, erased or deleted.
import { eq, is, or, SQL, sql } from "drizzle-orm";
import { listStoredForms, toStoredIndex, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, query } from "./query.ts";
import { certificateAddresses, certificates } from "./schema.ts";

const { certOrd, addressIndex, businessId, environment, issuedAt, active } = certificateAddresses;

/** The blind indexes of the addresses on a certificate, in the order of the form's fields. */
export interface AddressIndexes {
  readonly emails: readonly AddressIndex[];
  readonly phones: readonly AddressIndex[];
}

const insertAddresses = prepareOnce<{ certId: CertId; addresses: string }>()((db, { certId, addresses }) =>
  db
    .insert(certificateAddresses, "certOrd", "addressIndex", "businessId", "environment", "issuedAt")
    .select(
      query
        .select({
          certOrd: certificates.ord,
          addressIndex: sql<StoredIndex>`j.value`.as("address_index"),
          businessId: certificates.businessId,
          environment: certificates.environment,
          issuedAt: certificates.issuedAt,
        })
        .from(certificates)
        .innerJoin(sql`json_each(${addresses}) j`, sql`true`)
        .where(eq(certificates.id, certId)),
    )
    .prepare(),
);

/** Inserts the addresses of a certificate. Must come after the insert of the certificate in the batch. */
export const insertCertificateAddresses = (db: Database, certId: CertId, { emails, phones }: AddressIndexes) =>
  insertAddresses(db, { certId, addresses: JSON.stringify([...emails, ...phones].map(toStoredIndex)) });

/** Builds a condition for queries on `certificateAddresses`. It is true for the business's active certificates with this address. */
export const isActiveAddress = (index: StoredIndex, scope: { readonly businessId: BusinessId; readonly environment: Environment }): SQL =>
  allOf(eq(addressIndex, index), eq(environment, scope.environment), sql`${active} = 1`, eq(businessId, scope.businessId));

/**
 * Builds a condition for queries on `certificates`. It is true if the certificate has the address. It searches both email addresses and
 * phone numbers, which is safe because their indexes are never equal.
 */
export const hasAddress = (index: AddressIndex | SQL): SQL => {
  const isListed = (form: StoredIndex | SQL): SQL =>
    sql`${form} in (select value from json_each(${certificates.emailIndexes}) union all select value from json_each(${certificates.phoneIndexes}))`;
  return is(index, SQL) ? isListed(index) : (or(...listStoredForms(index).map(isListed)) as SQL);
};

/**
 * Selects the `ord` of the newest certificates with an address: at most `max`, after skipping `offset`. `conditions` contains one condition
 * for each form of the index (see `mapForms`). Each condition must also specify the environment and the business. Active and revoked
 * certificates are two ranges of the primary key. SQLite reads the ranges in order and merges them, so it reads only slightly more rows
 * than it returns or skips.
 */
export const selectNewestOrds = (conditions: readonly SQL[], max: number, offset = 0): SQL => {
  const inState = (condition: SQL, state: SQL) =>
    query
      .select({ certOrd, issuedAt })
      .from(certificateAddresses)
      .where(allOf(condition, sql`${active} = ${state}`));
  const ranges = conditions.flatMap((condition) => [sql`1`, sql`0`].map((state) => sql`select * from ${inState(condition, state)}`));
  return sql`(select cert_ord from (${sql.join(ranges, sql` union all `)}
    order by issued_at desc, cert_ord desc limit ${max} offset ${offset}))`;
};
