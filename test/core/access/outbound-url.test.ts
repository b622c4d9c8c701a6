// Tests which URLs from other parties the service may call, with allowed and hostile examples.
import { describe, expect, test } from "vitest";
import {
  checkOutboundUrl,
  findHostNameFault,
  resolveReference,
  toPlainUrl,
  type OutboundUrlFault,
  type OutboundUrlRules,
} from "../../../core/access/outbound-url.ts";

const rules: OutboundUrlRules = {
  ports: [443, 8443],
  ownHosts: ["api.svc-host.com", "verify.svc-host.com", "localhost:8787"],
  developmentHosts: [],
};
const developing: OutboundUrlRules = {
  ...rules,
  developmentHosts: ["localhost:8788", "127.0.0.1:8788", "plain.shop.com:80", "localhost:8787"],
};

const legal: readonly string[] = [
  "https://example.com",
  "https://example.com/",
  "https://example.com/hook",
  "https://example.com/hook?a=1&b=%20",
  "https://example.com?a=1",
  "HTTPS://example.com/",
  "https://EXAMPLE.com/Hook",
  "https://example.com:443/",
  "https://example.com:8443/hook",
  "https://www.example.co.uk/privacy",
  "https://a.b.c.d.e.f.example.org/",
  "https://xn--bcher-kva.example.org/datenschutz",
  "https://shop.xn--p1ai/",
  "https://xn--80ak6aa92e.com/",
  "https://a-b.example.com/",
  "https://1and1.com/",
  "https://123.com/",
  "https://0x7f.com/",
  "https://2130706433.net/",
  "https://example.com/~user/;v=1,2/(x)!*'$@:",
  "https://example.com/%2e%2e/%00",
  "https://example.com//double//slash",
  "https://localhost.example.com/",
  "https://internal-tools.com/",
  "https://mylocal.net/",
  `https://${"a".repeat(63)}.com/`,
  `https://example.com/${"p".repeat(2_000)}`,
  "https://metadata.example.net/",
  "https://hooks.slack.com/services/T0/B0/x",
];

