// Normalizes phone numbers to E.164 for matching. The stored number stays as entered. Uses the library's complete metadata, because the
// smaller sets know only how long numbers are, not which ones are assigned.
import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode, type PhoneNumber } from "libphonenumber-js/max";
import { toAsciiDigits } from "../../core/digits.ts";
import type { FormatPhone, ToE164 } from "../../core/certificates/recognized-fields.ts";

const keypad = ["abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz"];
/** A number that ends in a word, such as 1-800-FLOWERS: an area code, then letters and digits. An address does not have that form. */
const vanityPattern = /^\+?(?:\d{1,3}[\s.-]*)?\(?\d{3}\)?[\s.-]*(?=.*[a-z]{3})[a-z\d][a-z\d\s.-]*$/i;

const toKeypadDigits = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => String(2 + keypad.findIndex((letters) => letters.includes(letter.toLowerCase()))));

const parse = (phone: string, country: CountryCode | undefined): PhoneNumber | undefined => parsePhoneNumberFromString(phone, country);

/** Parses a number. See `toE164` for what counts as one. */
const parsePhone = (phone: string, country: string): PhoneNumber | null => {
  const region = isSupportedCountry(country) ? country : undefined;
  const text = toAsciiDigits(phone.replace(/\p{Cf}/gu, "").trim()); // contact apps copy invisible direction marks along
  const parsed = parse(text, region);
  // Parsed without a country, only a number with a country code is found.
  if (parsed !== undefined && (parse(text, undefined) === undefined ? parsed.isValid() : parsed.isPossible())) return parsed;
  const vanity = vanityPattern.test(text) ? parse(toKeypadDigits(text), region) : undefined;
  return vanity?.isValid() === true ? vanity : null;
};

/**
 * Returns the number in a form such as `+15555550123`, or null if it cannot be parsed. A number with a country code must be possible
 * (`isPossible`) but need not be valid. A number without a country code, or with letters, must be valid in `country` (ISO 3166-1 alpha-2).
 * Extensions are left out.
 */
export const toE164: ToE164 = (phone, country) => parsePhone(phone, country)?.number ?? null;

/** Returns a form such as `+1 202 555 0123 ext. 7`. Returns the text itself if it cannot be parsed. */
export const formatPhone: FormatPhone = (phone, country) => parsePhone(phone, country)?.formatInternational() ?? phone;
