import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type ShareId } from "../../../core/ids.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { insertConsumerShard, insertShareIntent } from "../../../storage/share-changes.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Rows for the batch of the grant where both lie in one home; otherwise they are written now, into the person's. */
export const recordShareIntent = async (
  services: ReadDependencies,
  db: Database,
  person: Pick<Person, "id">,
  shareId: ShareId,
): Promise<readonly Statement[]> => {
  const home = shardOfId(shareId);
  if (shardOfId(person.id) === home) return [insertConsumerShard(db, person.id, home)];
  const own = services.shards.forId(person.id);
  await batch(own, [insertConsumerShard(own, person.id, home), insertShareIntent(own, shareId, person.id, services.clock())]);
  return [];
};
