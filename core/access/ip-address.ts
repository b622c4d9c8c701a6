// What a network address looks like in text, and under which name its calls are counted. Classes of addresses are the
// fetcher's business.

const ipv4Pattern = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/;

const isIpv6 = (text: string): boolean => text.includes(":") && /^[0-9a-fA-F:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]/`);

export const isIpAddress = (text: string): boolean => ipv4Pattern.test(text) || isIpv6(text);

/** One household is one address: IPv6 counts by its /64, which is the smallest a subscriber gets. */
export const getIpRateLimitKey = (ip: string): string => {
  const mapped = /^::ffff:([\d.]+)$/i.exec(ip)?.[1]; // IPv4 in IPv6 clothes: all of it lies in one /64
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
