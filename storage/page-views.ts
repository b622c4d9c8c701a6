// The view trail: every open of a certificate's public page. The count rises with each counted open; the trail keeps one
// row for the same viewer within ten seconds and at most 10,000 rows a certificate. Who looked is sealed.
import { desc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import type { View } from "../core/certificates/published.ts";
import type { CertId } from "../core/ids.ts";
import { secondMs, type Instant } from "../core/time.ts";
import type { Database, Statement } from "./database.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { prepared } from "./prepared.ts";
import { certificates, certificateViews } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { allOf, existsIn, noneIn } from "./query.ts";
import { ownContextIn, type Vault } from "./vault.ts";

const sameViewerMs = 10 * secondMs; // a reload is not another reader; a page fetched ahead and then read is two
const maxRows = 10_000;

const viewerContext = ownContextIn("certificate_views", "viewer");

const { certId: seenOf, viewerIndex: seenBy, at: seenAt, bot: seenAs } = certificateViews;
const { viewCount, viewRows } = certificates;

const insertOpen = prepared<Omit<typeof certificateViews.$inferSelect, "ord"> & { readonly since: Instant }>()((db, view) => {
  const { certId, at, viewerSealed, viewerIndex, bot, since } = view;
  const hasRoom = existsIn(certificates, eq(certificates.id, certId), lt(viewRows, maxRows), isNull(certificates.subjectErasedAt));
  const isNew = noneIn(certificateViews, eq(seenOf, certId), eq(seenBy, viewerIndex), gt(seenAt, since), eq(seenAs, bot));
  return insertIf(db, certificateViews, { certId, at, viewerSealed, viewerIndex, bot }, allOf(hasRoom, isNew)).prepare();
});

// changes() counts the row of the insert just before, in the same batch
const countOpen = prepared<{ certId: CertId; counted: number }>()((db, { certId, counted }) =>
  db
    .update(certificates)
    .set({ viewCount: sql`${viewCount} + ${counted}`, viewRows: sql`${viewRows} + changes()` })
    .where(eq(certificates.id, certId))
    .prepare(),
);

/** Rows of one open. Nothing is written for an unknown certificate; once its person was erased, opens are counted and not kept. */
export const insertView = async (db: Database, vault: Vault, certId: CertId, view: View): Promise<readonly Statement[]> => {
  const { at, bot } = view;
  const viewerIndex = await vault.viewerIndex(certId, view.ip, view.userAgent);
  const viewerSealed = await vault.seal(viewerContext(certId), JSON.stringify({ ip: view.ip, user_agent: view.userAgent, os: view.os }));
  return [
    insertOpen(db, { certId, at, viewerSealed, viewerIndex, bot, since: at - sameViewerMs }),
    countOpen(db, { certId, counted: bot ? 0 : 1 }),
  ];
};

/** One page of the opens, newest first. */
export const viewTrail = (db: Database, vault: Vault, certId: CertId, limit: number, offset = 0): Lookup<readonly View[]> => {
  const { at, viewerSealed, bot } = certificateViews;
  const page = db
    .select({ at, viewerSealed, bot })
    .from(certificateViews)
    .where(eq(certificateViews.certId, certId))
    .orderBy(desc(certificateViews.ord))
    .limit(limit)
    .offset(offset);
  return lookup(db, [page], ([rows]) =>
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
};

/** How many opens are kept. */
export const keptViews = (db: Database, certId: CertId): Lookup<number> =>
  lookup(db, [db.select({ viewRows }).from(certificates).where(eq(certificates.id, certId))], ([[row]]) => row?.viewRows ?? 0);
