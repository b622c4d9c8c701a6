// What placing journaled certificates reads from and adds to a database.
import { inArray } from "drizzle-orm";
import type { Certificate } from "../core/certificates/certificate.ts";
import type { IssuerSignature } from "../core/certificates/published-certificate.ts";
import type { CertId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { jsonList } from "./query.ts";
import { certificates, certificateTwins } from "./schema.ts";

/** Returns the fingerprints of those certificates that exist. */
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
 * Keeps the text of a certificate whose ID another one has. Both were issued for one submission: the first attempt reached the database
 * unseen, and its repeat was journaled. Repeating the insert changes nothing.
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
      manageTokenHash,
    })
    .onConflictDoNothing();