const hostile: Readonly<Record<OutboundUrlFault, readonly unknown[]>> = {
  spelling: [
    ...[undefined, null, 1, {}, [], "", " "],
    ...[" https://example.com/", "https://example.com/ ", "https://example.com/a b", "https://example.com/\n", "\thttps://example.com/"],
    ...[
      "https://exam\tple.com/",
      "https://example.com\r\nHost: x",
      "https://example.com/\u0000",
      "https://exämple.com/",
      "https://example.com/ü",
    ],
    ...["https://①②⑦.0.0.1/", "https://ⓔxample.com/", "https://example。com/", "https://127。0。0。1/", "\uFEFFhttps://example.com/"],
    ...[
      "https:\\\\example.com\\",
      "https://example.com\\@127.0.0.1/",
      "https://example.com/<x>",
      'https://example.com/"',
      "https://example.com/{x}",
    ],
    ...[
      "https://example.com/a|b",
      "https://example.com/in?filter={a|b}",
      "https://example.com/a^b",
      "https://example.com/`",
      "https://example.com/\u202e",
      "https://example.com/\u00a0",
    ],
    ...[
      "https://%65xample.com/",
      "https://example%2ecom/",
      "https://example%E3%80%82com/",
      "https://256.256.256.256/",
      "https://example.0x1/",
      "https://example.123/",
      "https://[::1/",
      "https://::1/",
      "https://example.com:/",
      "https://example.com:0443/",
    ],
    ...[
      "https://example.com:+443/",
      "https://example.com:99999/",
      "https://example.com:port/",
      "https://",
      "https:///example.com/",
      "https:////example.com",
    ],
    ...["https://?x", `https://example.com/${"p".repeat(2_048)}`],
  ],
  not_https: [
    ...["http://example.com/", "//example.com/", "/hook", "example.com", "example.com/hook", "https:example.com", "https:/example.com"],
    ...["ftp://example.com/", "ws://example.com/", "wss://example.com/", "file:///etc/passwd", "data:text/plain,x", "javascript:alert(1)"],
    ...[
      "gopher://example.com/",
      "blob:https://example.com/x",
      "httpss://example.com/",
      "http+unix://x/",
      "view-source:https://example.com/",
    ],
    ...["http://localhost:8788/", "http://127.0.0.1:8788/", "HTTP://example.com/", "http://example.com:443/", "mailto:x@example.com"],
  ],
  credentials: [
    ...["https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/", "https://:@example.com/"],
    ...[
      "https://example.com@127.0.0.1/",
      "https://example.com:443@10.0.0.1/",
      "https://a@b@example.com/",
      "https://127.0.0.1%2f@example.com/",
    ],
  ],
  fragment: ["https://example.com/#", "https://example.com/#@127.0.0.1", "https://example.com#x", "https://example.com/a?b#c"],
  ip_address: [
    ...[
      "https://127.0.0.1/",
      "https://10.0.0.1/hook",
      "https://192.168.1.1:8443/",
      "https://169.254.169.254/latest/meta-data/",
      "https://8.8.8.8/",
    ],
    ...[
      "https://0.0.0.0/",
      "https://255.255.255.255/",
      "https://[::1]/",
      "https://[::]/",
      "https://[::ffff:127.0.0.1]/",
      "https://[::127.0.0.1]/",
    ],
    ...[
      "https://[fe80::1]/",
      "https://[fd00:ec2::254]/",
      "https://[2001:4860:4860::8888]/",
      "https://[64:ff9b::7f00:1]/",
      "https://127.0.0.1:443/",
    ],
    ...["https://127%2e0%2e0%2e1/", "https://127%E3%80%820%E3%80%820%E3%80%821/", "https://127.0.0.1./", "https://0/", "https://1/"],
    ...["https://0x7f.1/", "https://0x7f000001/", "https://2130706433/", "https://017700000001/", "https://127.1/", "https://127.0.1/"],
    ...["https://0177.0.0.1/", "https://0300.0250.0.1/", "https://0xa9.0xfe.0xa9.0xfe/", "https://1.2.3/", "https://017700000001:8443/"],
  ],
  port: [
    ...[
      "https://example.com:80/",
      "https://example.com:22/",
      "https://example.com:25/",
      "https://example.com:6379/",
      "https://example.com:8080/",
    ],
    ...["https://example.com:0/", "https://example.com:65535/", "https://example.com:444/", "https://example.com:9200/"],
  ],
  host_name: [
    ...[
      "https://intranet-box/",
      "https://metadata/",
      "https://com/",
      "https://example.com./",
      "https://example.com.:443/",
      "https://.example.com/",
    ],
    ...[
      "https://foo_bar.example.com/",
      "https://_hooks.example.com/",
      "https://a..b.com/",
      "https://-a.com/",
      "https://a-.com/",
      "https://a.-b.com/",
      "https://example.c/",
    ],
    ...["https://example.com-/", "https://*.example.com/", "https://a,b.com/", "https://a;b.com/", "https://$x.com/", "https://a!b.com/"],
    ...[`https://${"a".repeat(64)}.com/`, `https://${"abcdefg.".repeat(31)}example.com/`, "https://example.c0m-/", "https://xn--/"],
  ],
  internal_name: [
    ...[
      "https://localhost/",
      "https://LOCALHOST/",
      "https://example/",
      "https://foo.localhost/",
      "https://localhost.localdomain/",
      "https://printer.local/",
    ],
    ...[
      "https://db.internal/",
      "https://metadata.google.internal/",
      "https://instance-data.ec2.internal/",
      "https://x.intranet/",
      "https://nas.lan/",
    ],
    ...[
      "https://wiki.corp/",
      "https://router.home/",
      "https://router.home.arpa/",
      "https://1.0.0.127.in-addr.arpa/",
      "https://x.private/",
      "https://x.test/",
    ],
    ...[
      "https://x.example/",
      "https://x.invalid/",
      "https://facebookcorewwwi.onion/",
      "https://kubernetes.default.svc/",
      "https://a.svc.cluster/",
    ],
    ...[
      "https://127.0.0.1.nip.io/",
      "https://10-0-0-1.sslip.io/",
      "https://nip.io/",
      "https://localtest.me/",
      "https://a.lvh.me/",
      "https://x.1u.ms/",
    ],
    ...["https://metadata.goog/", "https://metadata.tencentyun.com/", "https://7f000001.c0a80001.rbndr.us/", "https://PRINTER.LOCAL/"],
  ],
  own_host: [
    ...[
      "https://api.svc-host.com/v1/consent",
      "https://verify.svc-host.com/c/x",
      "https://API.svc-host.com:8443/",
      "https://api.svc-host.com:443/",
    ],
  ],
};

