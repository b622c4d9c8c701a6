// Tests signing in with an email code: who can sign in, the limits on attempts, and what the responses reveal.
import { getPlainIndex, toStoredIndex } from "../../core/access/address-index.ts";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { trimTypedAddress } from "../../core/email-address.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { Realm } from "../../core/access/session.ts";
import { generateEmailCode } from "../../core/access/email-code.ts";
import { memberEmailContext } from "../../storage/people-contexts.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { getExampleOwnerEmail, openVaultFromVars } from "../../scripts/demo-world.ts";
import {
  requestEmailCode,
  findEmailCode,
  parseCode,
  getCookie,
  clearCodes,
  submitEmailCode,
  buildJsonRequest,
  listMailTo,
  signIn,
  signInByEmail,
  createDifferentCode,
} from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  call,
  readDatabaseContents,
  productionSettings,
  countRows,
  createServiceCall,
  world,
  worldInSecondShard,
  type TestResponse,
  type Call,
} from "../support/world.ts";

const { ownerEmail, memberEmail, consumerEmail } = world;
const minute = 60_000;
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const peopleTables = ["members", "consumers", "email_codes", "sessions", "mail_outbox", "captured_mail"] as const;
/**
 * Counts the codes that were emailed or, for an unknown address, would have been emailed. Codes above a limit are not counted, because they
 * are stored as already expired.
 */
const countUsableCodes = (): Promise<number | null> =>
  env.DB.prepare("SELECT COUNT(*) AS n FROM email_codes WHERE expires_at > created_at").first<number>("n");
const buildSession = (cookie: string): RequestInit => ({ headers: { cookie } });
const readSession = (cookie: string): Promise<TestResponse> => call("/v1/auth/session", buildSession(cookie));

/** Tables that change when an email code is requested. */
const mailTables = ["email_codes", "email_code_failures", "mail_outbox", "captured_mail"];
const randomColumns = /^(?:id|token_hash|user_id|audit_chain|\w+_sealed)$/;
/** Returns the rows with random values replaced by their lengths. */
const maskRandomValues = (rows: string): unknown =>
  JSON.parse(rows, (column, value) => (randomColumns.test(column) && typeof value === "string" ? value.length : value));

beforeEach(async () => {
  await clearCodes();
  await env.DB.prepare("DELETE FROM sessions").run();
});
afterEach(() => {
  vi.useRealTimers();
});
const setTime = (instant: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: instant });
};

describe("the test support's signIn", () => {
  test.each<[string, string, Realm]>([
    ["a member", ownerEmail, "business"],
    ["a consumer", consumerEmail, "consumer"],
    ["a new consumer", "newcomer@example.com", "consumer"],
  ])("writes the same rows for %s as signing in by email", async (_name, email, realm) => {
    const before = await readDatabaseContents();
    const readChangedRows = async (): Promise<Record<string, unknown>> => {
      const contents = await readDatabaseContents();
      const changed = Object.keys(contents).filter((table) => contents[table] !== before[table] && !mailTables.includes(table));
      return Object.fromEntries(changed.map((table) => [table, maskRandomValues(contents[table] as string)]));
    };
    const forgetNewcomer = async (): Promise<void> => {
      const index = toStoredIndex(await (await openVaultFromVars(env)).blindIndex("email", "newcomer@example.com"));
      await env.DB.batch([
        env.DB.prepare("DELETE FROM sessions"),
        env.DB.prepare("DELETE FROM consumers WHERE email_index = ?").bind(index),
      ]);
    };
    setTime(Date.now());
    await signIn(email, realm);
    const written = await readChangedRows();
    expect(Object.keys(written)).toContain("sessions");
    await forgetNewcomer();
    await signInByEmail(email, realm);
    expect(await readChangedRows()).toEqual(written);
    await forgetNewcomer();
  });
});

