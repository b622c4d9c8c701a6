// Tests which origins and page URLs are accepted for a business, with one row for each misleading spelling.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validatePageUrl, verifyOrigin, verifyPageUrl, type OriginRules, type VerifiedDomain } from "../../../core/access/origins.ts";

const domains: readonly VerifiedDomain[] = [
  { id: "dom_dns", domain: "example.com", method: "dns" },
  { id: "dom_meta", domain: "demo.example", method: "meta" },
  { id: "dom_file", domain: "file.example", method: "well_known" },
  { id: "dom_idn", domain: "xn--bcher-kva.example", method: "dns" },
  { id: "dom_local", domain: "localhost", method: "meta" },
  { id: "dom_loop", domain: "127.0.0.1", method: "meta" },
];
const production: OriginRules = { allowsLocalHttp: false, allowsSandboxLocalhost: false };
const development: OriginRules = { allowsLocalHttp: true, allowsSandboxLocalhost: false };
const sandbox: OriginRules = { allowsLocalHttp: false, allowsSandboxLocalhost: true };

const findOriginHost = (origin: string | null, rules: OriginRules, allowedDomains = domains): string | null => {
  const found = verifyOrigin(origin, allowedDomains, rules);
  return found.ok ? found.value.host : null;
};
const pageHost = (pageUrl: string, rules: OriginRules, allowedDomains = domains): string | null => {
  if (validatePageUrl(pageUrl) !== null) return "fault";
  const found = verifyPageUrl(pageUrl, allowedDomains, rules);
  return found.ok ? found.value.host : null;
};

