// Tests GET /v1/certs and POST /v1/certs/search: paging, filters and exact totals. The expected results come from a plain filter over all
// issued certificates.
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { hourMs } from "../../core/time.ts";
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import { openDatabase } from "../../storage/database.ts";
import { call, submitConsent, getWithKey, buildSubmission, world, type TestResponse } from "../support/world.ts";
import { insertWithdrawal } from "../support/withdrawal.ts";

const key = world.acme.keys.live;
const list = (query: string, credential = key): Promise<TestResponse> => getWithKey(`/v1/certs${query}`, credential);

interface Issued {
  readonly certId: string;
  readonly at: number;
  readonly purpose: string;
  readonly email: string;
  readonly phone: string;
  readonly entities: readonly string[];
  readonly originDomain: string;
  readonly isSandbox: boolean;
  status: "active" | "revoked";
}

/** Creates a small, fast, repeatable random generator. Failures print the seed. */
const createRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
const seed = Math.trunc(Math.random() * 1e9);
const random = createRandom(seed);
const pick = <T>(from: readonly T[]): T => from[Math.trunc(random() * from.length)] as T;

const purposes = [
  "Solar quote",
  "SOLAR follow-up",
  "100% off_er",
  "100 off-er",
  "Ünïted ÉNERGIE",
  "énergie",
  "a_b",
  "aXb",
  "back\\slash",
  'it\'s "quoted"',
  "😀 Emoji",
  "İstanbul",
  "Ωmega ΣΑΣ",
  "Cafe\u0301",
  "x".repeat(500),
];
const emails = ["pat@example.com", "Pat@Example.com", "sam@exämple.test", "kim+tag@example.com", ""];
const phones = ["+1 202 555 0123", "(202) 555-0123", "+44 20 7946 0958", "ask my mother", ""];
const names = ["Acme Solar LLC", "Bright Homes Inc", "Zeta", "zeta", "😀 Emoji Co"];
const origins = ["https://www.example.com", "https://example.com", "https://demo.example", "https://shop.example.com"];

const everything: Issued[] = [];
const start = Date.UTC(2026, 10, 1);

/**
 * Adds every certificate to the counters. Certificates that are issued later are not in the counters, so the totals count them
 * individually.
 */
const countAll = (): Promise<boolean> => countNewCertificates(openDatabase(env.DB), Date.now() + 2 * hourMs);

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  for (let count = 0; count < 90; count += 1) {
    // Some certificates share a millisecond, because the order must not depend on the time alone.
    vi.setSystemTime(Date.now() + pick([0, 1, 60_000, 3_600_000]));
    const [purpose, email, phone, origin, isSandbox] = [pick(purposes), pick(emails), pick(phones), pick(origins), random() < 0.15];
    const entities = names.filter((name) => name === "Zeta" || random() < 0.4);
    const response = await submitConsent(
      {
        ...buildSubmission(),
        client_id: world.acme.clients[isSandbox ? "sandbox" : "live"],
        fields: { email, phone, zip: "1" },
        purpose,
        entities,
        page_url: `${origin}/`,
      },
      { origin },
    );
    if (response.status !== 201) throw new Error(response.text);
    everything.push({
      certId: response.body.data.cert_id,
      at: Date.now(),
      purpose,
      email,
      phone,
      entities,
      originDomain: new URL(origin).hostname,
      isSandbox,
      status: "active",
    });
    if (count === 45) await countAll();
  }
  for (const issued of everything) {
    if (random() > 0.3) continue;
    issued.status = "revoked";
    await insertWithdrawal(env.DB, issued.certId).run();
  }
});
afterAll(() => {
  vi.useRealTimers();
});

const sameMailbox: Readonly<Record<string, string>> = {
  "Pat@Example.com": "pat@example.com",
  "sam@xn--exmple-cua.test": "sam@exämple.test",
  " pat@EXAMPLE.com ": "pat@example.com",
};
const normalizeMailbox = (email: string): string => sameMailbox[email] ?? email;
const normalizeNumber = (phone: string): string =>
  ({
    "(202) 555-0123": "+1 202 555 0123",
    "+12025550123": "+1 202 555 0123",
    "+442079460958": "+44 20 7946 0958",
    "ask  my mother": "", // not a phone number, so no search finds it
    "ask my mother": "",
  })[phone] ?? phone;
