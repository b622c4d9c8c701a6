// The six digits that are mailed to prove control of an address, and every limit around them, for each thing that an address is
// proved for. A code is only as good as the limits on trying it, and must not become a way to fill somebody's mailbox.
import { isEqualConstantTime } from "../hash.ts";
import type { RandomBytes } from "../ids.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../time.ts";

export const emailCodePattern = /^[0-9]{6}$/;
export const emailCodeRule = "must be six digits";

/** A code as people copy it, with spaces or dashes; null for what is none. */
export const parseEmailCode = (text: string): string | null => {
  const code = text.replaceAll(/[\s-]/g, "");
  return emailCodePattern.test(code) ? code : null;
};

const codeCount = 1_000_000;
const unbiasedLimit = 4_294_000_000; // the largest multiple of a million in 32 bits: above it, low codes would be likelier

/** Six digits, each of the million equally likely. */
export const generateEmailCode = (random: RandomBytes): string => {
  for (;;) {
    const bytes = random(4);
    const number = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (number < unbiasedLimit) return String(number % codeCount).padStart(6, "0");
  }
};

/** What an address is proved for. */
export type EmailCodePurpose = "withdrawal" | "login";

export interface EmailCodeLimits {
  /** How long a code is of use. */
  readonly lifeMs: number;
  /** A new code cancels no older one: a stranger who asks again must not spoil the code the person is typing. */
  readonly maxActive: number;
  /** While one is open, the next waits this long. */
  readonly resendDelayMs: number;
  /** For one address and topic: what exactly a code opens, such as one business or one realm. */
  readonly topicSendLimits: readonly { readonly withinMs: number; readonly max: number }[];
  /** For one address over all topics; the first few of each topic are outside the count. */
  readonly mailsToAddress: { readonly withinMs: number; readonly max: number; readonly freeOfTopic: number };
  /** At one code, from the browser that asked. Where no browser is told from another, all are this one. */
  readonly attemptsFromContext: number;
  /** At one code, from everywhere else together. Strangers can use up these, never the others. */
  readonly attemptsFromElsewhere: number;
  /** After this many wrong answers in a row, one code in that time until one is right. */
  readonly guessSlowdown: { readonly failures: number; readonly everyMs: number };
}

export const emailCodeLimits = {
  /**
   * A topic is a business and environment: a code that was mailed for one certificate works for all that name the address. The
   * first three mails a day of each are outside the address's twenty, so that nobody's requests elsewhere use up a person's codes.
   * Ten codes a day of ten tries each: a guesser has 100 of 1,000,000, once.
   */
  withdrawal: {
    lifeMs: 10 * minuteMs,
    maxActive: 3,
    resendDelayMs: 0,
    topicSendLimits: [
      { withinMs: hourMs, max: 5 },
      { withinMs: dayMs, max: 10 },
    ],
    mailsToAddress: { withinMs: dayMs, max: 20, freeOfTopic: 3 },
    attemptsFromContext: 5,
    attemptsFromElsewhere: 5,
    guessSlowdown: { failures: 100, everyMs: dayMs },
  },
  /**
   * A topic is a realm. Twenty codes a day of five tries each: a guesser has 100 of 1,000,000 in a day; after twenty wrong ones in a
   * row five an hour.
   */
  login: {
    lifeMs: 10 * minuteMs,
    maxActive: 5,
    resendDelayMs: 60 * secondMs,
    topicSendLimits: [{ withinMs: dayMs, max: 20 }],
    mailsToAddress: { withinMs: 15 * minuteMs, max: 5, freeOfTopic: 0 },
    attemptsFromContext: 5,
    attemptsFromElsewhere: 0,
    guessSlowdown: { failures: 20, everyMs: hourMs },
  },
} as const satisfies Record<EmailCodePurpose, EmailCodeLimits>;

/** How long codes count towards a limit: the longest of them. */
export const emailCodeRetentionMs = dayMs;
/** Wrong answers count until one is right, or nobody has answered for this long. */
export const failedAttemptRetentionMs = 30 * dayMs;

export interface EmailCodeComparison {
  readonly id: string;
  readonly expected: string;
  readonly given: string;
}

/** The code that was answered; null for none. Every comparison is made, whatever the others found. */
export const findMatchingCodeId = (compared: readonly EmailCodeComparison[]): string | null =>
  compared.filter(({ expected, given }) => isEqualConstantTime(expected, given))[0]?.id ?? null;
