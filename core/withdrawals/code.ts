// The six-digit code that proves control of the address on a certificate, and every limit around it. The limits are set so
// that guessing is hopeless and nobody but the mail server of the address can keep the person out.
import type { RandomBytes } from "../ids.ts";
import { dayMs, hourMs, minuteMs } from "../time.ts";

export const codePattern = /^[0-9]{6}$/;
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

export const codeLimits = {
  lifeMs: 10 * minuteMs,
  /** A new code cancels no older one: a stranger who asks again must not spoil the code the person is typing. */
  mostLive: 3,
  /** For one certificate and address. */
  mailsAnHour: 5,
  mailsADay: 10,
  /** For one address, whatever the certificate. */
  mailsADayForAddress: 20,
  /**
   * Tries at one code: five in the browser that asked for it, five from everywhere else together. Strangers can use up the
   * second five, never the first. Ten codes a day of ten tries each: a guesser has 100 of 1,000,000, once.
   */
  triesFromContext: 5,
  triesFromElsewhere: 5,
  /** Once that many tries in a row were wrong, one code a day is mailed. */
  failuresUntilRare: 100,
  mailsADayWhenRare: 1,
} as const;

/** How long rows of codes count towards a limit. */
export const codesCountMs = dayMs;
export const mailsCountMs = { hour: hourMs, day: dayMs } as const;
