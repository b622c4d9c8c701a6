// Copies of OAuth client metadata documents. They are used when a client's host is unreachable. A copy is saved only when a person approves
// the client. The first shard stores all copies. SPEC Agent server.
import { eq, gt, lte, type SQL } from "drizzle-orm";
import { clientFromDocument, parseDocumentUrl, type OAuthClient } from "../core/agents/oauth-client.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { excluded } from "./inserts.ts";
import { allOf } from "./query.ts";
import { oauthClients } from "./schema.ts";

const documentLifeMs = 7 * dayMs;

const { url, document, fetchedAt } = oauthClients;

/** Builds a condition that is true if the copy is at least seven days old and must no longer be used. */
export const isExpiredDocument = (now: Instant): SQL => lte(fetchedAt, now - documentLifeMs);

/** Saves a copy. An older copy never replaces a newer one. */
export const upsertOAuthClient = (db: Database, { id, name, redirectUris }: OAuthClient, readAt: Instant) =>
  db
    .insert(oauthClients)
    .values({
      url: id,
      document: JSON.stringify({ client_id: id, ...(name !== null && { client_name: name }), redirect_uris: redirectUris }),
      fetchedAt: readAt,
    })
    .onConflictDoUpdate({
      target: url,
      set: { document: excluded(document), fetchedAt: excluded(fetchedAt) },
      setWhere: lte(fetchedAt, excluded(fetchedAt)),
    });

/** Finds a saved copy. Returns null if there is no copy, if the copy is at least seven days old, or if the ID is not a document URL. */
export const findSavedOAuthClient = async (db: Database, id: string, now: Instant): Promise<OAuthClient | null> => {
  const row = await db
    .select({ document })
    .from(oauthClients)
    .where(allOf(eq(url, id), gt(fetchedAt, now - documentLifeMs)))
    .get();
  const at = parseDocumentUrl(id);
  return row === undefined || at === null ? null : clientFromDocument(at, JSON.parse(row.document));
};
