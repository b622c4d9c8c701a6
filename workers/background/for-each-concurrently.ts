// Limits how many items of a list are processed at once, because a Worker has few connections.

/** A Worker may have six connections open at once. One is kept free. */
export const maxConcurrentConnections = 5;

/**
 * Runs `work` for each item, at most `limit` at once. The next item is requested only when a slot is free, so items can be claimed one at a
 * time. Rejects as soon as `work` rejects. If failures must not stop other items, handle them inside `work`.
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
