// Masks field values for public pages. People can recognize their own data, and others learn as little as possible. A mask also hides the
// length of the value.

/**
 * Returns the first code point, not the first grapheme, because graphemes depend on the Unicode version and every verifier must compute the
 * same mask.
 */
const getFirstCharacter = (text: string): string => [...text.trim()][0] ?? "";

const maskEmail = (address: string): string => {
  const at = address.lastIndexOf("@");
  if (at < 1) return "***";
  const domain = address.slice(at + 1);
  return `${getFirstCharacter(address.slice(0, at))}***@${getFirstCharacter(domain)}***.${domain.slice(domain.lastIndexOf(".") + 1)}`;
};

const maskPhone = (phone: string): string => {
  const digits = phone.replace(/\D/g, "");
  return digits.length < 4 ? "***" : `***-***-**${digits.slice(-2)}`;
};

const maskName = (name: string): string => `${getFirstCharacter(name)}***`;

const maskByFieldKey: Readonly<Record<string, (value: string) => string>> = {
  email: maskEmail,
  phone: maskPhone,
  mobile: maskPhone,
  first_name: maskName,
  last_name: maskName,
  full_name: maskName,
};

/** Returns the masked form of one field value; an empty value stays empty. */
export const maskFieldValue = (key: string, value: string): string => {
  if (value === "") return "";
  const mask = Object.hasOwn(maskByFieldKey, key) ? maskByFieldKey[key] : undefined;
  return mask === undefined ? "***" : mask(value);
};
