// Converts decimal digits in any script, as people type and paste them.

/** Returns the ASCII digit with the same value. Uses the fact that the ten digits of each script are consecutive in Unicode. */
const toAsciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0) as number;
  let zero = code;
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
};

/** Replaces the decimal digits of every script with ASCII digits. Other characters stay unchanged. */
export const toAsciiDigits = (text: string): string => text.replaceAll(/\p{Nd}/gu, toAsciiDigit);
