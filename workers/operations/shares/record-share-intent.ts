// Before a share is written, records it in the person's shard, so that lists of the person's shares are always complete.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type ShareId } from "../../../core/ids.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { insertConsumerShard, insertShareIntent } from "../../../storage/share-changes.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * If the person and the share are in the same shard, returns rows for the grant's transaction. Otherwise writes the intent to the person's
 * shard and returns no rows.
 */
export const recordShareIntent = async (
  services: ReadDependencies,
  db: Database,
  person: Pick<Person, "id">,
  shareId: ShareId,
): Promise<readonly Statement[]> => {
  const shard = shardOfId(shareId);
  if (shardOfId(person.id) === shard) return [insertConsumerShard(db, person.id, shard)];
  const personDb = services.shards.forId(person.id);
  await batch(personDb, [
    insertConsumerShard(personDb, person.id, shard),
    insertShareIntent(personDb, shareId, person.id, services.clock()),
  ]);
  return [];
};
