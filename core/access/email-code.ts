// Email codes: six digits that verify an email address. Limits prevent attackers from guessing codes and from flooding a mailbox.
import { toAsciiDigits } from "../digits.ts";
import { isEqualConstantTime } from "../hash.ts";
import type { RandomBytes } from "../ids.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../time.ts";

const emailCodePattern = /^[0-9]{6}$/;
/** Accepts text around the code. Longer text is refused, because normalizing it can take quadratic time. */
const maxTypedLength = 200;
export const emailCodeRule = "must be six digits";

/**
 * Parses a code that a person typed or pasted. Accepts digits of any script. Ignores spaces, punctuation, invisible characters and the
 * symbols that chats and emails use for formatting. Returns null if the rest is not exactly six digits, or if the text has more than 200
 * characters.
 */
export const parseEmailCode = (text: string): string | null => {
  if (text.length > maxTypedLength) return null;
  const code = toAsciiDigits(text.normalize("NFKC").replaceAll(/[\p{Z}\p{C}\p{P}\p{M}`<>=|~^+]/gu, ""));
  return emailCodePattern.test(code) ? code : null;
};

const codeCount = 1_000_000;
const unbiasedLimit = 4_294_000_000; // the largest multiple of a million in 32 bits; higher numbers would make low codes more likely

/** Generates six digits; each of the million codes is equally likely. */
export const generateEmailCode = (random: RandomBytes): string => {
  for (;;) {
    const bytes = random(4);
    const number = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (number < unbiasedLimit) return String(number % codeCount).padStart(6, "0");
  }
};

/** The purposes for which an email address is verified. */
export type EmailCodePurpose = "withdrawal" | "login";

export interface EmailCodeLimits {
  readonly lifeMs: number;
  /**
   * The number of codes that can be active at once. A new code does not cancel older ones, so someone else who requests codes cannot
   * invalidate the code that the person is typing.
   */
  readonly maxActive: number;
  /** The minimum time between two codes. It does not apply if the earlier code has been used. */
  readonly resendDelayMs: number;
  /** Limits on the codes that are sent to one email address for one topic. `emailCodeLimits` defines what a topic is for each purpose. */
  readonly topicSendLimits: readonly { readonly withinMs: number; readonly max: number }[];
  /**
   * Limit on the codes that are sent to one email address for all topics together. The first `freeOfTopic` emails for each topic do not
   * count.
   */
  readonly mailsToAddress: { readonly withinMs: number; readonly max: number; readonly freeOfTopic: number };
  /**
   * The maximum number of attempts at one code from the browser that requested it. If browsers are not distinguished, the maximum applies
   * to all attempts.
   */
  readonly attemptsFromContext: number;
  /**
   * The maximum number of attempts at one code from all other browsers. These attempts are counted separately, so other people cannot use
   * up the person's own attempts.
   */
  readonly attemptsFromElsewhere: number;
  /**
   * After this many wrong codes in a row, only one code can be requested every `everyMs` until a correct code is entered. Null means that
   * there is no slowdown.
   */
  readonly guessSlowdown: { readonly failures: number; readonly everyMs: number } | null;
  /**
   * After this many wrong codes in a row from browsers that did not request an active code, each code works only in the browser that
   * requested it. This restriction ends when a correct code is entered. Null means that there is no such restriction.
   */
  readonly failuresFromElsewhere: number | null;
}

export const emailCodeLimits = {
  /**
   * For withdrawals, a topic is a business and environment, because a code also works for the business's other certificates with the same
   * address. The first three emails a day for each topic do not count toward the address's daily limit of twenty. Requests for other
   * businesses therefore cannot use up a person's codes. An attacker gets 100 guesses a day (ten codes, ten attempts each) for each shard
   * with certificates of the business.
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
    failuresFromElsewhere: null,
  },
  /**
   * For sign-in, a topic is a realm (business or consumer). In their own browser, an attacker gets 100 guesses a day (twenty codes, five
   * attempts each). In other browsers, an attacker can enter twenty wrong codes in a row. Wrong codes never keep the person from requesting
   * another code and entering it in their own browser.
   */
  login: {
    lifeMs: 10 * minuteMs,
    maxActive: 5,
    resendDelayMs: 60 * secondMs,
    topicSendLimits: [{ withinMs: dayMs, max: 20 }],
    mailsToAddress: { withinMs: 15 * minuteMs, max: 5, freeOfTopic: 0 },
    attemptsFromContext: 5,
    attemptsFromElsewhere: 5,
    guessSlowdown: null,
    failuresFromElsewhere: 20,
  },
} as const satisfies Record<EmailCodePurpose, EmailCodeLimits>;

/** How long sent codes count toward the limits above. The longest of these limits covers one day. */
export const emailCodeRetentionMs = dayMs;
/** Wrong codes no longer count after a correct code is entered, or when this much time has passed since the last attempt. */
export const failedAttemptRetentionMs = 30 * dayMs;

export interface EmailCodeComparison {
  readonly id: string;
  readonly expected: string;
  readonly submitted: string;
}

/**
 * Returns the ID of the matching code, or null. Always compares every code, so that the response time does not reveal which code matches.
 */
export const findMatchingCodeId = (compared: readonly EmailCodeComparison[]): string | null =>
  compared.filter(({ expected, submitted }) => isEqualConstantTime(expected, submitted))[0]?.id ?? null;
