// A limit on how often something may be asked, and what a sliding window says about the call just made.

export interface RateLimit {
  readonly count: number;
  readonly seconds: number;
}

export interface RateLimitState {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Milliseconds until the oldest call leaves the window. */
  readonly resetMs: number;
}

/** What may be written for a client in a day without an API key. */
export interface DailyLimits {
  readonly submissions: number;
  readonly bytes: number;
}
