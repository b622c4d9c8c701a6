// Tests how IP addresses are parsed, and how callers are grouped for rate limits.
import { describe, expect, test } from "vitest";
import { getIpRateLimitKey, isIpAddress } from "../../../core/access/ip-address.ts";

describe("isIpAddress and getIpRateLimitKey", () => {
  test.each(["203.0.113.7", "0.0.0.0", "255.255.255.255", "::1", "::", "2001:db8::1", "2001:DB8:0:0:0:0:0:1", "::ffff:203.0.113.7"])(
    "recognize %s",
    (text) => {
      expect(isIpAddress(text)).toBe(true);
    },
  );

  test.each([
    "",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.7.1",
    "203.0.113.07",
    "203.0.113.7:80",
    " 203.0.113.7",
    "203.0.113.7\n",
    "0x7f.0.0.1",
    "2130706433",
    "[::1]",
    "::1%eth0",
    "2001:db8::1::2",
    "1:2:3:4:5:6:7:8:9",
    ":",
    "fe80",
    "localhost",
    "example.com",
    "::ffff:999.0.113.7",
    "a".repeat(46),
    "203.0.113.7, 10.0.0.1",
  ])("refuse %j", (text) => {
    expect(isIpAddress(text)).toBe(false);
  });

  test.each<readonly [string, string]>([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:203.0.113.8", "203.0.113.8"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:DB8:1:2::6", "2001:db8:1:2"],
    ["2001:0db8:0001:0002:ffff::", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["2001:db8:1::2:3:4:5", "2001:db8:1:0"],
  ])("count %s as %s", (ip, key) => {
    expect(getIpRateLimitKey(ip)).toBe(key);
  });
});
