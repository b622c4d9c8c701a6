// Tests how DNS responses for a host are parsed and which addresses count as public.
import { describe, expect, test } from "vitest";
import { combineHostVerdicts, parseDnsAnswer, toHostVerdict, type DnsAnswer } from "../../../core/access/dns-answer.ts";
import { findHostNameFault } from "../../../core/access/outbound-url.ts";
import { isPublicAddress } from "../../../workers/adapters/public-hosts.ts";

const rules = { isAllowedName: (name: string) => findHostNameFault(name, ["api.svc-host.com"]) === null, isPublicAddress };
const read = (body: unknown, host = "www.shop.com"): DnsAnswer => parseDnsAnswer(host, body, rules);
const createARecord = (name: string, data: string): object => ({ name, type: 1, TTL: 60, data });
const createAaaaRecord = (name: string, data: string): object => ({ name, type: 28, TTL: 60, data });
const createAlias = (name: string, data: string): object => ({ name, type: 5, TTL: 60, data });
const createDnsResponse = (...records: object[]): object => ({ Status: 0, Question: [{ name: "www.shop.com", type: 1 }], Answer: records });
const refused = { ok: false, fault: "refused" };
const unanswered = { ok: false, fault: "unanswered" };

describe("parseDnsAnswer accepts an answer", () => {
  test("with addresses under the queried name", () => {
    expect(
      read(createDnsResponse(createARecord("www.shop.com.", "93.184.216.34"), createARecord("WWW.shop.com", "93.184.216.35"))),
    ).toEqual({
      ok: true,
      addresses: ["93.184.216.34", "93.184.216.35"],
    });
  });
  test("with addresses at the end of a chain of aliases, in any order", () => {
    const records = [
      createARecord("edge.cdn-host.net.", "93.184.216.34"),
      createAlias("mid.cdn-host.net.", "edge.cdn-host.net."),
      createAlias("www.shop.com.", "MID.cdn-host.net."),
    ];
    expect(read(createDnsResponse(...records))).toEqual({ ok: true, addresses: ["93.184.216.34"] });
  });
  test.each([
    ["no record of the type", { Status: 0 }],
    ["an empty answer", createDnsResponse()],
    ["no such name", { Status: 3, Authority: [] }],
    ["an alias and no address", createDnsResponse(createAlias("www.shop.com.", "edge.cdn-host.net."))],
    ["records of other types only", createDnsResponse({ name: "www.shop.com", type: 46, TTL: 1, data: "A 8 2 ..." })],
  ])("without addresses: %s", (_, body) => {
    expect(read(body)).toEqual({ ok: true, addresses: [] });
  });
});

describe("parseDnsAnswer refuses an answer with", () => {
  test.each([
    [
      "one private address among public ones",
      createDnsResponse(createARecord("www.shop.com", "93.184.216.34"), createARecord("www.shop.com", "10.0.0.1")),
    ],
    ["an address of another name", createDnsResponse(createARecord("other.shop.com", "93.184.216.34"))],
    [
      "an address next to an alias",
      createDnsResponse(createAlias("www.shop.com", "edge.cdn-host.net"), createARecord("www.shop.com", "93.184.216.34")),
    ],
    [
      "an alias into a private zone",
      createDnsResponse(createAlias("www.shop.com", "db.internal"), createARecord("db.internal", "93.184.216.34")),
    ],
    ["an alias to localhost", createDnsResponse(createAlias("www.shop.com", "localhost"), createARecord("localhost", "93.184.216.34"))],
    [
      "an alias to one of our hosts",
      createDnsResponse(createAlias("www.shop.com", "api.svc-host.com"), createARecord("api.svc-host.com", "93.184.216.34")),
    ],
    ["an alias that is an address", createDnsResponse(createAlias("www.shop.com", "127.0.0.1"))],
    ["an alias loop", createDnsResponse(createAlias("www.shop.com", "a.shop.com"), createAlias("a.shop.com", "www.shop.com"))],
    [
      "two aliases of one name",
      createDnsResponse(
        createAlias("www.shop.com", "a.shop.com"),
        createAlias("www.shop.com", "b.shop.com"),
        createARecord("b.shop.com", "93.184.216.34"),
      ),
    ],
    [
      "an alias that nothing leads to",
      createDnsResponse(createAlias("x.shop.com", "y.shop.com"), createARecord("www.shop.com", "93.184.216.34")),
    ],
    ["more than 64 records", createDnsResponse(...Array.from({ length: 65 }, () => createARecord("www.shop.com", "93.184.216.34")))],
    ["a record without data", createDnsResponse({ name: "www.shop.com", type: 1 })],
    ["a record that is not an object", createDnsResponse("93.184.216.34" as unknown as object)],
    ["records that are not a list", { Status: 0, Answer: { name: "www.shop.com" } }],
    ["an address in octal", createDnsResponse(createARecord("www.shop.com", "0177.0.0.1"))],
    ["an address as one number", createDnsResponse(createARecord("www.shop.com", "2130706433"))],
    ["an address with a zone", createDnsResponse(createAaaaRecord("www.shop.com", "2606:2800::1%eth0"))],
    ["an address that is a name", createDnsResponse(createARecord("www.shop.com", "www.shop.com"))],
  ])("%s", (_, body) => {
    expect(read(body)).toEqual(refused);
  });
});

