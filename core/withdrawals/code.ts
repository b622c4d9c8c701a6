// Every limit around the code that proves control of the address on a certificate (core/access/mailed-code.ts), set so
// that guessing is hopeless and nobody but the mail server of the address can keep the person out.
import { dayMs, hourMs, minuteMs } from "../time.ts";

export const codeLimits = {
  lifeMs: 10 * minuteMs,
  /**
   * Of the link in the same mail: 256 random bits need no tries to be counted, so it lives as long as codes count. Whoever uses
   * up a day's codes in a person's name has sent them links that work all that day.
   */
  linkLifeMs: dayMs,
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
