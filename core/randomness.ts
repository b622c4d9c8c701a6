// Whether a secret can have been generated at random. One that was typed, counted up, repeated or copied out of an example can be
// guessed, however long it is. Random ones pass but for one in a billion, and `npm run keys` would then be run again.

const countDistinct = (values: Iterable<unknown>): number => new Set(values).size;

const minDistinctKeyBytes = 16; // of 32 random bytes about 30 are distinct: two repeats where sixteen would be needed

/** For the bytes of a key. */
export const hasRandomKeyBytes = (bytes: Uint8Array): boolean => {
  const steps = bytes.map((byte, at) => byte - (bytes[at - 1] ?? 0)).subarray(1); // all alike in 00 01 02 …
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f); // of 32 random bytes twenty are not
  return countDistinct(bytes) > minDistinctKeyBytes && countDistinct(steps) > minDistinctKeyBytes && !isText;
};

const minDistinctTokenCharacters = 8; // 64 hex digits have at most 16

/** For the characters of a token. */
export const hasRandomTokenCharacters = (text: string): boolean => countDistinct(text) > minDistinctTokenCharacters;
