// Keeps personal data out of records that are added to a certificate after its personal data was erased. The insert itself checks for an
// erasure, so it also notices one that was committed after the certificate was read.
import { eq, isNotNull, sql, type SQL } from "drizzle-orm";
import type { CertId } from "../core/ids.ts";
import { existsIn, notExistsIn } from "./query.ts";
import { certificates } from "./schema.ts";

const { id, subjectErasedAt } = certificates;

/** Builds a condition that is true if the certificate's personal data is not erased. */
export const isNotErased = (certId: CertId): SQL => notExistsIn(certificates, eq(id, certId), isNotNull(subjectErasedAt));

/** A value for inserts. It is `ifErased` if the certificate's personal data is erased, and otherwise `sealed`. */
export const unlessErased = <Sealed extends string | null>(certId: CertId, sealed: Sealed, ifErased: Sealed): SQL<Sealed> =>
  sql<Sealed>`case when ${existsIn(certificates, eq(id, certId), isNotNull(subjectErasedAt))} then ${ifErased} else ${sealed} end`;
