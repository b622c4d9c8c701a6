// The view trail of a certificate: one row for each of the first 10,000 views of its public page. Data about the viewer is sealed. The
// certificate's `view_count` column counts all views except those by bots.
import { desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { PageView } from "../core/certificates/published-certificate.ts";
import type { CertId } from "../core/ids.ts";
import type { Database, Statement } from "./database.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { certificates, certificateViews } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { prepareOnce } from "./prepared.ts";
import { existsIn } from "./query.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const maxStoredViews = 10_000;

const viewerContext = selfOwnedContext("certificate_views", "viewer");

const { viewCount, viewRows } = certificates;

const insertView = prepareOnce<Pick<typeof certificateViews.$inferSelect, "certId" | "at" | "viewerSealed" | "bot">>()(
  (db, { certId, at, viewerSealed, bot }) => {
    const hasRoom = existsIn(certificates, eq(certificates.id, certId), lt(viewRows, maxStoredViews), isNull(certificates.subjectErasedAt));
    return insertIf(db, certificateViews, { certId, at, viewerSealed, bot }, hasRoom).prepare();
  },
);

/** `changes()` is the number of rows that the preceding statement, `insertView`, has inserted. */
const countView = prepareOnce<{ certId: CertId; views: number }>()((db, { certId, views }) =>
  db
    .update(certificates)
    .set({ viewCount: sql`${viewCount} + ${views}`, viewRows: sql`${viewRows} + changes()` })
    .where(eq(certificates.id, certId))
    .prepare(),
);

/**
 * Returns the statements that record one view of a certificate's public page. If the certificate's personal data is erased or it already
 * has 10,000 rows, they store no row and only count the view. Views by bots are not counted. The statements do nothing if the certificate
 * is unknown.
 */
export const insertCertificateView = async (db: Database, vault: Vault, certId: CertId, view: PageView): Promise<readonly Statement[]> => {
  const { at, bot } = view;
  const viewerSealed = await vault.seal(viewerContext(certId), JSON.stringify({ ip: view.ip, user_agent: view.userAgent, os: view.os }));
  return [insertView(db, { certId, at, viewerSealed, bot }), countView(db, { certId, views: bot ? 0 : 1 })];
};

const selectViews = prepareOnce<{ certId: CertId; limit: number; offset: number }>()((db, { certId, limit, offset }) => {
  const { at, viewerSealed, bot } = certificateViews;
  return db
    .select({ at, viewerSealed, bot })
    .from(certificateViews)
    .where(eq(certificateViews.certId, certId))
    .orderBy(desc(certificateViews.ord))
    .limit(limit)
    .offset(offset)
    .prepare();
});

/** Returns a page of the view trail, newest first. */
export const listViewTrail = (db: Database, vault: Vault, certId: CertId, limit: number, offset = 0): Lookup<readonly PageView[]> =>
  createLookup(db, [selectViews(db, { certId, limit, offset })], ([rows]) =>
    Promise.all(
      rows.map(async (row) => {
        const viewer = JSON.parse(await vault.open(viewerContext(certId), row.viewerSealed)) as {
          ip: string;
          user_agent: string;
          os: string | null;
        };
        return { at: row.at, ip: viewer.ip, userAgent: viewer.user_agent, os: viewer.os, bot: row.bot };
      }),
    ),
  );

export const countStoredViews = (db: Database, certId: CertId): Lookup<number> =>
  createLookup(db, [db.select({ viewRows }).from(certificates).where(eq(certificates.id, certId))], ([[row]]) => row?.viewRows ?? 0);
