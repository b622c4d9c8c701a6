// Map.groupBy for Node 20 and older browsers.

export const groupBy = <K, T>(values: Iterable<T>, getKey: (value: T) => K): ReadonlyMap<K, readonly T[]> => {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = getKey(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
};
