// Lists of recipients: long, and the same on many certificates, so each is stored once.
import { eq, sql } from "drizzle-orm";
import { prepared } from "./prepared.ts";
import { query } from "./query.ts";
import { certificateGroups, certificates, entityLists } from "./schema.ts";

export const keepEntityList = prepared<Omit<typeof entityLists.$inferSelect, "id">>()((db, { hash, entities }) =>
  db.insert(entityLists).values({ hash, entities }).onConflictDoNothing({ target: entityLists.hash }).prepare(),
);

/** For a query over certificates: the recipients, from the list that the certificate shares with others. */
export const entitiesField = sql<readonly string[]>`${query
  .select({ entities: entityLists.entities })
  .from(certificateGroups)
  .innerJoin(entityLists, eq(entityLists.id, certificateGroups.entityListId))
  .where(eq(certificateGroups.id, certificates.groupId))}`.mapWith(entityLists.entities);
