// Copies of programs' documents, for the days on which their own hosts cannot be reached. Written when a person has allowed the program,
// never by asking alone; all of them in the first home.
import { eq, gt, lte, type SQL } from "drizzle-orm";
import { clientFromDocument, parseDocumentUrl, type OAuthClient } from "../core/agents/oauth-client.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { excluded } from "./inserts.ts";
import { allOf } from "./query.ts";
import { oauthClients } from "./schema.ts";

const documentLifeMs = 7 * dayMs;

const { url, document, fetchedAt } = oauthClients;

/** Of a copy that serves no more. */
export const isExpiredDocument = (now: Instant): SQL => lte(fetchedAt, now - documentLifeMs);

/** An older reading never takes the place of a newer one. */
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

export const findSavedOAuthClient = async (db: Database, id: string, now: Instant): Promise<OAuthClient | null> => {
  const row = await db
    .select({ document })
    .from(oauthClients)
    .where(allOf(eq(url, id), gt(fetchedAt, now - documentLifeMs)))
    .get();
  const at = parseDocumentUrl(id);
  return row === undefined || at === null ? null : clientFromDocument(at, JSON.parse(row.document));
};
