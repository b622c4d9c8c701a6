// The view trail: every open of a certificate's public page. The count rises with each counted open; the trail keeps one
// row for the same viewer within ten seconds and at most 10,000 rows a certificate. Who looked is sealed.
import type { View } from "../core/certificates/published.ts";
import type { CertId } from "../core/ids.ts";
import { secondMs, type Instant } from "../core/time.ts";
import type { SealedPlace, Vault } from "./vault.ts";

const sameViewerMs = 10 * secondMs; // a reload is not another reader; a page fetched ahead and then read is two
const mostRows = 10_000;

const place = (certId: string): SealedPlace => ({ table: "certificate_views", record: certId, field: "viewer", owner: certId });

/** Rows of one open. Nothing is written for an unknown certificate. */
export const insertView = async (db: D1Database, vault: Vault, certId: CertId, view: View): Promise<D1PreparedStatement[]> => {
  const viewerIndex = await vault.viewerIndex(certId, view.ip, view.userAgent);
  const sealed = await vault.seal(place(certId), JSON.stringify({ ip: view.ip, user_agent: view.userAgent, os: view.os }));
  return [
    db
      .prepare(
        `INSERT INTO certificate_views (cert_id, at, viewer_sealed, viewer_index, bot)
         SELECT c.id, ?2, ?3, ?4, ?5 FROM certificates c WHERE c.id = ?1 AND c.view_rows < ${mostRows}
           AND NOT EXISTS (SELECT 1 FROM certificate_views v
                            WHERE v.cert_id = ?1 AND v.viewer_index = ?4 AND v.at > ?6 AND v.bot = ?5)`,
      )
      .bind(certId, view.at, sealed, viewerIndex, view.bot ? 1 : 0, view.at - sameViewerMs),
    // changes() counts the row of the insert just before, in the same batch
    db
      .prepare("UPDATE certificates SET view_count = view_count + ?, view_rows = view_rows + changes() WHERE id = ?")
      .bind(view.bot ? 0 : 1, certId),
  ];
};

/** The newest opens, newest first. */
export const viewTrail = async (db: D1Database, vault: Vault, certId: CertId, limit: number): Promise<View[]> => {
  const { results } = await db
    .prepare("SELECT at, viewer_sealed, bot FROM certificate_views WHERE cert_id = ? ORDER BY ord DESC LIMIT ?")
    .bind(certId, limit)
    .all<{ at: Instant; viewer_sealed: string; bot: number }>();
  return Promise.all(
    results.map(async (row) => {
      const viewer = JSON.parse(await vault.open(place(certId), row.viewer_sealed)) as {
        ip: string;
        user_agent: string;
        os: string | null;
      };
      return { at: row.at, ip: viewer.ip, userAgent: viewer.user_agent, os: viewer.os, bot: row.bot === 1 };
    }),
  );
};
