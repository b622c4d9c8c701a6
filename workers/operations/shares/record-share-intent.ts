// Records a share in the person's shard before the share is written, so that lists of the person's shares are always complete.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type ShareId } from "../../../core/ids.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertConsumerShard, insertShareIntent } from "../../../storage/share-changes.ts";
import type { FieldsWrite } from "../consumers/prepare-fields-update.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";

/**
 * If the person and the share are in the same shard, returns statements for the grant's transaction. Otherwise, writes the intent to the
 * person's shard and returns no statements. A change to the contact fields is part of the grant's transaction in the first case, and of the
 * intent's transaction in the second.
 */
export const recordShareIntent = async (
  services: ShareWriteDependencies,
  db: Database,
  person: Pick<Person, "id">,
  shareId: ShareId,
  fieldsWrite: FieldsWrite | null,
): Promise<readonly Statement[]> => {
  const shard = shardOfId(shareId);
  const fieldStatements = fieldsWrite?.statements ?? [];
  if (shardOfId(person.id) === shard) return [...fieldStatements, insertConsumerShard(db, person.id, shard)];
  const personDb = services.shards.forId(person.id);
  const intent = [insertConsumerShard(personDb, person.id, shard), insertShareIntent(personDb, shareId, person.id, services.clock())];
  await commit(personDb, services, [...fieldStatements, ...intent], fieldsWrite === null ? [] : [fieldsWrite.domainEvent]);
  return [];
};
