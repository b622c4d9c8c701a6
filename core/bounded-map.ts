// A map that remembers so many entries and no more, for what is worth keeping in memory and can be had again.

export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #entries = new Map<Key, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** The entry set longest ago makes room. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value as Key);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }
}
