// The email addresses and phone numbers on certificates, as blind indexes. In this file, "address" means either. Searches for a person's
// certificates read this table, so a certificate is found by every address on it. The row of a certificate in `certificates` also lists its
// addresses, so that triggers can find the rows in this table when the certificate is revoked, erased or deleted.
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

/** Builds a condition for queries on `certificateAddresses`. It is true for active certificates of the business with this address. */
export const isActiveAddress = (index: string, of: { readonly businessId: BusinessId; readonly environment: Environment }): SQL =>
  allOf(eq(addressIndex, index), eq(environment, of.environment), sql`${active} = 1`, eq(businessId, of.businessId));

/**
 * Builds a condition for queries on `certificates`. It is true if the address is on the certificate. Searches both lists, because an email
 * address and a phone number never have the same index.
 */
export const hasAddress = (index: string | SQL): SQL =>
  sql`${index} in (select value from json_each(${certificates.emailIndexes}) union all select value from json_each(${certificates.phoneIndexes}))`;

/**
 * Selects the `ord` of the newest certificates with an address: at most `max`, after skipping `offset`. The condition must specify the
 * address, the environment and the business. Active and revoked certificates are two ranges of the primary key. SQLite reads both in order
 * and merges them, so it reads no more rows than it returns or skips.
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