const foldText = (text: string): string => text.normalize("NFC").toLowerCase();

type Query = Partial<Record<"status" | "q" | "subject_email" | "subject_phone" | "origin_domain" | "entity" | "from" | "to", string>>;

/** The expected list, newest first. Within one millisecond, the certificate that was issued later comes first. */
const findExpected = (query: Query, isSandbox: boolean): Issued[] =>
  everything
    .filter(
      (entry) =>
        entry.isSandbox === isSandbox &&
        (query.status === undefined || entry.status === query.status) &&
        (query.q === undefined || foldText(entry.purpose).includes(foldText(query.q))) &&
        (query.subject_email === undefined ||
          (entry.email !== "" && normalizeMailbox(entry.email) === normalizeMailbox(query.subject_email))) &&
        (query.subject_phone === undefined ||
          (normalizeNumber(entry.phone) !== "" && normalizeNumber(entry.phone) === normalizeNumber(query.subject_phone))) &&
        (query.origin_domain === undefined || entry.originDomain === query.origin_domain.toLowerCase()) &&
        (query.entity === undefined || entry.entities.includes(query.entity)) &&
        (query.from === undefined || entry.at >= Date.parse(query.from)) &&
        (query.to === undefined || entry.at <= endOf(query.to)),
    )
    .reverse();

const findFault = async (query: Query, isSandbox: boolean, page: number, perPage: number): Promise<string | null> => {
  vi.setSystemTime(Date.now() + 1_000); // moves the clock forward, because the API key has a limit per minute
  const parameters = new URLSearchParams({ ...query, page: String(page), per_page: String(perPage) });
  const response = await list(`?${parameters}`, world.acme.keys[isSandbox ? "sandbox" : "live"]);
  const rows = findExpected(query, isSandbox);
  const wanted = {
    status: 200,
    total: rows.length,
    page,
    per_page: perPage,
    certs: rows.slice((page - 1) * perPage, page * perPage).map(({ certId }) => certId),
  };
  const { data } = response.body;
  const received = {
    status: response.status,
    total: data?.total,
    page: data?.page,
    per_page: data?.per_page,
    certs: data?.certs.map((row: { cert_id: string }) => row.cert_id),
  };
  return JSON.stringify(received) === JSON.stringify(wanted)
    ? null
    : `seed ${seed}: ${parameters} gives ${JSON.stringify(received).slice(0, 200)} instead of ${JSON.stringify(wanted).slice(0, 200)}`;
};

/** Returns the end of a range. A date includes the whole day (UTC). */
const endOf = (end: string): number => (end.length === 10 ? Date.parse(`${end}T23:59:59.999Z`) : Date.parse(end));
const pickTime = (): string => new Date(pick(everything).at + pick([-1, 0, 1])).toISOString();
const choices: { readonly [name in keyof Query]-?: () => string } = {
  status: () => pick(["active", "revoked"]),
  q: () =>
    pick([
      "solar",
      "SOLAR",
      "%",
      "_",
      "0%",
      "\\",
      "'",
      '"',
      "É",
      "é",
      "energie",
      "😀",
      "i",
      "İ",
      "σας",
      "Σ",
      "caf\u00e9",
      "e\u0301",
      " ",
      "x".repeat(500),
      "nothing like it",
      "a_b",
      "-",
    ]),
  subject_email: () =>
    pick([...emails.filter((email) => email !== ""), ...Object.keys(sameMailbox), "nobody@example.com", "%@example.com", "no address"]),
  subject_phone: () =>
    pick([...phones.filter((phone) => phone !== ""), "+12025550123", "+442079460958", "ask  my mother", "+1 202 555 0000", "%"]),
  origin_domain: () => pick(["www.example.com", "WWW.EXAMPLE.COM", "example.com", "demo.example", "nowhere.example", "%"]),
  entity: () => pick([...names, "ZETA", "%"]),
  from: () => pick([pickTime(), pickTime().slice(0, 10)]),
  to: () => pick([pickTime(), pickTime().slice(0, 10)]),
};

