// The email addresses and phone numbers on certificates, as blind indexes. Every search for a person's certificates reads this table, so that
// each address on a certificate finds it, not only the first.
import { eq, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, query } from "./query.ts";
import { certificateAddresses, certificates } from "./schema.ts";

const { certOrd, kind, addressIndex, businessId, environment, active } = certificateAddresses;

/** Blind indexes of a certificate's addresses, each kind in order of the form. */
export interface AddressIndexes {
  readonly emails: readonly string[];
  readonly phones: readonly string[];
}

/** Must come after the insert of the certificate in the batch. */
export const insertCertificateAddresses = (db: Database, certId: CertId, { emails, phones }: AddressIndexes) => {
  const rows = [...emails.map((index) => ["email", index]), ...phones.map((index) => ["phone", index])];
  const { ord, issuedAt } = certificates;
  return db.insert(certificateAddresses, "certOrd", "kind", "addressIndex", "businessId", "environment", "issuedAt").select(
    query
      .select({
        certOrd: ord,
        kind: sql`j.value ->> 0`.as("kind"),
        addressIndex: sql`j.value ->> 1`.as("address_index"),
        businessId: certificates.businessId,
        environment: certificates.environment,
        issuedAt,
      })
      .from(certificates)
      .innerJoin(sql`json_each(${JSON.stringify(rows)}) j`, sql`true`)
      .where(eq(certificates.id, certId)),
  );
};

/** Condition on a query over `certificateAddresses`: the address is on an active certificate of the business. */
export const isActiveAddress = (index: string, of: { readonly businessId: BusinessId; readonly environment: Environment }): SQL =>
  allOf(eq(addressIndex, index), eq(environment, of.environment), eq(businessId, of.businessId), sql`${active} = 1`);

/** Field for a query over `certificates`: the indexes of all addresses. Empty once the person is erased. */
export const addressesField = jsonRows({ kind, index: addressIndex }, (rows) =>
  query.select({ rows }).from(certificateAddresses).where(eq(certOrd, certificates.ord)),
);