describe("a member of a business", () => {
  test.each([
    ["owner", ownerEmail],
    ["member", memberEmail],
  ])("with the role %s signs in with the code from the email", async (role, email) => {
    const response = await requestEmailCode(email, "business");
    expect([response.status, response.body.data]).toEqual([200, { accepted: true }]);
    const [mail] = await listMailTo(email);
    expect(mail?.subject).toBe("Your sign-in code");
    const answer = await submitEmailCode(email, parseCode(mail!), "business");
    expect(answer.status).toBe(200);
    const { user, created } = answer.body.data;
    expect(user).toEqual({ id: expect.stringMatching(/^mem_00[0-9a-z]{24}$/), email, realm: "business", role, business_id: world.acme.id });
    expect(created).toBe(false);
    const read = await readSession(getCookie(answer));
    expect([read.status, read.body.data]).toEqual([200, { ...user, user }]);
  });

  test("gets the email at the address as first given, however it is spelled now", async () => {
    const spelt = `  ${ownerEmail.toUpperCase()} `;
    await requestEmailCode(spelt, "business");
    const [mail] = await listMailTo(ownerEmail);
    expect(mail?.to).toBe(ownerEmail);
    expect((await submitEmailCode(spelt, parseCode(mail!), "business")).body.data.user.email).toBe(ownerEmail);
  });

  test("of a business on another shard signs in there, and the cookie names that shard", async () => {
    const email = "owner@second-home.example";
    const id = `mem_01${"z".repeat(24)}`;
    const vault = await openVaultFromVars(env);
    await env.DB_01.prepare(
      "INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'owner', 0)",
    )
      .bind(
        id,
        worldInSecondShard.acme.id,
        await vault.seal(memberEmailContext(id, worldInSecondShard.acme.id), email),
        toStoredIndex(await vault.blindIndex("email", email)),
      )
      .run();
    await requestEmailCode(email, "business");
    const response = await submitEmailCode(email, await findEmailCode(email), "business");
    expect(response.body.data.user).toMatchObject({ id, business_id: worldInSecondShard.acme.id });
    expect(getCookie(response)).toMatch(/^svc_session=ses_01/);
    expect((await readSession(getCookie(response))).body.data.user.id).toBe(id);
    expect(await countRows(["sessions", "email_codes"])).toEqual({ sessions: 0, email_codes: 0 });
  });

  test("of a business that is past due, suspended or closed can still sign in and out", async () => {
    for (const name of ["past_due", "suspended", "closed"]) {
      const { cookie } = await signInByEmail(getExampleOwnerEmail(name));
      expect((await readSession(cookie)).status, name).toBe(200);
      expect((await call("/v1/auth/logout", { method: "POST", ...buildSession(cookie) })).status, name).toBe(200);
    }
  });

  test("is signed out immediately when removed", async () => {
    const { cookie } = await signInByEmail(memberEmail);
    const row = await env.DB.prepare("SELECT * FROM members WHERE role = 'member'").first<Record<string, string>>();
    await env.DB.prepare("DELETE FROM members WHERE id = ?").bind(row!.id!).run();
    expect(describeOutcome(await readSession(cookie))).toBe("401 unauthorized");
    await env.DB.prepare(
      "INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
      .bind(...Object.values(row!))
      .run();
    expect((await readSession(cookie)).status).toBe(200);
  });
});

describe("a consumer", () => {
  test("is created at the first sign-in and found at the next", async () => {
    const email = "Newcomer@Example.com";
    await requestEmailCode(email, "consumer");
    const response = await call(
      "/v1/auth/verify-code",
      buildJsonRequest({ email, code: await findEmailCode(email), realm: "consumer", name: " Pat Example " }),
    );
    expect([response.status, response.body.data.created]).toEqual([200, true]);
    const { user } = response.body.data;
    expect(user).toEqual({
      id: expect.stringMatching(/^con_00[0-9a-hjkmnp-tv-z]{24}$/),
      email,
      realm: "consumer",
      role: null,
      business_id: null,
    });
    await clearCodes();
    await requestEmailCode("newcomer@example.com", "consumer");
    const repeated = await submitEmailCode("newcomer@example.com", await findEmailCode(email), "consumer");
    expect([repeated.body.data.created, repeated.body.data.user]).toEqual([false, user]);
  });

  test("signs in only with the exact mailbox that received the code, not with a similar spelling", async () => {
    await requestEmailCode("Somebody@example.com", "consumer");
    const code = await findEmailCode("Somebody@example.com");
    expect(describeOutcome(await submitEmailCode("somebody@example.com", code, "consumer"))).toBe("400 login_failed");
    const response = await submitEmailCode("Somebody@EXAMPLE.com", code, "consumer");
    expect(response.body.data.user.email).toMatch(/^Somebody@/);
  });

  test("has the address without the invisible characters around it", async () => {
    const email = "pasted@example.com";
    await requestEmailCode(`\u200e${email}\ufeff`, "consumer");
    const signedIn = await submitEmailCode(`\u200e${email}\ufeff`, await findEmailCode(email), "consumer");
    expect(signedIn.body.data).toMatchObject({ created: true, user: { email } });
  });

  test.each([
    ["with invisible characters around it", "\u200bpasted-twice@example.com", "pasted-twice@example.com"],
    ["with a decomposed accent", "jose\u0301@example.com", "jos\u00e9@example.com"],
  ])("can enter the code if the address was first typed %s", async (_name, first, second) => {
    await requestEmailCode(first, "consumer");
    const code = await findEmailCode(trimTypedAddress(first));
    expect(describeOutcome(await submitEmailCode(second, code, "consumer"))).toBe("200 ok");
  });

  test("is recognized if their account exists already", async () => {
    await requestEmailCode(consumerEmail, "consumer");
    const response = await submitEmailCode(consumerEmail, await findEmailCode(consumerEmail), "consumer");
    expect([response.body.data.created, response.body.data.user.email]).toEqual([false, consumerEmail]);
  });

  test("is encrypted at rest", async () => {
    await requestEmailCode("marker-zq@example.com", "consumer");
    const code = await findEmailCode("marker-zq@example.com");
    // The hash is keyed and covers more than the code, so hashing all million codes does not reveal the code.
    const kept = await env.DB.prepare("SELECT code_hash FROM email_codes").first<string>("code_hash");
    expect(kept).toMatch(/^(?:1\.)?[0-9a-f]{32}$/);
    expect(sha256Hex(code)).not.toContain(kept);
    await call("/v1/auth/verify-code", buildJsonRequest({ email: "marker-zq@example.com", code, realm: "consumer", name: "Marker Zq" }));
    expect(JSON.stringify(await readDatabaseContents())).not.toMatch(/marker-zq|Marker Zq/i);
  });

  test("with an invalid name is refused before an attempt is spent", async () => {
    await requestEmailCode(consumerEmail, "consumer");
    for (const name of ["x".repeat(201), "a\u0000b", "a\u202Eb", "\u200B"]) {
      const response = await call(
        "/v1/auth/verify-code",
        buildJsonRequest({ email: consumerEmail, code: "000000", realm: "consumer", name }),
      );
      expect(describeOutcome(response), JSON.stringify(name)).toBe("400 invalid_request");
    }
    expect(await env.DB.prepare("SELECT other_context_attempts FROM email_codes").first("other_context_attempts")).toBe(0);
  });
});

describe("an email code", () => {
  test("works once, however many requests use it at the same time", async () => {
    await requestEmailCode(ownerEmail, "business");
    const code = await findEmailCode(ownerEmail);
    const responses = await Promise.all(Array.from({ length: 100 }, () => submitEmailCode(ownerEmail, code, "business")));
    const outcomes = responses.map(describeOutcome);
    expect(outcomes.filter((one) => one === "200 ok").length).toBe(1);
    expect(outcomes.filter((one) => one === "400 login_failed").length).toBe(99);
    expect(await countRows(["sessions"])).toEqual({ sessions: 1 });
    expect(describeOutcome(await submitEmailCode(ownerEmail, code, "business"))).toBe("400 login_failed");
  });

  test("of a new consumer, sent many times at once, signs in once and creates one consumer", async () => {
    const email = "race@example.com";
    const before = await countRows(["consumers"]);
    await requestEmailCode(email, "consumer");
    const code = await findEmailCode(email);
    const responses = await Promise.all(Array.from({ length: 30 }, () => submitEmailCode(email, code, "consumer")));
    expect(responses.filter(({ status }) => status === 200).length).toBe(1);
    expect((await countRows(["consumers"])).consumers).toBe((before.consumers as number) + 1);
  });

  test("allows five attempts: the fifth can succeed, and a sixth is refused", async () => {
    await requestEmailCode(ownerEmail, "business");
    const code = await findEmailCode(ownerEmail);
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(describeOutcome(await submitEmailCode(ownerEmail, createDifferentCode(code), "business"))).toBe("400 login_failed");
    expect((await submitEmailCode(ownerEmail, code, "business")).status).toBe(200);
    await clearCodes();
    await requestEmailCode(ownerEmail, "business");
    const next = await findEmailCode(ownerEmail);
    for (let attempt = 0; attempt < 5; attempt += 1) await submitEmailCode(ownerEmail, createDifferentCode(next), "business");
    expect(describeOutcome(await submitEmailCode(ownerEmail, next, "business"))).toBe("400 login_failed");
  });

  test("is compared with at most five guesses, however many arrive at once", async () => {
    await requestEmailCode(ownerEmail, "business");
    const code = await findEmailCode(ownerEmail);
    await Promise.all(Array.from({ length: 60 }, () => submitEmailCode(ownerEmail, createDifferentCode(code), "business")));
    expect(await env.DB.prepare("SELECT other_context_attempts FROM email_codes").first("other_context_attempts")).toBe(5);
    expect(describeOutcome(await submitEmailCode(ownerEmail, code, "business"))).toBe("400 login_failed");
  });

  test("is valid for ten minutes", async () => {
    const start = Date.now();
    setTime(start);
    await requestEmailCode(ownerEmail, "business");
    await requestEmailCode(memberEmail, "business");
    const [owners, members] = [await findEmailCode(ownerEmail), await findEmailCode(memberEmail)];
    setTime(start + 10 * minute - 1);
    expect((await submitEmailCode(ownerEmail, owners, "business")).status).toBe(200);
    setTime(start + 10 * minute);
    expect(describeOutcome(await submitEmailCode(memberEmail, members, "business"))).toBe("400 login_failed");
  });

  test("is refused for another address, in another realm, and after a newer code was used", async () => {
    await requestEmailCode(ownerEmail, "business");
    const code = await findEmailCode(ownerEmail);
    expect(describeOutcome(await submitEmailCode(memberEmail, code, "business"))).toBe("400 login_failed");
    expect(describeOutcome(await submitEmailCode(ownerEmail, code, "consumer"))).toBe("400 login_failed");
    const start = Date.now();
    setTime(start + minute);
    await requestEmailCode(ownerEmail, "business");
    const twin = await findEmailCode(ownerEmail);
    expect((await submitEmailCode(ownerEmail, twin, "business")).status).toBe(200);
    expect(describeOutcome(await submitEmailCode(ownerEmail, code, "business"))).toBe("400 login_failed");
  });

  test("still works after a newer one was requested", async () => {
    const start = Date.now();
    setTime(start);
    await requestEmailCode(ownerEmail, "business");
    const early = await findEmailCode(ownerEmail);
    setTime(start + minute);
    await requestEmailCode(ownerEmail, "business");
    expect((await listMailTo(ownerEmail)).length).toBe(2);
    expect((await submitEmailCode(ownerEmail, early, "business")).status).toBe(200);
  });

  test("that is not six digits is refused without spending an attempt", async () => {
    await requestEmailCode(ownerEmail, "business");
    for (const code of ["12345", "1234567", "12345a", "123456a", "1 2 3 4 5", "", 123456, null])
      expect(
        describeOutcome(await call("/v1/auth/verify-code", buildJsonRequest({ email: ownerEmail, code, realm: "business" }))),
        String(code),
      ).toBe("400 invalid_request");
    expect(await env.DB.prepare("SELECT other_context_attempts FROM email_codes").first("other_context_attempts")).toBe(0);
  });

  test("is drawn uniformly from a million values", () => {
    const generateCodeFrom = (...bytes: readonly number[]): string => {
      let position = 0;
      return generateEmailCode((count) => {
        const part = bytes.slice(position, position + count);
        position += count;
        return new Uint8Array(part);
      });
    };
    expect(generateCodeFrom(0, 0, 0, 0)).toBe("000000");
    expect(generateCodeFrom(0, 0x0f, 0x42, 0x3f)).toBe("999999");
    expect(generateCodeFrom(0xff, 0xf1, 0x3d, 0x7f)).toBe("999999"); // 4,293,999,999 is the largest number that is accepted
    expect(generateCodeFrom(0xff, 0xf1, 0x3d, 0x80, 0, 0, 0, 7)).toBe("000007"); // numbers from 4,294,000,000 up are discarded and drawn again
    expect(generateCodeFrom(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 8)).toBe("000008");
  });
});

describe("POST /v1/auth/request-code", () => {
  test("sends no second code within a minute while one is open, and another after that", async () => {
    const start = Date.now();
    setTime(start);
    await requestEmailCode(ownerEmail, "business");
    const responses = [await requestEmailCode(ownerEmail, "business"), await requestEmailCode(ownerEmail.toUpperCase(), "business")];
    expect(responses.map(({ body }) => body.data)).toEqual([{ accepted: true }, { accepted: true }]);
    setTime(start + minute - 1);
    await requestEmailCode(ownerEmail, "business");
    expect((await listMailTo(ownerEmail)).length).toBe(1);
    setTime(start + minute);
    await requestEmailCode(ownerEmail, "business");
    expect((await listMailTo(ownerEmail)).length).toBe(2);
  });

  test("refuses an address of 250,000 characters without examining each of its spaces again and again", async () => {
    const email = `a${" ".repeat(250_000)}b`;
    expect(describeOutcome(await requestEmailCode(email, "consumer"))).toBe("400 invalid_request");
  });

  test("sends one code for many concurrent requests", async () => {
    await Promise.all(Array.from({ length: 40 }, () => requestEmailCode(ownerEmail, "business")));
    expect((await listMailTo(ownerEmail)).length).toBe(1);
    expect(await countUsableCodes()).toBe(1);
    expect(await countRows(["mail_outbox"])).toEqual({ mail_outbox: 0 });
  });

  test("sends another code right after a sign-in, because the earlier one is used", async () => {
    await requestEmailCode(ownerEmail, "business");
    await submitEmailCode(ownerEmail, await findEmailCode(ownerEmail), "business");
    await requestEmailCode(ownerEmail, "business");
    expect((await listMailTo(ownerEmail)).length).toBe(2);
  });

  test("sends at most five codes in 15 minutes to an address in both realms together, and does not reveal the limit", async () => {
    const email = "many@example.com";
    const start = Date.now();
    for (let count = 0; count < 8; count += 1) {
      setTime(start + count * minute);
      expect((await requestEmailCode(email, count % 2 === 0 ? "consumer" : "business")).body.data).toEqual({ accepted: true });
    }
    expect(await countUsableCodes()).toBe(5);
    expect((await listMailTo(email)).length).toBe(3); // codes are sent only for the realm in which the address may sign in
    setTime(start + 15 * minute);
    await requestEmailCode(email, "consumer");
    expect(await countUsableCodes()).toBe(6);
  });

  test("sends at most twenty codes a day", async () => {
    const email = "guessed@example.com";
    const start = Date.now();
    const requestCodeAfter = async (after: number): Promise<number> => {
      setTime(start + after);
      await requestEmailCode(email, "consumer");
      return (await listMailTo(email)).length;
    };
    let mails = 0;
    for (let count = 0; count < 30; count += 1) mails = await requestCodeAfter(count * 6 * minute);
    expect(mails).toBe(20);
    expect(await requestCodeAfter(24 * 60 * minute + 1)).toBe(21);
  });

  test("A16: wrong codes from elsewhere never keep the person from requesting a code and entering it in their own browser", async () => {
    const email = "guessed@example.com";
    const start = Date.now();
    const requestCookieAfter = async (after: number): Promise<string> => {
      setTime(start + after);
      return getCookie(await requestEmailCode(email, "consumer"));
    };
    for (let codes = 0; codes < 5; codes += 1) {
      await requestCookieAfter(codes * 6 * minute);
      const wrong = createDifferentCode(await findEmailCode(email));
      for (let attempt = 0; attempt < 5; attempt += 1)
        expect(describeOutcome(await submitEmailCode(email, wrong, "consumer"))).toBe("400 login_failed");
    }
    const browser = await requestCookieAfter(40 * minute);
    const code = await findEmailCode(email);
    // Other browsers have used up their 20 attempts. Another browser is now refused even with the correct code, and this does not count as
    // an attempt.
    expect(describeOutcome(await submitEmailCode(email, code, "consumer"))).toBe("400 login_failed");
    const submit = (submitted: string) =>
      call("/v1/auth/verify-code", buildJsonRequest({ email, code: submitted, realm: "consumer" }, { cookie: browser }));
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(describeOutcome(await submit(createDifferentCode(code)))).toBe("400 login_failed");
    expect(describeOutcome(await submit(code))).toBe("200 ok");
    // The correct code has reset the count of wrong codes from other browsers.
    await requestCookieAfter(50 * minute);
    expect(describeOutcome(await submitEmailCode(email, await findEmailCode(email), "consumer"))).toBe("200 ok");
  });

  test("counts wrong codes from other browsers separately from those of the requesting browser", async () => {
    const browser = getCookie(await requestEmailCode(ownerEmail, "business"));
    const code = await findEmailCode(ownerEmail);
    const submitFromOwnBrowser = (submitted: string) =>
      call("/v1/auth/verify-code", buildJsonRequest({ email: ownerEmail, code: submitted, realm: "business" }, { cookie: browser }));
    for (let attempt = 0; attempt < 6; attempt += 1) await submitEmailCode(ownerEmail, createDifferentCode(code), "business");
    expect(describeOutcome(await submitEmailCode(ownerEmail, code, "business"))).toBe("400 login_failed");
    expect(describeOutcome(await submitFromOwnBrowser(code))).toBe("200 ok");
  });

  test("A17: a stranger's guesses end no session, and count in their own realm only", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    await clearCodes();
    const start = Date.now();
    for (let codes = 0; codes < 4; codes += 1) {
      setTime(start + codes * 6 * minute);
      await requestEmailCode(ownerEmail, "business");
      const wrong = createDifferentCode(await findEmailCode(ownerEmail));
      for (let attempt = 0; attempt < 6; attempt += 1) await submitEmailCode(ownerEmail, wrong, "business");
    }
    expect((await readSession(cookie)).status).toBe(200);
    const { results } = await env.DB.prepare("SELECT topic, failures FROM email_code_failures").all();
    expect(results).toEqual([{ topic: "business", failures: 20 }]);
  });

  test("allows 30 requests an hour per network address, whether or not the email address is known", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", SHIELD: undefined });
    const from = (ip: string, email: string) =>
      service("/v1/auth/request-code", buildJsonRequest({ email, realm: "business" }, { "cf-connecting-ip": ip }));
    for (let count = 0; count < 30; count += 1) expect((await from("203.0.113.9", `${count}@example.com`)).status).toBe(200);
    const refused = await from("203.0.113.9", ownerEmail);
    expect(describeOutcome(refused)).toBe("429 rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);
    expect((await from("203.0.113.10", ownerEmail)).status).toBe(200);
  });

  test("sends the email in the browser's language", async () => {
    await call(
      "/v1/auth/request-code",
      buildJsonRequest({ email: ownerEmail, realm: "business" }, { "accept-language": "fr-FR,fr;q=0.9,en;q=0.1" }),
    );
    expect((await listMailTo(ownerEmail))[0]?.subject).toBe("Votre code de connexion");
  });

  test.each(["", "pat", "pat@", "a@b", "a@example.com,b@example.com", "a@example.com\r\nBcc: b@example.com", "Pat <pat@example.com>"])(
    "returns 400 invalid_request for %j and writes nothing",
    async (email) => {
      const before = await countRows(peopleTables);
      expect(describeOutcome(await requestEmailCode(email, "consumer"))).toBe("400 invalid_request");
      expect(describeOutcome(await submitEmailCode(email, "123456", "consumer"))).toBe("400 invalid_request");
      expect(await countRows(peopleTables)).toEqual(before);
    },
  );
});