describe("POST /v1/certs/search", () => {
  test("returns the same as GET /v1/certs, with the filters in the body", async () => {
    const search = (body: object): Promise<TestResponse> =>
      call("/v1/certs/search", {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    for (const filters of [
      {},
      { q: "solar", per_page: 3 },
      { subject_email: "pat@example.com", page: 2, per_page: 2 },
      { status: "revoked" },
    ]) {
      const query = new URLSearchParams(Object.entries(filters).map(([name, value]) => [name, String(value)]));
      const [posted, got] = [await search(filters), await list(`?${query}`)];
      expect(posted.status).toBe(200);
      expect(posted.body.data).toEqual(got.body.data);
    }
    for (const wrong of [{ page: 0 }, { page: 1.5 }, { page: "1" }, { status: "gone" }]) expect((await search(wrong)).status).toBe(400);
  });
});

describe("GET /v1/certs", () => {
  test("returns exact results for each filter alone, on every page", { timeout: 60_000 }, async () => {
    const faults: (string | null)[] = [
      await findFault({}, false, 1, 25),
      await findFault({}, false, 2, 25),
      await findFault({}, false, 1, 100),
      await findFault({}, true, 1, 25),
      await findFault({}, false, 99, 25),
    ];
    for (const name of Object.keys(choices) as (keyof Query)[]) {
      for (let round = 0; round < 8; round += 1)
        faults.push(await findFault({ [name]: choices[name]() }, false, pick([1, 1, 2]), pick([1, 7, 25, 100])));
    }
    for (const q of ["solar", "%", "_", "\\", "é", "İ", "σας", "😀", "x".repeat(500)]) faults.push(await findFault({ q }, false, 1, 100));
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });

  test("treats SQL in a filter as text", async () => {
    const hostile = [
      "' OR '1'='1",
      "'; DROP TABLE certificates; --",
      '" OR ""="',
      "') UNION SELECT key_hash FROM api_keys --",
      "\\' OR 1=1 --",
      "?1",
      ":q",
    ];
    const before = (await list("")).body.data.total;
    for (const text of hostile) {
      for (const name of ["q", "subject_email", "subject_phone", "origin_domain", "entity"]) {
        const response = await list(`?${name}=${encodeURIComponent(text)}`);
        expect([name, text, response.status, response.body.data?.total ?? 0]).toEqual([name, text, response.status < 400 ? 200 : 400, 0]);
      }
      const checked = await call("/v1/contact-check", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ subjects: [{ email: text }, { phone: text }], entity: text, purpose: text }),
      });
      expect(checked.body.data.results.map(({ reason }: { reason: string }) => reason)).toEqual(["none", "none"]);
    }
    expect((await list("")).body.data.total).toBe(before);
  });

  test.each(["some", "all"])(
    "returns exact results for combined filters when the counters include %s certificates",
    {
      timeout: 60_000,
    },
    async (counted) => {
      if (counted === "all") await countAll();
      const faults: (string | null)[] = [];
      for (let round = 0; round < 80; round += 1) {
        const query = Object.fromEntries(
          (Object.keys(choices) as (keyof Query)[]).filter(() => random() < 0.3).map((name) => [name, choices[name]()]),
        );
        faults.push(await findFault(query, random() < 0.2, pick([1, 1, 1, 2, 3]), pick([1, 3, 10, 25, 100])));
      }
      expect(faults.filter((fault) => fault !== null)).toEqual([]);
    },
  );

  test("returns pages without gaps or repetitions", async () => {
    const seen: string[] = [];
    for (let page = 1; ; page += 1) {
      const { certs } = (await list(`?page=${page}&per_page=7`)).body.data as { certs: { cert_id: string }[] };
      if (certs.length === 0) break;
      seen.push(...certs.map(({ cert_id }) => cert_id));
    }
    expect(seen).toEqual(findExpected({}, false).map(({ certId }) => certId));
  });

  test("returns exactly the documented keys of a row, with the subject masked", async () => {
    const [row] = (await list("?per_page=1")).body.data.certs;
    expect(Object.keys(row).sort()).toEqual([
      "cert_id",
      "entities",
      "environment",
      "fingerprint",
      "issued_at",
      "origin_domain",
      "purpose",
      "status",
      "subject",
      "subject_erased_at",
      "verify_url",
      "view_count",
      "withdrawal",
    ]);
    const everyRow = (await list("?per_page=100")).text;
    for (const value of ["pat@", "Pat@", "@example.com", "555 0123", "7946 0958", "mother"]) expect(everyRow).not.toContain(value);
    const { body } = await list("");
    expect(Object.keys(body.data)).toEqual(["certs", "total", "page", "per_page"]);
    expect([body.data.page, body.data.per_page, body.data.certs.length]).toEqual([1, 25, 25]);
  });

  test("caps per_page at 100, and returns an empty page past the end", async () => {
    for (const perPage of ["101", "1000", "999999999999999", "9".repeat(40)])
      expect((await list(`?per_page=${perPage}`)).body.data.per_page, perPage).toBe(100);
    expect((await list(`?page=${"9".repeat(40)}`)).body.data.certs).toEqual([]);
    for (const page of ["5", "10001", "1000000000", "999999999999999"]) {
      const { status, body } = await list(`?page=${page}&per_page=100`);
      expect([status, body.data?.certs, body.data?.page, body.data?.total], page).toEqual([
        200,
        [],
        Number(page),
        findExpected({}, false).length,
      ]);
      const searched = await list(`?page=${page}&per_page=100&q=solar`);
      expect([searched.status, searched.body.data?.certs, searched.body.data?.total], page).toEqual([
        200,
        [],
        findExpected({ q: "solar" }, false).length,
      ]);
    }
  });

  test.each([
    ...["0", "-1", "1.5", "", "abc", "1e1", "+1", "%201", "0x1", "01", "%D9%A1", "NaN", "Infinity", "1%00", "1;2", "null"].flatMap(
      (value) => [`page=${value}`, `per_page=${value}`],
    ),
    ...["Active", "ACTIVE", "", "expired", "active,revoked", "active%20", "*", "__proto__"].map((value) => `status=${value}`),
    ...[
      "yesterday",
      "",
      "2026-02-30",
      "2026-13-01",
      "2026-11-20T25:00:00Z",
      "20261120",
      "1763632800",
      "2026-11-20T10:05:00.0000Z",
      "2026-11-20%2010:05",
      "Fri, 20 Nov 2026",
      "+002026-11-20",
      "2026-11-20T10:05:00+9:00",
    ].flatMap((value) => [`from=${value}`, `to=${value}`]),
    `q=${"q".repeat(501)}`,
    `entity=${"e".repeat(201)}`,
    `origin_domain=${"o".repeat(254)}`,
    `subject_email=${"m".repeat(321)}`,
    "subject_email=",
    "subject_phone=",
    "origin_domain=",
    "origin_domain=%20",
    "entity=",
    `subject_phone=${"5".repeat(65)}`,
    ...[
      "page=1",
      "per_page=1",
      "status=active",
      "q=a",
      "subject_email=pat@example.com",
      "subject_phone=1",
      "origin_domain=a",
      "entity=a",
      "from=2026-11-20",
      "to=2026-11-20",
    ].map((entry) => `${entry}&${entry}`),
    "page=1&page=2",
    "status=active&q=a&status=revoked",
  ])("returns 400 invalid_request for %s, without echoing the value", async (query) => {
    vi.setSystemTime(Date.now() + 1_000);
    const response = await list(`?${query}`);
    expect([response.status, response.body.error?.code]).toEqual([400, "invalid_request"]);
    const [name, value] = (query.split("&")[0] as string).split("=") as [string, string];
    expect(response.body.error.message.startsWith(`${name}: `)).toBe(true);
    const sent = decodeURIComponent(value);
    if (sent.length > 3) expect(response.body.error.message).not.toContain(sent);
  });

  test.each([
    "",
    "?",
    "?unknown=1&unknown=2",
    "?q=",
    "?toString=1&toString=2",
    "?__proto__=1&__proto__=2",
    "?constructor=x",
    "?Page=0",
    "?page[]=0",
    "?q=%ED%A0%80",
    "?q=%",
    "?q=%00",
    "?entity=%00",
    "?origin_domain=%00",
    "?subject_email=%00",
    "?subject_phone=%00",
    "?q='%20OR%201=1--",
    "?from=2026-11-20&to=2026-11-19",
  ])("returns 200 for %s", async (query) => {
    vi.setSystemTime(Date.now() + 1_000);
    expect((await list(query)).status).toBe(200);
  });
});
