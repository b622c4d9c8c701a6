// Normalizes phone numbers to E.164 for matching. The stored number stays as entered.
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";

/**
 * Returns the number in a form such as `+15555550123`, or null if it cannot be parsed. `country` (ISO 3166-1 alpha-2) is used for numbers
 * without a country code.
 */
export const toE164 = (phone: string, country: string): string | null => {
  const parsed = isSupportedCountry(country) ? parsePhoneNumberFromString(phone, country) : parsePhoneNumberFromString(phone);
  return parsed?.isPossible() ? parsed.number : null;
};
