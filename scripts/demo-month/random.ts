// Repeatable random numbers, so that the demo month looks the same on every machine.

export interface Dice {
  /** Returns a number that is at least 0 and less than 1. */
  readonly roll: () => number;
  readonly pick: <T>(list: readonly T[]) => T;
}

/** The mulberry32 generator. The same seed gives the same numbers. Not for secrets. */
export const createDice = (seed: number): Dice => {
  let state = seed;
  const roll = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { roll, pick: <T>(list: readonly T[]) => list[Math.floor(roll() * list.length)] as T };
};
