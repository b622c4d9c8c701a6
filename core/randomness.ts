// Checks whether a secret could have been generated at random. Even a long secret can be guessed if someone typed it by hand or copied it
// from an example, or if its bytes or characters are consecutive or repeated. Fewer than one in a billion random secrets fail this check.
// If yours does, run `npm run keys` again.

const countDistinct = (values: Iterable<unknown>): number => new Set(values).size;

const minDistinctKeyBytes = 16; // 32 random bytes have about 30 distinct values

/** Returns whether the bytes of a key could be random. */
export const hasRandomKeyBytes = (bytes: Uint8Array): boolean => {
  const steps = bytes.map((byte, at) => byte - (bytes[at - 1] ?? 0)).subarray(1); // all steps are equal in a sequential key (00 01 02 …)
  const isText = bytes.every((byte) => byte >= 0x20 && byte < 0x7f); // about twenty of the 32 bytes in a random key are not printable ASCII
  return countDistinct(bytes) > minDistinctKeyBytes && countDistinct(steps) > minDistinctKeyBytes && !isText;
};

const minDistinctTokenCharacters = 8; // 64 random hex digits have up to 16 distinct characters

/** Returns whether the characters of a token could be random. */
export const hasRandomTokenCharacters = (text: string): boolean => countDistinct(text) > minDistinctTokenCharacters;
