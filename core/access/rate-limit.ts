// A rate limit, and the state of a sliding window after a call.

export interface RateLimit {
  readonly count: number;
  readonly seconds: number;
}

export interface RateLimitState {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Milliseconds until the oldest call leaves the window or, if the call was refused, until there is room for it. */
  readonly resetMs: number;
}
