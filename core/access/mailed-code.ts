// The six digits that are mailed to prove control of an address: to withdraw, and to sign in. A code is only as good as the
// limits on trying it, which stand with each use.
import type { RandomBytes } from "../ids.ts";

export const codePattern = /^[0-9]{6}$/;
export const codeRule = "must be six digits";
const codes = 1_000_000;
const fairBelow = 4_294_000_000; // the largest multiple of a million in 32 bits: above it, low codes would be likelier

/** Six digits, each of the million equally likely. */
export const drawCode = (random: RandomBytes): string => {
  for (;;) {
    const bytes = random(4);
    const number = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (number < fairBelow) return String(number % codes).padStart(6, "0");
  }
};