describe("while the database of a shard does not respond", () => {
  const rejectQuery = (): Promise<never> => Promise.reject(new Error("D1_ERROR: Network connection lost."));
  const statement = { bind: () => statement, first: rejectQuery, all: rejectQuery, run: rejectQuery, raw: rejectQuery };
  const silentDatabase = { prepare: () => statement, batch: rejectQuery };
  const partial = createServiceCall({ DB_01: silentDatabase });
  const createAddress = (): string => `partial.${crypto.randomUUID()}@example.com`;
  const countNew = () => countRows(["consumers", "businesses"]);

  test.each([
    ["a member", ownerEmail, "business"],
    ["a consumer", consumerEmail, "consumer"],
  ] as const)("%s with an account in another shard signs in", async (_who, email, realm) => {
    expect(describeOutcome(await requestEmailCode(email, realm, partial))).toBe("200 ok");
    const response = await submitEmailCode(email, await findEmailCode(email), realm, {}, partial);
    expect([describeOutcome(response), response.body.data.created]).toEqual(["200 ok", false]);
    expect((await partial(`/dev/mail?to=${encodeURIComponent(email)}`)).body.messages).toHaveLength(1);
  });

  test("a new person gets the same response and a code, which creates the account once all shards respond", async () => {
    const email = createAddress();
    const responses = [await requestEmailCode(email, "consumer", partial), await requestEmailCode(consumerEmail, "consumer", partial)];
    expect(responses.map(({ status, body }) => [status, body.data])).toEqual([1, 2].map(() => [200, { accepted: true }]));
    const code = await findEmailCode(email);
    const before = await countNew();
    expect(describeOutcome(await submitEmailCode(email, createDifferentCode(code), "consumer", {}, partial))).toBe("400 login_failed");
    expect(describeOutcome(await submitEmailCode(email, code, "consumer", {}, partial))).toBe("503 storage_unavailable");
    expect(await countNew()).toEqual(before);
    const response = await submitEmailCode(email, code, "consumer");
    expect([describeOutcome(response), response.body.data.created]).toEqual(["200 ok", true]);
  });

  test("a new business is created once all shards respond", async () => {
    const email = createAddress();
    const signUp = await partial("/v1/business/signup", buildJsonRequest({ business_name: "Solar & Sons", email }));
    expect(signUp.status).toBe(201);
    const code = await findEmailCode(email);
    const before = await countNew();
    expect(describeOutcome(await submitEmailCode(email, code, "business", {}, partial))).toBe("503 storage_unavailable");
    expect(await countNew()).toEqual(before);
    expect((await submitEmailCode(email, code, "business")).body.data).toMatchObject({ created: true });
  });

  test("and no other one responds, sign-in returns 503 storage_unavailable", async () => {
    const service = createServiceCall({ DB: silentDatabase, DB_01: silentDatabase });
    expect(describeOutcome(await requestEmailCode(ownerEmail, "business", service))).toBe("503 storage_unavailable");
  });
});

