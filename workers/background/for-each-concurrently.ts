// Limits how many items of a list are processed at the same time, because a Worker has few connections.

/** A Worker may have six connections open at the same time. One is kept free. */
export const maxConcurrentConnections = 5;

/**
 * Runs `work` for each item, with at most `limit` running at the same time. The next item is requested only when a slot is free, so items
 * can be claimed one by one. Rejects as soon as `work` rejects; if a failure must not stop other items, handle it inside `work`.
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