const getFault = (text: unknown, under: OutboundUrlRules = rules): OutboundUrlFault | null => {
  const check = checkOutboundUrl(text, under);
  return check.ok ? null : check.fault;
};

describe("checkOutboundUrl", () => {
  test("is tested with more than 100 hostile and more than 20 legal URLs", () => {
    expect(Object.values(hostile).flat().length).toBeGreaterThan(100);
    expect(legal.length).toBeGreaterThan(20);
  });

  test.each(legal)("accepts %s", (text) => {
    expect(getFault(text)).toBeNull();
  });

  test.each(Object.entries(hostile).flatMap(([fault, texts]) => texts.map((text) => [text, fault] as const)))(
    "refuses %j: %s",
    (text, fault) => {
      expect(getFault(text)).toBe(fault);
    },
  );

  test("returns the URL in its canonical spelling", () => {
    expect(checkOutboundUrl("HTTPS://Example.COM:443/A?b", rules)).toEqual({
      ok: true,
      url: { href: "https://example.com/A?b", hostname: "example.com", isDevelopmentHost: false },
    });
  });
});

describe("checkOutboundUrl with development hosts", () => {
  test.each(["http://localhost:8788/", "https://localhost:8788/x?y=1", "http://127.0.0.1:8788/privacy", "http://plain.shop.com:80/"])(
    "accepts %s",
    (text) => {
      expect(checkOutboundUrl(text, developing)).toMatchObject({ ok: true, url: { isDevelopmentHost: true } });
    },
  );

  test.each([
    ...[
      "http://localhost:8789/",
      "http://localhost/",
      "http://LOCALHOST:8788/",
      "http://localhost.:8788/",
      "http://2130706433:8788/",
      "http://127.1:8788/",
    ],
    ...[
      "http://0x7f.0.0.1:8788/",
      "http://[::1]:8788/",
      "http://[::ffff:127.0.0.1]:8788/",
      "http://localhost:08788/",
      "http://127.0.0.1:8788@localhost:8788/",
    ],
    ...[
      "http://u@localhost:8788/",
      "http://u:p@127.0.0.1:8788/",
      "http://plain.shop.com/",
      "http://localhost%3a8788/",
      "http://localhost:8788.shop.com/",
    ],
    ...[
      "ftp://localhost:8788/",
      "http:localhost:8788",
      "http:/localhost:8788",
      "http://localhost:8788#x",
      "http://localhost:8788\\@x/",
      "//localhost:8788/",
    ],
  ])("refuses %s, which is not spelled as configured", (text) => {
    expect(getFault(text, developing)).not.toBeNull();
  });

  test("refuses the service's own host even if it is listed", () => {
    expect(getFault("http://localhost:8787/v1/consent", developing)).toBe("own_host");
  });

  test("keeps a default port as configured", () => {
    expect(checkOutboundUrl("http://plain.shop.com:80/a", developing)).toMatchObject({ url: { href: "http://plain.shop.com:80/a" } });
  });
});

