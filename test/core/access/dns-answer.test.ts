// Tests how DNS responses for a host are parsed and which addresses count as public.
import { describe, expect, test } from "vitest";
import { combineHostVerdicts, parseDnsAnswer, toHostVerdict, type DnsAnswer } from "../../../core/access/dns-answer.ts";
import { findHostNameFault } from "../../../core/access/outbound-url.ts";
import { isPublicAddress } from "../../../workers/adapters/public-hosts.ts";

const rules = { isAllowedName: (name: string) => findHostNameFault(name, ["api.svc-host.com"]) === null, isPublicAddress };
const read = (body: unknown, host = "www.shop.com"): DnsAnswer => parseDnsAnswer(host, body, rules);
const a = (name: string, data: string): object => ({ name, type: 1, TTL: 60, data });
const aaaa = (name: string, data: string): object => ({ name, type: 28, TTL: 60, data });
const alias = (name: string, data: string): object => ({ name, type: 5, TTL: 60, data });
const answer = (...records: object[]): object => ({ Status: 0, Question: [{ name: "www.shop.com", type: 1 }], Answer: records });
const refused = { ok: false, fault: "refused" };
const unanswered = { ok: false, fault: "unanswered" };

describe("parseDnsAnswer accepts an answer", () => {
  test("with addresses under the queried name", () => {
    expect(read(answer(a("www.shop.com.", "93.184.216.34"), a("WWW.shop.com", "93.184.216.35")))).toEqual({
      ok: true,
      addresses: ["93.184.216.34", "93.184.216.35"],
    });
  });
  test("with addresses at the end of a chain of aliases, in any order", () => {
    const records = [
      a("edge.cdn-host.net.", "93.184.216.34"),
      alias("mid.cdn-host.net.", "edge.cdn-host.net."),
      alias("www.shop.com.", "MID.cdn-host.net."),
    ];
    expect(read(answer(...records))).toEqual({ ok: true, addresses: ["93.184.216.34"] });
  });
  test.each([
    ["no record of the type", { Status: 0 }],
    ["an empty answer", answer()],
    ["no such name", { Status: 3, Authority: [] }],
    ["an alias and no address", answer(alias("www.shop.com.", "edge.cdn-host.net."))],
    ["records of other types only", answer({ name: "www.shop.com", type: 46, TTL: 1, data: "A 8 2 ..." })],
  ])("without addresses: %s", (_, body) => {
    expect(read(body)).toEqual({ ok: true, addresses: [] });
  });
});

describe("parseDnsAnswer refuses an answer with", () => {
  test.each([
    ["one private address among public ones", answer(a("www.shop.com", "93.184.216.34"), a("www.shop.com", "10.0.0.1"))],
    ["an address of another name", answer(a("other.shop.com", "93.184.216.34"))],
    ["an address next to an alias", answer(alias("www.shop.com", "edge.cdn-host.net"), a("www.shop.com", "93.184.216.34"))],
    ["an alias into a private zone", answer(alias("www.shop.com", "db.internal"), a("db.internal", "93.184.216.34"))],
    ["an alias to localhost", answer(alias("www.shop.com", "localhost"), a("localhost", "93.184.216.34"))],
    ["an alias to one of our hosts", answer(alias("www.shop.com", "api.svc-host.com"), a("api.svc-host.com", "93.184.216.34"))],
    ["an alias that is an address", answer(alias("www.shop.com", "127.0.0.1"))],
    ["an alias loop", answer(alias("www.shop.com", "a.shop.com"), alias("a.shop.com", "www.shop.com"))],
    [
      "two aliases of one name",
      answer(alias("www.shop.com", "a.shop.com"), alias("www.shop.com", "b.shop.com"), a("b.shop.com", "93.184.216.34")),
    ],
    ["an alias that nothing leads to", answer(alias("x.shop.com", "y.shop.com"), a("www.shop.com", "93.184.216.34"))],
    ["more than 64 records", answer(...Array.from({ length: 65 }, () => a("www.shop.com", "93.184.216.34")))],
    ["a record without data", answer({ name: "www.shop.com", type: 1 })],
    ["a record that is not an object", answer("93.184.216.34" as unknown as object)],
    ["records that are not a list", { Status: 0, Answer: { name: "www.shop.com" } }],
    ["an address in octal", answer(a("www.shop.com", "0177.0.0.1"))],
    ["an address as one number", answer(a("www.shop.com", "2130706433"))],
    ["an address with a zone", answer(aaaa("www.shop.com", "2606:2800::1%eth0"))],
    ["an address that is a name", answer(a("www.shop.com", "www.shop.com"))],
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
  ])("of one resolver: %s", (_, answers, verdict) => {
    expect(toHostVerdict(answers)).toBe(verdict);
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
