// The six digits that are mailed to prove control of an address, and every limit around them, for each thing that an address is
// proved for. A code is only as good as the limits on trying it, and must not become a way to fill somebody's mailbox.
import { isSameSecret } from "../hash.ts";
import type { RandomBytes } from "../ids.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../time.ts";

export const codePattern = /^[0-9]{6}$/;
export const codeRule = "must be six digits";

/** A code as people copy it, with spaces or dashes; null for what is none. */
export const typedCodeOf = (text: string): string | null => {
  const code = text.replaceAll(/[\s-]/g, "");
  return codePattern.test(code) ? code : null;
};

const codes = 1_000_000;
const fairBelow = 4_294_000_000; // the largest multiple of a million in 32 bits: above it, low codes would be likelier

/** Six digits, each of the million equally likely. */
export const generateCode = (random: RandomBytes): string => {
  for (;;) {
    const bytes = random(4);
    const number = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
    if (number < fairBelow) return String(number % codes).padStart(6, "0");
  }
};

/** What an address is proved for. */
export type CodePurpose = "withdrawal" | "login";

export interface MailedCodeLimits {
  /** How long a code is of use. */
  readonly lifeMs: number;
  /** A new code cancels no older one: a stranger who asks again must not spoil the code the person is typing. */
  readonly maxLive: number;
  /** While one is open, the next waits this long. */
  readonly resendMs: number;
  /** For one address and topic: what exactly a code opens, such as one business or one realm. */
  readonly mails: readonly { readonly withinMs: number; readonly max: number }[];
  /** For one address over all topics; the first few of each topic are outside the count. */
  readonly mailsToAddress: { readonly withinMs: number; readonly max: number; readonly freeOfTopic: number };
  /** At one code, from the browser that asked. Where no browser is told from another, all are this one. */
  readonly triesFromContext: number;
  /** At one code, from everywhere else together. Strangers can use up these, never the others. */
  readonly triesFromElsewhere: number;
  /** After this many wrong answers in a row, one code in that time until one is right. */
  readonly rare: { readonly failures: number; readonly everyMs: number };
}

export const mailedCodeLimits = {
  /**
   * A topic is a business and environment: a code that was mailed for one certificate works for all that name the address. The
   * first three mails a day of each are outside the address's twenty, so that nobody's requests elsewhere use up a person's codes.
   * Ten codes a day of ten tries each: a guesser has 100 of 1,000,000, once.
   */
  withdrawal: {
    lifeMs: 10 * minuteMs,
    maxLive: 3,
    resendMs: 0,
    mails: [
      { withinMs: hourMs, max: 5 },
      { withinMs: dayMs, max: 10 },
    ],
    mailsToAddress: { withinMs: dayMs, max: 20, freeOfTopic: 3 },
    triesFromContext: 5,
    triesFromElsewhere: 5,
    rare: { failures: 100, everyMs: dayMs },
  },
  /**
   * A topic is a realm. Twenty codes a day of five tries each: a guesser has 100 of 1,000,000 in a day; after twenty wrong ones in a
   * row five an hour.
   */
  login: {
    lifeMs: 10 * minuteMs,
    maxLive: 5,
    resendMs: 60 * secondMs,
    mails: [{ withinMs: dayMs, max: 20 }],
    mailsToAddress: { withinMs: 15 * minuteMs, max: 5, freeOfTopic: 0 },
    triesFromContext: 5,
    triesFromElsewhere: 0,
    rare: { failures: 20, everyMs: hourMs },
  },
} as const satisfies Record<CodePurpose, MailedCodeLimits>;

/** How long codes count towards a limit: the longest of them. */
export const codesKeptMs = dayMs;
/** Wrong answers count until one is right, or nobody has answered for this long. */
export const failuresKeptMs = 30 * dayMs;

export interface ComparedCode {
  readonly id: string;
  readonly expected: string;
  readonly given: string;
}

/** The code that was answered; null for none. Every comparison is made, whatever the others found. */
export const matchingCode = (compared: readonly ComparedCode[]): string | null =>
  compared.filter(({ expected, given }) => isSameSecret(expected, given))[0]?.id ?? null;
