// What a stranger may see of a person (CONTRACT 2): enough to recognise oneself, not enough to learn anything. The mask
// has a fixed width, so not even the length of a value is told.

const first = (text: string): string => [...text.trim()][0] ?? "";

const maskedEmail = (address: string): string => {
  const at = address.lastIndexOf("@");
  if (at < 1) return "***";
  const domain = address.slice(at + 1);
  return `${first(address.slice(0, at))}***@${first(domain)}***.${domain.slice(domain.lastIndexOf(".") + 1)}`;
};

const maskedPhone = (phone: string): string => {
  const digits = phone.replace(/\D/g, "");
  return digits.length < 4 ? "***" : `***-***-**${digits.slice(-2)}`;
};

const maskedName = (name: string): string => `${first(name)}***`;

const masks: Readonly<Record<string, (value: string) => string>> = {
  email: maskedEmail,
  phone: maskedPhone,
  mobile: maskedPhone,
  first_name: maskedName,
  last_name: maskedName,
  full_name: maskedName,
};

/** The masked form of one field value; an empty value stays empty. */
export const masked = (key: string, value: string): string => {
  if (value === "") return "";
  const mask = Object.hasOwn(masks, key) ? masks[key] : undefined;
  return mask === undefined ? "***" : mask(value);
};