describe("resolveReference", () => {
  const base = "https://www.shop.com/forms/quote";
  test.each([
    ["/privacy", "https://www.shop.com/privacy"],
    ["privacy.html?x=1", "https://www.shop.com/forms/privacy.html?x=1"],
    ["../terms#part", "https://www.shop.com/terms"],
    ["https://shop.com/privacy", "https://shop.com/privacy"],
    ["//Shop.com/privacy", "https://Shop.com/privacy"],
    [" /política de privacidad ", "https://www.shop.com/pol%C3%ADtica%20de%20privacidad"],
    ["https://2130706433/x", "https://2130706433/x"],
    ["//127.1/x", "https://127.1/x"],
    ["https://user@shop.com/x", "https://user@shop.com/x"],
    ["https://shop%2ecom/x", "https://shop%2ecom/x"],
  ])("resolves %s to %s", (reference, address) => {
    expect(resolveReference(reference, base)).toBe(address);
  });

  test.each([
    "",
    "  ",
    "javascript:void(0)",
    "mailto:a@shop.com",
    "tel:1",
    "https:shop.com",
    "\\\\evil.com",
    "/\\evil.com",
    "/a\tb",
    "https://[x/",
    "data:,x",
    `/${"\u20ac".repeat(500)}`, // longer than 2,048 characters when it is encoded
  ])("returns null for %j", (reference) => {
    expect(resolveReference(reference, base)).toBeNull();
  });

  test("keeps the host of a relative reference as its base spells it", () => {
    expect(resolveReference("/b", "http://plain.shop.com:80/a")).toBe("http://plain.shop.com:80/b");
  });
});

test("findHostNameFault applies the rules for hosts to aliases", () => {
  expect(findHostNameFault("edge.cdn-host.net", rules.ownHosts)).toBeNull();
  expect(findHostNameFault("db.internal", rules.ownHosts)).toBe("internal_name");
  expect(findHostNameFault("10.0.0.1", rules.ownHosts)).toBe("ip_address");
  expect(findHostNameFault("api.svc-host.com", rules.ownHosts)).toBe("own_host");
});

describe("toPlainUrl", () => {
  test.each([
    ["https://bücher.com/", "https://xn--bcher-kva.com/"],
    ["https://BÜCHER.com:8443/", "https://xn--bcher-kva.com:8443/"],
    ["https://пример.рф/вход", "https://xn--e1afmkfd.xn--p1ai/%D0%B2%D1%85%D0%BE%D0%B4"],
    ["\nhttps://example.com/in\u00a0", "https://example.com/in"],
    ["https://EXAMPLE.com/In", "https://EXAMPLE.com/In"],
    ["https://example.com/in?filter={a|b}^c", "https://example.com/in?filter=%7Ba%7Cb%7D%5Ec"],
    ["https://example.com/a|b^c`", "https://example.com/a%7Cb%5Ec%60"],
  ])("rewrites %j as %j", (typed, url) => {
    expect(toPlainUrl(typed)).toBe(url);
  });

  test("never turns a hostile text into an allowed address of another host", () => {
    const allowedHost = /^https:\/\/(?:www\.)?(?:example|exämple|ⓔxample)/iu;
    for (const text of Object.values(hostile).flat()) {
      if (typeof text !== "string") continue;
      const checked = checkOutboundUrl(toPlainUrl(text), rules);
      if (checked.ok) expect([text, allowedHost.test(text.trim())]).toEqual([text, true]);
    }
  });

  test.each([
    "https://①②⑦.0.0.1/",
    "https://２１３０７０６４３３/",
    "https://localhost。/",
    "https://exa\u00admple.com/",
    "https://example.com/\u202e",
  ])("leaves %j refused", (text) => {
    expect(checkOutboundUrl(toPlainUrl(text), rules).ok).toBe(false);
  });
});
