// Decrypts the payloads of share events.
import type { StoredEvent, EventData } from "../../../core/events/event.ts";
import { shardOfId, type ShareId } from "../../../core/ids.ts";
import { listActiveShareKeys, eventPayloadContext } from "../../../storage/share-copies.ts";
import type { Sealer } from "../../../storage/vault.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface OpenedPayload {
  readonly data: EventData;
  /** Seals and opens values with the key of the event's share. */
  readonly sealer: Sealer;
}

/** Returns payloads by event ID. Omits events whose share is no longer active, because their payloads may no longer be read. */
export const openEventPayloads = async (
  services: ReadDependencies,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<string, OpenedPayload>> => {
  const { vault } = services;
  const byShard = Map.groupBy(events, ({ shareId }) => shardOfId(shareId ?? ""));
  const keys = await Promise.all(
    [...byShard].map(([shard, shardEvents]) =>
      listActiveShareKeys(
        services.shards.forId(`shr_${shard}`),
        [...new Set(shardEvents.map(({ shareId }) => shareId as ShareId))],
        services.clock(),
      ),
    ),
  );
  const sealers = new Map(
    await Promise.all(keys.flat().map(async ({ id, keySealed }) => [id as string, await vault.withRecordKey(keySealed)] as const)),
  );
  const opened = await Promise.all(
    events.map(async ({ id, shareId, dataSealed }) => {
      const sealer = sealers.get(shareId ?? "");
      if (sealer === undefined || shareId === null || dataSealed === null) return [];
      const data = JSON.parse(await sealer.open(eventPayloadContext(id, shareId), dataSealed)) as EventData;
      return [[id, { data, sealer }] as const];
    }),
  );
  return new Map(opened.flat());
};
