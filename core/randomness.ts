// Checks whether a secret could have been generated at random. A secret that was typed, counted, repeated or copied can be guessed, however
// long it is. Random secrets fail less than once in a billion; in that case, run `npm run keys` again.

const countDistinct = (values: Iterable<unknown>): number => new Set(values).size;

const minDistinctKeyBytes = 16; // of 32 random bytes, about 30 are distinct

/** For key bytes. */
export const hasRandomKeyBytes = (bytes: Uint8Array): boolean => {
  const steps = bytes.map((byte, at) => byte - (bytes[at - 1] ?? 0)).subarray(1); // all equal in 00 01 02 …
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f); // of 32 random bytes, twenty are not
  return countDistinct(bytes) > minDistinctKeyBytes && countDistinct(steps) > minDistinctKeyBytes && !isText;
};

const minDistinctTokenCharacters = 8; // 64 hex digits have at most 16

/** For token characters. */
export const hasRandomTokenCharacters = (text: string): boolean => countDistinct(text) > minDistinctTokenCharacters;