test.each([[null], [1], ["x"], [[]], [{}], [{ Status: "0" }], [{ Status: 2 }], [{ Status: 5, Answer: [] }]])(
  "parseDnsAnswer returns unanswered for %j",
  (body) => {
    expect(read(body)).toEqual(unanswered);
  },
);

describe("isPublicAddress", () => {
  const privateAddresses = [
    ...["0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255"],
    ...["192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1"],
    ...[
      "239.255.255.255",
      "240.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:8.8.8.8",
      "::127.0.0.1",
      "64:ff9b::8.8.8.8",
    ],
    ...[
      "64:ff9b:1::1",
      "100::1",
      "2001::1",
      "2001:2::1",
      "2001:10::1",
      "2001:20::1",
      "2001:db8::1",
      "2002:7f00:1::1",
      "3fff::1",
      "fc00::1",
    ],
    ...["fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "4000::1", "5f00::1", "e000::1"],
  ];
  test.each(privateAddresses)("returns false for %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "172.15.0.1",
    "172.32.0.1",
    "223.255.255.254",
    "2606:4700::1111",
    "2a00:1450::1",
    "2001:4860:4860::8888",
  ])("returns true for %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("host verdicts", () => {
  const some: DnsAnswer = { ok: true, addresses: ["93.184.216.34"] };
  const none: DnsAnswer = { ok: true, addresses: [] };
  test.each<[string, DnsAnswer[], string]>([
    ["an address of either family", [some, none], "public"],
    ["both families", [some, some], "public"],
    ["no address", [none, none], "nowhere"],
    ["no address in one family, unanswered in the other", [none, { ok: false, fault: "unanswered" }], "unanswered"],
    ["one refused", [some, { ok: false, fault: "refused" }], "not_public"],
    ["one unanswered", [some, { ok: false, fault: "unanswered" }], "unanswered"],
    [
      "refused outweighs unanswered",
      [
        { ok: false, fault: "unanswered" },
        { ok: false, fault: "refused" },
      ],
      "not_public",
    ],
  ])("of one resolver: %s", (_, responses, verdict) => {
    expect(toHostVerdict(responses)).toBe(verdict);
  });
  test("require all resolvers to agree, rank not_public over unanswered, and need at least one resolver", () => {
    expect(combineHostVerdicts(["public", "public"])).toBe("public");
    expect(combineHostVerdicts(["public", "not_public"])).toBe("not_public");
    expect(combineHostVerdicts(["unanswered", "not_public"])).toBe("not_public");
    expect(combineHostVerdicts(["nowhere", "not_public"])).toBe("not_public");
    expect(combineHostVerdicts(["public", "nowhere"])).toBe("nowhere");
    expect(combineHostVerdicts(["nowhere", "unanswered"])).toBe("nowhere");
    expect(combineHostVerdicts(["public", "unanswered"])).toBe("unanswered");
    expect(combineHostVerdicts([])).toBe("unanswered");
  });
});
