// The email addresses and phone numbers on certificates, as blind indexes. In this file, "address" means either of them. Searches for a
// person's certificates read this table, so they find a certificate by any of its addresses. `certificates` also stores the addresses in
// each row. When a certificate is revoked, erased or deleted, triggers use them to find the rows in this table.
import { eq, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, query } from "./query.ts";
import { certificateAddresses, certificates } from "./schema.ts";

const { certOrd, addressIndex, businessId, environment, issuedAt, active } = certificateAddresses;

/** The blind indexes of the addresses on a certificate, in the order of the form's fields. */
export interface AddressIndexes {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
}

const insertAddresses = prepareOnce<{ certId: CertId; addresses: string }>()((db, { certId, addresses }) =>
  db
    .insert(certificateAddresses, "certOrd", "addressIndex", "businessId", "environment", "issuedAt")
    .select(
      query
        .select({
          certOrd: certificates.ord,
          addressIndex: sql`j.value`.as("address_index"),
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

/** Must come after the insert of the certificate in the batch. */
export const insertCertificateAddresses = (db: Database, certId: CertId, { emails, phones }: AddressIndexes) =>
  insertAddresses(db, { certId, addresses: JSON.stringify([...emails, ...phones]) });

/** Builds a condition for queries on `certificateAddresses`. It is true for the business's active certificates with this address. */
export const isActiveAddress = (index: string, of: { readonly businessId: BusinessId; readonly environment: Environment }): SQL =>
  allOf(eq(addressIndex, index), eq(environment, of.environment), sql`${active} = 1`, eq(businessId, of.businessId));

/**
 * Builds a condition for queries on `certificates`. It is true if the certificate has the address. The condition can search both lists, of
 * email addresses and of phone numbers, because no index occurs in both.
 */
export const hasAddress = (index: string | SQL): SQL =>
  sql`${index} in (select value from json_each(${certificates.emailIndexes}) union all select value from json_each(${certificates.phoneIndexes}))`;

/**
 * Selects the `ord` of the newest certificates with an address: at most `max`, after skipping `offset`. The condition must specify the
 * address, the environment and the business. SQLite merges active and revoked certificates, which are two ranges of the primary key, in
 * order. Therefore, it reads only the rows that it returns or skips.
 */
export const selectNewestOrds = (condition: SQL, max: number, offset = 0): SQL => {
  const inState = (state: SQL) =>
    query
      .select({ certOrd, issuedAt })
      .from(certificateAddresses)
      .where(allOf(condition, sql`${active} = ${state}`));
  return sql`(select cert_ord from (select * from ${inState(sql`1`)} union all select * from ${inState(sql`0`)}
    order by issued_at desc, cert_ord desc limit ${max} offset ${offset}))`;
};
