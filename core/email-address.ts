// Validates email addresses, and normalizes them for comparison. Addresses are stored as typed. The normalized form is used only for
// matching and for the blind index.

const maxAddressLength = 254; // RFC 5321 4.5.3.1.3: a path is at most 256 characters with its angle brackets
const maxLocalPartLength = 64;
// Matches the dot-atom of RFC 5322 with the letters of RFC 6531. Does not match quotes, spaces, commas, colons or angle brackets, because
// they could add a second recipient or a header to an email.
const localPartPattern = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the ASCII (punycode), lowercase form of an email domain, or null if it is not a dotted host name. */
const toAsciiDomain = (domain: string): string | null => {
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(domain) || !URL.canParse(`https://${domain}/`)) return null;
  const host = new URL(`https://${domain}/`).hostname;
  const labels = host.split(".");
  const isName = labels.length >= 2 && labels.every((part) => labelPattern.test(part)) && !/^\d+$/.test(labels.at(-1) as string);
  return isName && host.length <= 253 ? host : null;
};

const trimmedCharacterPattern = /^[\s\p{Z}\p{Cf}]$/u;

/**
 * Removes whitespace and invisible characters around an address. Text copied from spreadsheets and contact apps can contain byte order
 * marks, zero-width spaces and direction marks. Checks one character at a time, because a regular expression with `+$` restarts at every
 * character of a long run inside the text, which takes more than 45 seconds for a body of 256 KiB.
 */
export const trimTypedAddress = (text: string): string => {
  const characters = [...text];
  const isKept = (character: string): boolean => !trimmedCharacterPattern.test(character);
  const start = characters.findIndex(isKept);
  return start === -1 ? "" : characters.slice(start, characters.findLastIndex(isKept) + 1).join("");
};

const splitAddress = (address: string): { local: string; domain: string } | null => {
  if (address.length > maxAddressLength) return null;
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  if (at < 1 || local.length > maxLocalPartLength || !localPartPattern.test(local)) return null;
  const domain = toAsciiDomain(address.slice(at + 1));
  return domain === null ? null : { local, domain };
};

/**
 * Returns the address in the form that mail servers accept: as typed, with the domain in punycode. `isAscii` is false if the part before
 * the @ has non-ASCII characters. Only a provider that supports SMTPUTF8 (RFC 6531) can send email to such an address. Throws if the text
 * is not one address.
 */
export const toMailboxAddress = (address: string): { readonly address: string; readonly isAscii: boolean } => {
  const parts = splitAddress(address);
  if (parts === null) throw new Error("mail: the address must be one mailbox");
  return { address: `${parts.local}@${parts.domain}`, isAscii: /^[\x21-\x7e]+$/.test(parts.local) };
};

/** Returns whether the text is exactly one valid address, without surrounding whitespace. */
export const isEmailAddress = (address: string): boolean => splitAddress(address) !== null;

/**
 * Returns the normalized form: trimmed, with the part before the @ in lowercase NFC and the domain in lowercase punycode. Returns null if
 * the text is not one address.
 */
export const normalizeEmailAddress = (address: string): string | null => {
  const parts = splitAddress(trimTypedAddress(address));
  return parts === null ? null : `${parts.local.normalize("NFC").toLowerCase()}@${parts.domain}`;
};

/**
 * Returns whether two addresses are certainly the same mailbox. The part before the @ is compared case-sensitively, because case can
 * distinguish mailboxes.
 */
export const isSameEmailAddress = (first: string, second: string): boolean => {
  const [a, b] = [splitAddress(trimTypedAddress(first)), splitAddress(trimTypedAddress(second))];
  return a !== null && b !== null && a.domain === b.domain && a.local.normalize("NFC") === b.local.normalize("NFC");
};
