// Validates the values of recognized fields, so that readers of a certificate can rely on what `country` or `email` contains. Values are
// stored as typed. Fields with other keys accept any text.
import { isEmailAddress } from "../email-address.ts";

/** All assigned ISO 3166-1 alpha-2 codes. */
export const countryCodes: ReadonlySet<string> = new Set(
  (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG " +
    "CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL " +
    "GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA " +
    "LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP " +
    "NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV " +
    "SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW"
  ).split(" "),
);

/** Returns whether the text is a country code, in upper or lower case. */
export const isCountryCode = (text: string): boolean => countryCodes.has(text.toUpperCase());

const isCalendarDay = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();

/**
 * Returns whether the text is a date: `1980-01-31`, or another format used in forms, such as `01/31/1980` or `31.1.1980`. In the other
 * formats, either the day or the month can come first.
 */
const isDate = (text: string): boolean => {
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (isoYear !== undefined) return isCalendarDay(Number(isoYear), Number(isoMonth), Number(isoDay));
  const [, first, , second, year] = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(text) ?? [];
  return isCalendarDay(Number(year), Number(first), Number(second)) || isCalendarDay(Number(year), Number(second), Number(first));
};

const fieldKinds: Readonly<Record<string, readonly [is: (value: string) => boolean, rule: string]>> = {
  email: [isEmailAddress, "must be a valid email address"],
  country: [isCountryCode, "must be a two-letter ISO 3166-1 code"],
  date_of_birth: [isDate, "must be a date"],
};

/** Returns the rule that the value breaks, or null. An empty value breaks no rule. */
export const validateFieldKind = (key: string, value: string): string | null => {
  const kind = Object.hasOwn(fieldKinds, key) ? fieldKinds[key] : undefined;
  return kind === undefined || value === "" || kind[0](value) ? null : kind[1];
};