describe("verifyOrigin", () => {
  test.each<readonly [string, string | null, string | null]>([
    ["the verified host", "https://example.com", "example.com"],
    ["a subdomain of a domain verified by DNS", "https://www.example.com", "www.example.com"],
    ["a deep subdomain", "https://a.b.c.example.com", "a.b.c.example.com"],
    ["the exact host of a tag", "https://demo.example", "demo.example"],
    ["www of a tag", "https://www.demo.example", "www.demo.example"],
    ["www of a file", "https://www.file.example", "www.file.example"],
    ["an international name in punycode", "https://xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["upper case", "https://WWW.Example.COM", "www.example.com"],
    ["an upper-case scheme", "HTTPS://example.com", "example.com"],
    ["the default port of https", "https://example.com:443", "example.com"],
    ["missing", null, null],
    ["empty", "", null],
    ["null", "null", null],
    ["an asterisk", "*", null],
    ["an asterisk as a label", "https://*.example.com", null],
    ["an asterisk inside a label", "https://w*.example.com", null],
    ["http", "http://example.com", null],
    ["another port", "https://example.com:8443", null],
    ["port 80", "https://example.com:80", null],
    ["an empty port", "https://example.com:", null],
    ["a port with a leading zero", "https://example.com:0443", null],
    ["a trailing slash", "https://example.com/", null],
    ["a path", "https://example.com/quote", null],
    ["a query", "https://example.com?x", null],
    ["a fragment", "https://example.com#x", null],
    ["user and password", "https://example.com@evil.com", null],
    ["a user before the host", "https://user@example.com", null],
    ["an empty user", "https://@example.com", null],
    ["a trailing dot", "https://example.com.", null],
    ["two dots", "https://example.com..", null],
    ["a leading dot", "https://.example.com", null],
    ["a label of 63 characters", `https://${"a".repeat(63)}.example.com`, `${"a".repeat(63)}.example.com`],
    ["a label of 64 characters", `https://${"a".repeat(64)}.example.com`, null],
    ["a name of 253 characters", `https://${"a.".repeat(121)}example.com`, `${"a.".repeat(121)}example.com`],
    ["a name of 255 characters", `https://${"a.".repeat(122)}example.com`, null],
    ["an empty label", "https://a..example.com", null],
    ["the host as a suffix without a dot", "https://notexample.com", null],
    ["the host as a prefix", "https://example.com.evil.com", null],
    ["the host with a dash before it", "https://evil-example.com", null],
    ["the parent domain", "https://com", null],
    ["a subdomain of a tag", "https://shop.demo.example", null],
    ["www of www of a tag", "https://www.www.demo.example", null],
    ["a subdomain of a file", "https://shop.file.example", null],
    ["an underscore before the host", "https://x_example.com", null],
    ["an international name as letters", "https://bücher.example", null],
    ["a look-alike letter", "https://ex\u0430mple.com", null],
    ["a percent sign", "https://ex%61mple.com", null],
    ["a backslash", "https:\\\\example.com", null],
    ["one slash", "https:/example.com", null],
    ["no slash", "https:example.com", null],
    ["three slashes", "https:///example.com", null],
    ["a tab", "https://exam\tple.com", null],
    ["a leading space", " https://example.com", null],
    ["a trailing space", "https://example.com ", null],
    ["two origins", "https://example.com https://example.com", null],
    ["two origins with a comma", "https://example.com, https://example.com", null],
    ["only a host", "example.com", null],
    ["no scheme", "//example.com", null],
    ["another scheme", "ftp://example.com", null],
    ["an extension", "chrome-extension://example.com", null],
    ["a file", "file://", null],
    ["a socket", "wss://example.com", null],
    ["javascript", "javascript://example.com", null],
    ["an IP address", "https://93.184.216.34", null],
    ["an IPv6 address", "https://[2001:db8::1]", null],
    ["localhost", "http://localhost:8788", null],
    ["the loopback address", "http://127.0.0.1:8788", null],
  ])("decides in production on %s", (_name, origin, host) => {
    expect(findOriginHost(origin, production)).toBe(host);
  });

  test.each<readonly [string, string, string | null]>([
    ["localhost with a port", "http://localhost:8788", "localhost"],
    ["localhost without a port", "http://localhost", "localhost"],
    ["localhost with the default port of http", "http://localhost:80", "localhost"],
    ["localhost over https with a port", "https://localhost:8788", "localhost"],
    ["the loopback address with a port", "http://127.0.0.1:3000", "127.0.0.1"],
    ["another spelling of the loopback address", "http://127.1:3000", null],
    ["the loopback address as a number", "http://2130706433", null],
    ["IPv6 loopback", "http://[::1]:3000", null],
    ["a name under localhost", "http://app.localhost:3000", null],
    ["localhost with a trailing dot", "http://localhost.:3000", null],
    ["another host over http", "http://example.com", null],
    ["another host with a port", "https://example.com:8443", null],
    ["0.0.0.0", "http://0.0.0.0:3000", null],
  ])("decides in development on %s", (_name, origin, host) => {
    expect(findOriginHost(origin, development)).toBe(host);
  });

  test("refuses localhost in development unless the business has verified it", () => {
    expect(findOriginHost("http://localhost:8788", development, [])).toBeNull();
  });

  test.each<readonly [string, string, string | null]>([
    ["http://localhost", "http://localhost:3000", "localhost"],
    ["https://localhost", "https://localhost:3000", null],
    ["the loopback address", "http://127.0.0.1:3000", null],
    ["a name under localhost", "http://app.localhost:3000", null],
    ["a name that begins like localhost", "http://localhost.evil.com", null],
    ["any other host", "https://example.com", null],
  ])("decides for a test client without domains on %s", (_name, origin, host) => {
    expect(findOriginHost(origin, sandbox, [])).toBe(host);
  });

  test("returns no domain ID for localhost of a test client, and the ID of a verified domain otherwise", () => {
    expect(verifyOrigin("http://localhost:3000", [], sandbox)).toEqual({ ok: true, value: { host: "localhost", domainId: null } });
    expect(verifyOrigin("https://a.example.com", domains, production)).toEqual({
      ok: true,
      value: { host: "a.example.com", domainId: "dom_dns" },
    });
  });

  test("accepts only a verified host, a subdomain of one verified by DNS, or www of another, for any text", () => {
    const isCovered = (host: string): boolean =>
      domains.some(({ domain, method }) => host === domain || (method === "dns" ? host.endsWith(`.${domain}`) : host === `www.${domain}`));
    const part = fc.constantFrom(
      "https://",
      "http://",
      "example.com",
      "www.",
      ".",
      "evil.com",
      "@",
      ":",
      "443",
      "/",
      "\\",
      "demo.example",
      "%2e",
      "#",
      "?",
      "xn--",
      "EXAMPLE.COM",
      " ",
      "-",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
        const host = findOriginHost(parts.join(""), production);
        if (host !== null) {
          expect(isCovered(host)).toBe(true);
          expect(new URL(parts.join("")).hostname).toBe(host);
        }
      }),
      { numRuns: 20_000 },
    );
  });
});