describe("whether an address is known", () => {
  const stranger = "stranger@acme-solar.example";
  const realms: readonly Realm[] = ["business", "consumer"];
  /** Returns the status, text and headers without the parts that differ between any two requests. */
  const summarizeResponse = ({ status, headers, body, text }: TestResponse): unknown => [
    status,
    text.replace(body.request_id, ""),
    [...headers]
      .filter(([name]) => !["x-request-id", "ratelimit-remaining", "ratelimit-reset"].includes(name))
      .map(([name, value]) => [name, name === "set-cookie" ? value.replace(/=[^;]+;/, "=…;") : value]),
  ];

  test.each(realms)("is not revealed by requesting a code (%s)", async (realm) => {
    const known = realm === "business" ? ownerEmail : consumerEmail;
    const before = await countRows(["email_codes", "sessions", "members", "consumers"]);
    const first = await requestEmailCode(known, realm);
    const between = await countRows(["email_codes", "sessions", "members", "consumers"]);
    const second = await requestEmailCode(stranger, realm);
    const after = await countRows(["email_codes", "sessions", "members", "consumers"]);
    expect(summarizeResponse(first)).toEqual(summarizeResponse(second));
    for (const table of Object.keys(before))
      expect((after[table] as number) - (between[table] as number), table).toBe((between[table] as number) - (before[table] as number));
  });

  test.each(realms)("is not revealed by an invisible character around the address (%s)", async (realm) => {
    const known = realm === "business" ? ownerEmail : consumerEmail;
    const responses = [await requestEmailCode(`\u200b${known}`, realm), await requestEmailCode(`\u200b${stranger}`, realm)];
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("is not revealed by an email: the email of an unknown address is queued like any other and dropped", async () => {
    await requestEmailCode(stranger, "business");
    expect(await listMailTo(stranger)).toEqual([]);
    expect(await countRows(["mail_outbox", "captured_mail"])).toEqual({ mail_outbox: 0, captured_mail: 0 });
  });

  test("does not change the database statements", async () => {
    const recordStatements = async (email: string): Promise<readonly string[]> => {
      const statements: string[] = [];
      const db = new Proxy(env.DB, {
        get: (target, name) => {
          if (name === "prepare")
            return (sql: string) => {
              statements.push(sql.replaceAll(/\s+/g, " "));
              return target.prepare(sql);
            };
          const member = Reflect.get(target, name) as unknown;
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
      await createServiceCall({ DB: db, MAIL_TRANSPORT: "http", MAIL_HTTP_URL: "http://mail.example/send", MAIL_HTTP_TOKEN: "x" })(
        "/v1/auth/request-code",
        buildJsonRequest({ email, realm: "business" }),
      );
      await waitUntilSettled(); // waits, because this service's relay would otherwise send the next test's emails
      // Leaves out the statements that run after the response.
      return statements.filter((sql) => !/^(?:update|delete from) "mail_outbox"|from "owner_notices"/.test(sql));
    };
    const statements = await recordStatements(ownerEmail);
    expect(statements.length).toBeGreaterThanOrEqual(3);
    expect(await recordStatements(stranger)).toEqual(statements);
  });

  test("is not revealed by submitting a code: every refusal has the same response", async () => {
    await requestEmailCode(ownerEmail, "business");
    const code = await findEmailCode(ownerEmail);
    await requestEmailCode(stranger, "business");
    const start = Date.now();
    const refused: TestResponse[] = [
      await submitEmailCode(ownerEmail, createDifferentCode(code), "business"), // a wrong code
      await submitEmailCode(stranger, code, "business"), // an unknown address
      await submitEmailCode("never-asked@example.com", code, "business"), // no code was requested
      await submitEmailCode(ownerEmail, code, "consumer"), // another realm
    ];
    for (let attempt = 0; attempt < 5; attempt += 1) refused.push(await submitEmailCode(ownerEmail, createDifferentCode(code), "business"));
    refused.push(await submitEmailCode(ownerEmail, code, "business")); // no attempts left
    await requestEmailCode(memberEmail, "business");
    const members = await findEmailCode(memberEmail);
    await submitEmailCode(memberEmail, members, "business");
    refused.push(await submitEmailCode(memberEmail, members, "business")); // already used
    setTime(start + 11 * minute);
    await requestEmailCode(ownerEmail, "business");
    const late = await findEmailCode(ownerEmail);
    setTime(start + 22 * minute);
    refused.push(await submitEmailCode(ownerEmail, late, "business")); // expired
    expect(new Set(refused.map((response) => JSON.stringify(summarizeResponse(response)))).size).toBe(1);
    expect(describeOutcome(refused[0]!)).toBe("400 login_failed");
    expect(refused.some(({ headers }) => headers.has("set-cookie"))).toBe(false);
  });

  test("is not revealed by a correct guess: the code of an unknown address starts no session", async () => {
    await requestEmailCode(stranger, "business");
    const vault = await openVaultFromVars(env);
    const index = getPlainIndex(await vault.blindIndex("email", stranger));
    await env.DB.prepare("UPDATE email_codes SET code_hash = ?")
      .bind(toStoredIndex(await vault.codeHash(`login\nbusiness\n${index}\nstranger`, "123456")))
      .run();
    expect(describeOutcome(await submitEmailCode(stranger, "123456", "business"))).toBe("400 login_failed");
    expect(await countRows(["sessions"])).toEqual({ sessions: 0 });
  });
});

/** Returns a cookie's attributes, sorted, because their order does not matter. */
const listAttributes = (cookie: string): readonly string[] => cookie.split("; ").slice(1).sort();

describe("a session", () => {
  test("is a random token in a cookie that scripts cannot read and other sites do not send, stored as a hash", async () => {
    await requestEmailCode(ownerEmail, "business");
    const response = await submitEmailCode(ownerEmail, await findEmailCode(ownerEmail), "business");
    const cookie = response.headers.get("set-cookie") as string;
    const token = /^svc_session=(ses_00[A-Za-z0-9_-]{43});/.exec(cookie)?.[1] as string;
    expect(listAttributes(cookie)).toEqual(["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax"]);
    expect(token).toBeDefined();
    expect(response.text).not.toContain(token);
    expect(await env.DB.prepare("SELECT token_hash FROM sessions").first("token_hash")).toBe(sha256Hex(token));
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(token);
  });

  test("lasts 30 days for a consumer and 12 hours for a member", async () => {
    const start = Date.now();
    for (const [realm, email, lifeMs] of [
      ["business", ownerEmail, 12 * 60 * minute],
      ["consumer", consumerEmail, 30 * 24 * 60 * minute],
    ] as const) {
      setTime(start);
      await requestEmailCode(email, realm);
      const response = await submitEmailCode(email, await findEmailCode(email), realm);
      expect(response.headers.get("set-cookie")).toContain(`Max-Age=${lifeMs / 1_000};`);
      setTime(start + lifeMs - 1);
      expect((await readSession(getCookie(response))).status).toBe(200);
      setTime(start + lifeMs);
      expect(describeOutcome(await readSession(getCookie(response)))).toBe("401 unauthorized");
    }
  });

  test("uses a __Host- cookie over https only outside development", async () => {
    const production = createServiceCall({ ...productionSettings, DEV_RATE_SCALE: "" }, "https://app.svc.test");
    const vault = await openVaultFromVars(env);
    const index = getPlainIndex(await vault.blindIndex("email", ownerEmail));
    expect((await production("/v1/auth/request-code", buildJsonRequest({ email: ownerEmail, realm: "business" }))).status).toBe(200);
    await waitUntilSettled(); // waits, because this service's relay would otherwise send the next test's emails
    await env.DB.prepare("UPDATE email_codes SET code_hash = ?")
      .bind(toStoredIndex(await vault.codeHash(`login\nbusiness\n${index}\n${ownerEmail.split("@")[0]}`, "123456")))
      .run();
    const response = await submitEmailCode(ownerEmail, "123456", "business", {}, production);
    const cookie = response.headers.get("set-cookie") as string;
    expect(cookie).toMatch(/^__Host-svc_session=ses_00[A-Za-z0-9_-]{43};/);
    expect(listAttributes(cookie)).toEqual(["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax", "Secure"]);
    expect(cookie).not.toMatch(/domain/i);
    expect((await production("/v1/auth/session", buildSession(getCookie(response)))).status).toBe(200);
    expect((await production("/v1/auth/session", buildSession(getCookie(response).replace("__Host-", "")))).status).toBe(401);
    expect((await call("/v1/auth/session", buildSession(getCookie(response)))).status).toBe(401);
  });

  test("replaces and ends the browser's earlier session", async () => {
    const { cookie: before } = await signInByEmail(memberEmail);
    await clearCodes();
    await requestEmailCode(ownerEmail, "business");
    const response = await submitEmailCode(ownerEmail, await findEmailCode(ownerEmail), "business", { cookie: before });
    expect(getCookie(response)).not.toBe(before);
    expect((await readSession(before)).status).toBe(401);
    expect((await readSession(getCookie(response))).status).toBe(200);
  });

  test("is never taken from the request: a failed sign-in neither ends nor starts one", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    expect((await submitEmailCode(memberEmail, "123456", "business", { cookie })).headers.has("set-cookie")).toBe(false);
    expect((await readSession(cookie)).status).toBe(200);
    const planted = `svc_session=ses_00${"A".repeat(43)}`;
    await clearCodes();
    await requestEmailCode(ownerEmail, "business");
    const response = await submitEmailCode(ownerEmail, await findEmailCode(ownerEmail), "business", { cookie: planted });
    expect(getCookie(response)).not.toBe(planted);
    expect((await readSession(planted)).status).toBe(401);
  });

  test("ends at once for every copy of its cookie when signing out, and signing out again changes nothing", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    const response = await call("/v1/auth/logout", { method: "POST", ...buildSession(cookie) });
    expect([response.status, response.body.data]).toEqual([200, { logged_out: true }]);
    const cleared = response.headers.get("set-cookie") as string;
    expect(cleared).toMatch(/^svc_session=;/);
    expect(listAttributes(cleared)).toEqual(["HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax"]);
    expect(response.headers.get("clear-site-data")).toBe('"storage"');
    expect((await readSession(cookie)).status).toBe(401);
    expect(await countRows(["sessions"])).toEqual({ sessions: 0 });
    for (const requestInit of [buildSession(cookie), {}])
      expect((await call("/v1/auth/logout", { method: "POST", ...requestInit })).status).toBe(200);
  });

  const { keys } = world.acme;
  test.each([
    ["no cookie", ""],
    ["an empty cookie", "svc_session="],
    ["an unknown token", `svc_session=ses_00${"A".repeat(43)}`],
    ["a token of an unknown shard", `svc_session=ses_zz${"A".repeat(43)}`],
    ["an API key", `svc_session=${keys.live}`],
    ["a cookie name in upper case", `SVC_SESSION=ses_00${"A".repeat(43)}`],
  ])("is not found for %s", async (_name, cookie) => {
    const response = await readSession(cookie);
    expect(describeOutcome(response)).toBe("401 unauthorized");
    expect(response.headers.has("www-authenticate")).toBe(false);
  });

  test("is refused if sent twice or changed, and is not read from the Authorization header or the query", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    const token = cookie.split("=")[1] as string;
    expect((await readSession(`${cookie}; ${cookie}`)).status).toBe(401);
    expect((await readSession(`a=b; ${cookie}; c=d`)).status).toBe(200);
    expect((await call("/v1/auth/session", { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    expect((await call(`/v1/auth/session?svc_session=${token}`)).status).toBe(401);
    expect((await readSession(`${cookie}x`)).status).toBe(401);
    expect((await readSession(cookie.slice(0, -1))).status).toBe(401);
    expect((await readSession(`svc_session=${sha256Hex(token)}`)).status).toBe(401);
  });

  test("allows 120 requests a minute, counted separately for each person", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    const start = Date.now() + 2 * minute;
    setTime(start);
    const statuses: number[] = [];
    for (let count = 0; count < 120; count += 1) statuses.push((await readSession(cookie)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const refused = await readSession(cookie);
    expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
      "429 rate_limited",
      "60",
      "120",
    ]);
    const { cookie: second } = await signInByEmail(memberEmail);
    expect((await readSession(second)).status).toBe(200);
    setTime(start + minute);
    expect((await readSession(cookie)).status).toBe(200);
  });

  test("is deleted by the cron job after it ends, as are unusable codes", async () => {
    const start = Date.now();
    setTime(start);
    await signInByEmail(ownerEmail);
    await signInByEmail(consumerEmail, "consumer");
    const platform = await createPlatform(env);
    const sweep = (now: number) => runScheduledJobs({ ...platform, clock: () => now }, "* * * * *", now);
    await sweep(start + 12 * 60 * minute);
    expect(await countRows(["sessions", "email_codes"])).toEqual({ sessions: 1, email_codes: 1 });
    await sweep(start + 24 * 60 * minute - 1);
    expect(await countRows(["email_codes"])).toEqual({ email_codes: 1 });
    await sweep(start + 24 * 60 * minute);
    expect(await countRows(["email_codes"])).toEqual({ email_codes: 0 });
  });
});

describe("a request from another site", () => {
  const app = "http://svc.test";
  const foreign: readonly (readonly [string, Record<string, string>])[] = [
    ["another origin", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
    ["a sibling of the app", { origin: "http://evil.svc.test" }],
    ["the app's host on another port", { origin: "http://svc.test:8080" }],
    ["the app's host over https", { origin: "https://svc.test" }],
    ["an origin with a path", { origin: `${app}/` }],
    ["an origin that begins like the app's", { origin: `${app}.evil.example` }],
    ["two origins", { origin: `${app}, https://evil.example` }],
    ["the app's origin, but cross-site by fetch metadata", { origin: app, "sec-fetch-site": "cross-site" }],
    ["no origin, from a cross-site form", { "sec-fetch-site": "cross-site" }],
    ["no origin, cross-site in capitals", { "sec-fetch-site": "CROSS-SITE" }],
  ];
  test.each(foreign)("is refused before anything else: %s", async (_name, headers) => {
    const { cookie } = await signInByEmail(ownerEmail);
    await clearCodes();
    const before = await countRows(peopleTables);
    for (const path of ["/v1/auth/request-code", "/v1/auth/verify-code", "/v1/auth/logout"]) {
      const response = await call(path, buildJsonRequest({ email: ownerEmail, code: "123456", realm: "business" }, { ...headers, cookie }));
      expect(describeOutcome(response), path).toBe("403 csrf_failed");
      expect(response.headers.has("access-control-allow-origin")).toBe(headers.origin === app);
      expect(response.headers.has("set-cookie")).toBe(false);
    }
    expect(await countRows(peopleTables)).toEqual(before);
    expect((await readSession(cookie)).status).toBe(200);
  });

  test.each([
    ["the app itself", { origin: app, "sec-fetch-site": "same-origin" }],
    ["the app without fetch metadata", { origin: app }],
    ["a program without an origin", {}],
    ["a typed address", { "sec-fetch-site": "none" }],
  ])("is not a request from %s", async (_name, headers: Record<string, string>) => {
    expect((await call("/v1/auth/request-code", buildJsonRequest({ email: ownerEmail, realm: "business" }, headers))).status).toBe(200);
  });

  test("is recognized by the app's address, and in development also by the requested one", async () => {
    const requestCodeFrom = (service: Call, origin: string) =>
      service("/v1/auth/request-code", buildJsonRequest({ email: ownerEmail, realm: "business" }, { origin }));
    const local = createServiceCall({}, "http://127.0.0.1:8787");
    expect((await requestCodeFrom(local, "http://127.0.0.1:8787")).status).toBe(200);
    expect((await requestCodeFrom(local, app)).status).toBe(200);
    expect((await requestCodeFrom(local, "http://127.0.0.1:8788")).status).toBe(403);
    const production = createServiceCall({ ...productionSettings }, "https://api.svc.test");
    expect((await requestCodeFrom(production, "https://app.svc.test")).status).toBe(200);
    expect((await requestCodeFrom(production, "https://api.svc.test")).status).toBe(403);
    expect((await requestCodeFrom(production, "https://verify.svc.test")).status).toBe(403);
    await waitUntilSettled(); // waits, because this service's relay would otherwise send the next test's emails
  });

  test("returns 415 unsupported_media_type for a form", async () => {
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]) {
      const body = JSON.stringify({ email: ownerEmail, realm: "business", code: "123456" });
      for (const path of ["/v1/auth/request-code", "/v1/auth/verify-code", "/v1/auth/logout"]) {
        const response = await call(path, { method: "POST", headers: { "content-type": type }, body: new TextEncoder().encode(body) });
        expect(describeOutcome(response), `${path} ${type}`).toBe("415 unsupported_media_type");
      }
    }
  });

  test("cannot read responses: only the app's pages can, with the cookie", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    const asApp = await call("/v1/auth/session", { headers: { cookie, origin: app } });
    expect(asApp.headers.get("access-control-allow-origin")).toBe(app);
    expect(asApp.headers.get("access-control-allow-credentials")).toBe("true");
    expect(asApp.headers.get("vary")).toContain("Origin");
    const refused = await call("/v1/auth/session", { headers: { origin: app } });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, app]);
    for (const origin of ["https://evil.example", "null", "http://evil.svc.test"]) {
      for (const init of [
        { headers: { cookie, origin } },
        { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } },
      ]) {
        const response = await call("/v1/auth/session", init);
        expect(response.headers.has("access-control-allow-origin")).toBe(false);
        expect(response.headers.has("access-control-allow-credentials")).toBe(false);
      }
    }
    const preflight = await call("/v1/auth/verify-code", {
      method: "OPTIONS",
      headers: { origin: app, "access-control-request-method": "POST" },
    });
    expect([
      preflight.status,
      preflight.headers.get("access-control-allow-origin"),
      preflight.headers.get("access-control-max-age"),
    ]).toEqual([204, app, "7200"]);
  });
});
