// Recognizes IP addresses and derives their rate-limit keys.

const ipv4Pattern = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

const isIpv6 = (text: string): boolean => text.includes(":") && /^[0-9a-fA-F:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]/`);

/** Returns whether the text is an IP address: dotted IPv4 without leading zeros, or IPv6 without brackets or a zone. */
export const isIpAddress = (text: string): boolean => ipv4Pattern.test(text) || isIpv6(text);

/**
 * Returns the rate-limit key of an IP address. All IPv6 addresses in a /64 have the same key, because a /64 is the smallest block that a
 * subscriber gets. One household therefore counts as one caller.
 */
export const getIpRateLimitKey = (ip: string): string => {
  const mapped = /^::ffff:([\d.]+)$/i.exec(ip)?.[1]; // IPv4-mapped addresses are unwrapped, because they all share one /64
  if (mapped !== undefined || !ip.includes(":")) return mapped ?? ip;
  const [head = "", tail] = ip.toLowerCase().split("::");
  const left = head.split(":").filter((group) => group !== "");
  const right = tail === undefined ? [] : tail.split(":").filter((group) => group !== "");
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
};