describe("verifyPageUrl", () => {
  test.each<readonly [string, string, string | null]>([
    ["the verified host", "https://example.com", "example.com"],
    ["path, query and fragment", "https://www.example.com/a/b;c?d=e&f=%20#g", "www.example.com"],
    ["letters of another script in path and query", "https://www.example.com/käse/東京?q=ü", "www.example.com"],
    ["a backslash in the path", "https://www.example.com/a\\b", "www.example.com"],
    ["an @ in the path", "https://www.example.com/@name", "www.example.com"],
    ["an @ in the query", "https://www.example.com?mail=a@b.c", "www.example.com"],
    ["upper case", "HTTPS://WWW.EXAMPLE.COM/", "www.example.com"],
    ["the default port of https", "https://example.com:443/", "example.com"],
    ["2,048 characters", `https://example.com/${"a".repeat(2_028)}`, "example.com"],
    ["an international name as letters", "https://bücher.example/", "xn--bcher-kva.example"],
    ["an international name as decomposed letters", "https://bu\u0308cher.example/", "xn--bcher-kva.example"],
    ["an international name in punycode", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"],
    ["2,049 characters", `https://example.com/${"a".repeat(2_029)}`, "fault"],
    ["empty", "", "fault"],
    ["only a path", "/quote", "fault"],
    ["no scheme", "//example.com/", "fault"],
    ["only a host", "example.com/quote", "fault"],
    ["http", "http://example.com/", "fault"],
    ["ftp", "ftp://example.com/", "fault"],
    ["file", "file:///etc/passwd", "fault"],
    ["data", "data:text/html,x", "fault"],
    ["javascript", "javascript:alert(1)//example.com", "fault"],
    ["blob", "blob:https://example.com/x", "fault"],
    ["about", "about:blank", "fault"],
    ["one slash", "https:/example.com/", "fault"],
    ["no slash", "https:example.com/", "fault"],
    ["three slashes", "https:///example.com/", "fault"],
    ["backslashes", "https:\\\\example.com\\", "fault"],
    ["a backslash after the host", "https://example.com\\@evil.com/", "fault"],
    ["a user", "https://user@example.com/", "fault"],
    ["user and password", "https://a:b@example.com/", "fault"],
    ["the host as a user", "https://example.com@evil.com/", "fault"],
    ["a space", "https://example.com/a b", "fault"],
    ["a leading space", " https://example.com/", "fault"],
    ["a line break", "https://example.com/\n", "fault"],
    ["a tab in the host", "https://exam\tple.com/", "fault"],
    ["a zero-width space", "https://example.com/\u200b", "fault"],
    ["an override", "https://example.com/\u202egpj.exe", "fault"],
    ["a soft hyphen in the host", "https://exa\u00admple.com/", "fault"],
    ["no host", "https://", "fault"],
    ["a query without a host", "https://?x", "fault"],
    ["an invalid port", "https://example.com:99999/", "fault"],
    ["an invalid IP address", "https://256.256.256.256/", "fault"],
    ["another port", "https://example.com:8443/", null],
    ["a trailing dot", "https://example.com./", null],
    ["a suffix without a dot", "https://notexample.com/", null],
    ["the host as a prefix", "https://example.com.evil.com/", null],
    ["a subdomain of a tag", "https://shop.demo.example/", null],
    ["a percent sign in the host", "https://ex%61mple.com/", null],
    ["a wide letter in the host", "https://\uff45xample.com/", null],
    ["an ideographic dot", "https://example\u3002com/", null],
    ["a look-alike letter", "https://ex\u0430mple.com/", null],
    ["an IP address", "https://93.184.216.34/", null],
    ["an IPv6 address", "https://[2001:db8::1]/", null],
    ["localhost", "http://localhost:8788/", null],
    ["another international name", "https://büecher.example/", null],
  ])("decides in production on %s", (_name, pageUrl, host) => {
    expect(pageHost(pageUrl, production)).toBe(host);
  });

  test.each<readonly [string, string, string | null]>([
    ["localhost", "http://localhost:8788/quote", "localhost"],
    ["the loopback address", "http://127.0.0.1:3000/", "127.0.0.1"],
    ["localhost over https", "https://localhost:3000/", "localhost"],
    ["another spelling of the loopback address", "http://127.1:3000/", null],
    ["the loopback address as a number", "http://2130706433/", null],
    ["the loopback address in hex", "http://0x7f000001/", null],
    ["IPv6 loopback", "http://[::1]:3000/", "fault"],
    ["another host over http", "http://example.com/", "fault"],
  ])("decides in development on %s", (_name, pageUrl, host) => {
    expect(pageHost(pageUrl, development)).toBe(host);
  });

  test("accepts http://localhost and no other unverified host for a test client", () => {
    expect(pageHost("http://localhost:3000/", sandbox, [])).toBe("localhost");
    expect(pageHost("http://127.0.0.1:3000/", sandbox, [])).toBeNull();
    expect(pageHost("https://example.com/", sandbox, [])).toBeNull();
  });
});
