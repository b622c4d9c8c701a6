// Queries for certificates that an intake journal accepted while the database did not respond.
import { inArray } from "drizzle-orm";
import type { Certificate } from "../core/certificates/certificate.ts";
import type { IssuerSignature } from "../core/certificates/published-certificate.ts";
import type { CertId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { jsonList } from "./query.ts";
import { certificates, certificateTwins } from "./schema.ts";
import { unlessErased } from "./unless-erased.ts";

/** Returns the fingerprints of these certificates by ID. Omits certificates that do not exist. */
export const listFingerprints = async (db: Database, certIds: readonly CertId[]): Promise<ReadonlyMap<CertId, string>> => {
  const { id, fingerprint } = certificates;
  const rows = await db
    .select({ id, fingerprint })
    .from(certificates)
    .where(inArray(id, jsonList(certIds)))
    .all();
  return new Map(rows.map((row) => [row.id, row.fingerprint]));
};

/**
 * Stores the text of a second certificate with the same ID. This happens if the database stored the first certificate, but its response was
 * lost, and an intake journal accepted the retry. Repeating the insert has no effect. If the person's data was erased before the insert,
 * the hash of the second certificate's withdrawal token is not stored.
 */
export const insertTwin = (
  db: Database,
  { id, fingerprint, issuedAt, canonical }: Certificate,
  { signature, manageTokenHash }: { readonly signature: IssuerSignature; readonly manageTokenHash: string },
) =>
  db
    .insert(certificateTwins)
    .values({
      certId: id,
      fingerprint,
      issuedAt,
      canonical,
      signature: signature.value,
      signatureKid: signature.kid,
      manageTokenHash: unlessErased(id, manageTokenHash, ""),
    })
    .onConflictDoNothing();
