// Normalizes phone numbers to E.164 for matching. The stored number stays as entered. Uses the library's complete metadata, because its
// smaller sets do not list the assigned number ranges.
import {
  isSupportedCountry,
  parsePhoneNumberFromString,
  type CountryCode,
  type MetadataJson,
  type PhoneNumber,
} from "libphonenumber-js/core";
import { toAsciiDigits } from "../../core/digits.ts";
import { once } from "../../core/once.ts";
import type { FormatPhone, ToE164 } from "../../core/certificates/recognized-fields.ts";
import { phoneMetadata } from "./phone-metadata.gen.ts";

/** The metadata is a JSON string that is parsed on first use. A JavaScript object literal would be parsed whenever an isolate starts. */
const getMetadata = once(() => JSON.parse(phoneMetadata) as MetadataJson);

const parse = (text: string, region?: CountryCode): PhoneNumber | undefined =>
  region === undefined ? parsePhoneNumberFromString(text, getMetadata()) : parsePhoneNumberFromString(text, region, getMetadata());

const keypad = ["abc", "def", "ghi", "jkl", "mno", "pqrs", "tuv", "wxyz"];
/**
 * Matches a number that ends in a word, such as 1-800-FLOWERS: an area code, then letters and digits. Postal addresses do not have this
 * form.
 */
const vanityPattern = /^\+?(?:\d{1,3}[\s.-]*)?\(?\d{3}\)?[\s.-]*(?=.*[a-z]{3})[a-z\d][a-z\d\s.-]*$/i;

const toKeypadDigits = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => String(2 + keypad.findIndex((letters) => letters.includes(letter.toLowerCase()))));

const parsePhone = (phone: string, country: string): PhoneNumber | null => {
  const region = isSupportedCountry(country as CountryCode, getMetadata()) ? (country as CountryCode) : undefined;
  // Numbers copied from contact apps can contain invisible direction marks.
  const text = toAsciiDigits(phone.replace(/\p{Cf}/gu, "").trim());
  const parsed = parse(text, region);
  // Without a country, the library can parse only numbers that include a country code. The second call therefore shows whether this number
  // includes one.
  if (parsed !== undefined && (parse(text) === undefined ? parsed.isValid() : parsed.isPossible())) return parsed;
  const vanity = vanityPattern.test(text) ? parse(toKeypadDigits(text), region) : undefined;
  return vanity?.isValid() === true ? vanity : null;
};

/**
 * Returns the number in a form such as `+15555550123`, without an extension, or null if it cannot be parsed. A number with a country code
 * must be possible (`isPossible`) but need not be valid. A number without a country code must be valid in `country` (ISO 3166-1 alpha-2). A
 * number that is written with letters must be valid too.
 */
export const toE164: ToE164 = (phone, country) => parsePhone(phone, country)?.number ?? null;

/** Returns the number in a form such as `+1 202 555 0123 ext. 7`, or the input if it cannot be parsed. */
export const formatPhone: FormatPhone = (phone, country) => parsePhone(phone, country)?.formatInternational() ?? phone;
