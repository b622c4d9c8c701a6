// Limits how many items of a list are processed at the same time, because a Worker has few connections.

/** A Worker can have six open connections at a time. This leaves one free. */
export const maxConcurrentConnections = 5;

/**
 * Runs `work` for each item, at most `limit` at a time. Requests the next item only when a slot is free, so that items can be claimed one
 * by one. Rejects as soon as `work` rejects for an item, without waiting for the others. To process all items, handle failures inside
 * `work`.
 */
export const forEachConcurrently = async <Item>(
  limit: number,
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> => {
  const source = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = await source.next(); next.done !== true; next = await source.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
};
