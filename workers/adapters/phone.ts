// Phone numbers to E.164, for matching only; the number stays stored as typed.
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/min";

/** `+15555550123`; null when it does not parse. `country` (ISO 3166-1 alpha-2) gives numbers without a prefix their region. */
export const toE164 = (phone: string, country: string): string | null => {
  const parsed = isSupportedCountry(country) ? parsePhoneNumberFromString(phone, country) : parsePhoneNumberFromString(phone);
  return parsed?.isPossible() ? parsed.number : null;
};
