// Work on many things, some at once.

/**
 * Does `work` for each item, at most `limit` at once; the next item is asked for when there is somebody to work on it, so items
 * may be claimed one by one. A fault of `work` rejects at once: whoever must not be stopped by one item catches it there.
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
