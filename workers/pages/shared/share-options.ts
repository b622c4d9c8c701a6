// Share choices that the consent sheet and the app have in common.

/** The durations in days that a person can choose instead of a longer requested one. */
export const shorterDurationDays = [30, 90] as const;
