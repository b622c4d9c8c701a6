// Share wording and choices that the consent sheet, the app and the portal have in common.
import type { FieldGroup } from "../../../core/shares/fields.ts";
import { groupLabels } from "../../../core/shares/labels.ts";
import type { Language } from "./language.ts";

/** Joins the group names into a list in the given language: "email, name, and phone". */
export const formatFieldGroups = (language: Language, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** The durations in days that a person can choose instead of a longer requested one. */
export const shorterDurationDays = [30, 90] as const;
