// One e-mail address: what counts as one, and the form used to compare two. Values are stored as typed; the comparable
// form serves only matching and the blind index (CONTRACT 2).

const maxAddressLength = 254; // RFC 5321 4.5.3.1.3: a path is at most 256 characters with its angle brackets
const maxLocalPartLength = 64;
// dot-atom of RFC 5322 with the letters of RFC 6531. No quotes, spaces, commas, colons or angle brackets: such an
// address could carry a second recipient or a header into a mail.
const localPartPattern = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The ASCII (punycode), lower-case form of a mail domain; null when it is not a dotted host name. */
const toAsciiDomain = (domain: string): string | null => {
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(domain) || !URL.canParse(`https://${domain}/`)) return null;
  const host = new URL(`https://${domain}/`).hostname;
  const labels = host.split(".");
  const isName = labels.length >= 2 && labels.every((part) => labelPattern.test(part)) && !/^\d+$/.test(labels.at(-1) as string);
  return isName && host.length <= 253 ? host : null;
};

const splitAddress = (address: string): { local: string; domain: string } | null => {
  if (address.length > maxAddressLength) return null;
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at);
  if (at < 1 || local.length > maxLocalPartLength || !localPartPattern.test(local)) return null;
  const domain = toAsciiDomain(address.slice(at + 1));
  return domain === null ? null : { local, domain };
};

export const isEmailAddress = (address: string): boolean => splitAddress(address) !== null;

/** Trimmed, NFC and lower-case local part, punycode lower-case domain; null when it is not one mailbox. */
export const normalizeEmailAddress = (address: string): string | null => {
  const found = splitAddress(address.trim());
  return found === null ? null : `${found.local.normalize("NFC").toLowerCase()}@${found.domain}`;
};

/** Whether two addresses are surely one mailbox: what stands before the @ can differ by case and be another's. */
export const isSameEmailAddress = (one: string, other: string): boolean => {
  const [a, b] = [splitAddress(one.trim()), splitAddress(other.trim())];
  return a !== null && b !== null && a.domain === b.domain && a.local.normalize("NFC") === b.local.normalize("NFC");
};
