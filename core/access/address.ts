// What a network address looks like in text. Only recognised here; classes of addresses are the fetcher's business.

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)$/;

const isIpv6 = (text: string): boolean => text.includes(":") && /^[0-9a-fA-F:.]{2,45}$/.test(text) && URL.canParse(`http://[${text}]/`);

export const isKnownIp = (text: string): boolean => ipv4.test(text) || isIpv6(text);
