// Share choices that the consent sheet and the app have in common.
import type { Language } from "../../../core/language.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { appMessages } from "../i18n/app.ts";
import { formatDay, formatMessage } from "./components.tsx";

/** The durations in days that a person can choose instead of a longer requested one. */
export const shorterDurationDays = [30, 90] as const;

/** Formats a duration as the day on which a share that starts now would end, for example "26 February 2027 (90 days)". */
export const formatDuration = (language: Language, now: Instant, days: number): string => {
  const { untilDate, untilDateOneDay } = appMessages[language];
  return formatMessage(days === 1 ? untilDateOneDay : untilDate, { days: String(days), date: formatDay(language, now + days * dayMs) });
};
