// Tests sending email from the outbox. After a failure, a stored email is tried again until it is sent, is refused by the provider, or
// expires.
import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { MailCapabilities, MailOutcome, OutgoingMail } from "../../core/mail/message.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { claimMail, insertMail, type NewMail } from "../../storage/outboxes/mail.ts";
import { businesses } from "../../storage/schema.ts";
import { createBindingMailer, createHttpMailer } from "../../workers/adapters/mailer.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { relayMail } from "../../workers/background/mail-relay.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { countRowsRead } from "../support/rows-read.ts";
import { call, readDatabaseContents } from "../support/world.ts";

const minute = 60_000;
const start = Date.UTC(2099, 10, 20, 10, 0, 0); // so far in the future that only these tests' rows are due
let platform: Platform;
let now = start;
let sent: OutgoingMail[] = [];
let faults: string[] = [];

beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM mail_outbox"), env.DB.prepare("DELETE FROM captured_mail")]);
  now = start;
  sent = [];
  faults = [];
  platform = await createPlatform(env);
});

/** Creates a platform whose email provider returns these outcomes in order and then repeats the last one. */
const createSendingPlatform = (...outcomes: readonly (MailOutcome | Error)[]): Platform => ({
  ...platform,
  clock: () => now,
  log: { ...platform.log, error: ({ at, error }) => faults.push(`${at}: ${error}`) },
  mailer: {
    send: async (message) => {
      const outcome = outcomes[Math.min(sent.length, outcomes.length - 1)] as MailOutcome | Error;
      sent.push(message);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  },
});
const signInUrl = "https://app.example.com/app/sign-in/link#s=x";
const write = async (change: Partial<NewMail> = {}): Promise<void> => {
  const mail = { to: "pat@example.com", template: "login_code", data: { code: "123456", signInUrl }, now, ...change } as NewMail;
  const db = openDatabase(env.DB);
  await batch(db, await insertMail(db, platform.vault, mail));
};
const listWaitingMail = async () => (await env.DB.prepare("SELECT next_at, attempts FROM mail_outbox ORDER BY ord").all()).results;

describe("an email in the outbox", () => {
  test("is sent once, in the reader's language, and its row is deleted", async () => {
    await write({ language: "es" });
    const accepting = createSendingPlatform("accepted");
    await Promise.all([relayMail(accepting), relayMail(accepting)]);
    expect(sent.map(({ to: recipient, subject }) => [recipient, subject])).toEqual([["pat@example.com", "Su código para iniciar sesión"]]);
    expect(await listWaitingMail()).toEqual([]);
    await relayMail(accepting);
    expect(sent.length).toBe(1);
  });

  test("is sent after the response, not before", async () => {
    await write();
    const accepting = createSendingPlatform("accepted");
    const after: (() => Promise<void>)[] = [];
    createSchedules({ ...accepting, waitUntil: (work) => after.push(work) }).scheduleMail();
    expect([sent.length, after.length]).toEqual([0, 1]);
    await after[0]?.();
    expect(sent.length).toBe(1);
  });

  test("shares the relay of an email written just before, unless that relay was lost", async () => {
    const after: (() => Promise<void>)[] = [];
    const { scheduleMail } = createSchedules({ ...createSendingPlatform("accepted"), waitUntil: (work) => after.push(work) });
    for (let changes = 0; changes < 3; changes += 1) {
      await write();
      scheduleMail();
    }
    expect(after.length).toBe(1);
    await after[0]?.();
    expect(sent.length).toBe(3);
    scheduleMail(); // the test never runs this timer, as if it had been lost
    scheduleMail();
    expect(after.length).toBe(2);
    now += 1_200;
    scheduleMail();
    expect(after.length).toBe(3);
  });

  test("is written only if its condition holds", async () => {
    await write({ onlyIf: sql`exists (select 1 from ${businesses} where ${businesses.id} = ${"biz_none"})` });
    expect(await listWaitingMail()).toEqual([]);
    await write({ onlyIf: sql`exists (select 1 from ${businesses})` });
    expect((await listWaitingMail()).length).toBe(1);
  });

  test("without a recipient is stored in the same way and is not sent", async () => {
    await write({ to: null });
    expect((await listWaitingMail()).length).toBe(1);
    await relayMail(createSendingPlatform("accepted"));
    expect([sent, await listWaitingMail(), faults]).toEqual([[], [], []]);
  });

  test("is encrypted at rest, both waiting and captured", async () => {
    await write();
    const before = JSON.stringify(await readDatabaseContents());
    await relayMail({ ...platform, clock: () => now });
    const after = JSON.stringify(await readDatabaseContents());
    for (const contents of [before, after]) expect(contents).not.toMatch(/pat@example|\D123456\D.*sign|sign-in code/);
  });

  test("is not written for more or fewer than one mailbox", async () => {
    for (const recipient of ["pat@example.com\r\nBcc: x@example.com", "a@example.com,b@example.com", "Pat <pat@example.com>", ""])
      await expect(write({ to: recipient })).rejects.toThrow("not a single email address");
    expect(await listWaitingMail()).toEqual([]);
  });
});

describe("many emails", () => {
  const many = 3_000;
  /** Inserts warnings that have been due for an hour. Their content does not matter here. */
  const insertBacklog = () =>
    env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) SELECT 'warning ' || i, 'share_expiring', 'x', ?, ?, 0 FROM n`,
    )
      .bind(many, now - 60 * minute, now + 1_380 * minute)
      .run();

  test("do not delay a one-time code: the email that expires first is sent first", async () => {
    await insertBacklog();
    await write();
    await relayMail(withBudget(createSendingPlatform("accepted"), { maxMs: minute, maxQueries: 5 }));
    expect(sent).toHaveLength(1);
    expect((await listWaitingMail()).length).toBeGreaterThanOrEqual(many - 10);
  });

  test("are claimed without reading all of them, whether they are due or wait for their next attempt", async () => {
    await insertBacklog();
    const countClaimedRows = async (): Promise<number> => {
      const counter = await countRowsRead();
      await claimMail(openDatabase(env.DB), now, 5);
      counter.stop();
      return counter.take().reduce((sum, { rows }) => sum + rows, 0);
    };
    expect(await countClaimedRows()).toBeLessThan(many);
    await env.DB.prepare("UPDATE mail_outbox SET next_at = ?")
      .bind(now + minute)
      .run();
    expect(await countClaimedRows()).toBeLessThan(many);
  });
});

describe("a mail provider", () => {
  test("gets a failed email again after 15 s, and then after twice as long each time, with the same ID", async () => {
    await write();
    const refusing = createSendingPlatform("later");
    const delays: number[] = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await relayMail(refusing);
      const [row] = await listWaitingMail();
      delays.push((row?.next_at as number) - now);
      now = (row?.next_at as number) - 1;
      const before = sent.length;
      await relayMail(refusing);
      expect(sent.length).toBe(before);
      now += 1;
    }
    expect(delays).toEqual([15_000, 30_000, 60_000, 120_000, 240_000]);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(1);
  });

  test("gets the email when it is available again", async () => {
    await write();
    const healing = createSendingPlatform("later", new Error("a mistake of ours"), "accepted");
    await relayMail(healing);
    now += minute;
    await relayMail(healing);
    expect((await listWaitingMail()).length).toBe(1);
    now += minute;
    await relayMail(healing);
    expect([sent.length, await listWaitingMail()]).toEqual([3, []]);
  });

  test("gets no code that has expired while it was unavailable", async () => {
    await write();
    await write({ template: "withdrawal_owner_notice", data: { certIds: ["cc_1"], ceaseBy: start } });
    now += 10 * minute;
    await relayMail(createSendingPlatform("later"));
    expect(sent.map(({ subject }) => subject)).toEqual(["Someone withdrew consent"]);
    expect((await listWaitingMail()).length).toBe(1);
    expect(faults).toEqual(["mail: expired"]);
    now += 3 * 24 * 60 * minute;
    await relayMail(createSendingPlatform("later"));
    expect(await listWaitingMail()).toEqual([]);
  });

  test("does not get a refused email again, and the log does not contain the address", async () => {
    await write();
    await relayMail(createSendingPlatform("refused"));
    expect([await listWaitingMail(), faults]).toEqual([[], ["mail: refused"]]);
    now += 60 * minute;
    await relayMail(createSendingPlatform("accepted"));
    expect(sent.length).toBe(1);
  });

  test("delays no other worker while it hangs, and the cron job takes over after a crash", async () => {
    await write();
    const dying = { ...createSendingPlatform("accepted"), mailer: { send: () => new Promise<MailOutcome>(() => undefined) } };
    void relayMail(dying);
    await vi.waitFor(async () => expect((await listWaitingMail())[0]?.attempts).toBe(1), 20_000);
    await write({ to: "sam@example.com" });
    await relayMail(createSendingPlatform("accepted"));
    expect(sent.map(({ to: recipient }) => recipient)).toEqual(["sam@example.com"]);
    now += minute;
    await runScheduledJobs(createSendingPlatform("accepted"), "* * * * *", now);
    expect(sent.map(({ to: recipient }) => recipient)).toEqual(["sam@example.com", "pat@example.com"]);
  });

  test("gets all other emails while one row cannot be decrypted", async () => {
    await write();
    await env.DB.prepare("UPDATE mail_outbox SET message_sealed = '1.AAAA'").run();
    for (const recipient of ["a@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"])
      await write({ to: recipient });
    await relayMail(createSendingPlatform("accepted"));
    expect(sent.length).toBe(5);
    expect((await listWaitingMail()).length).toBe(1);
  });
});

test("a mail provider gets emails even if a sweep fails", async () => {
  await write();
  await env.DB.prepare("CREATE TRIGGER no_sweep BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'injected'); END").run();
  await env.DB.prepare(
    "INSERT INTO sessions (token_hash, realm, user_id, created_at, expires_at) VALUES ('x', 'business', 'x', 0, 0)",
  ).run();
  try {
    await runScheduledJobs(createSendingPlatform("accepted"), "* * * * *", now);
    expect(sent.length).toBe(1);
    expect(faults.some((fault) => fault.startsWith("expiry: "))).toBe(true);
  } finally {
    await env.DB.prepare("DROP TRIGGER no_sweep").run();
    await env.DB.prepare("DELETE FROM sessions").run();
  }
});

const message: OutgoingMail = { id: "m-1", to: "pat@example.com", from: "no-reply@example.com", subject: "s", text: "t", html: "<p>t" };

const ascii = { supportsUtf8Addresses: false };
const utf8 = { supportsUtf8Addresses: true };

describe("Cloudflare Email Service", () => {
  test("gets the email in its own format", async () => {
    const boundValues: unknown[] = [];
    expect(await createBindingMailer({ send: async (mail) => boundValues.push(mail) }, ascii).send(message)).toBe("accepted");
    expect(boundValues).toEqual([{ to: "pat@example.com", from: "no-reply@example.com", subject: "s", text: "t", html: "<p>t" }]);
  });

  test.each([
    ["E_RECIPIENT_SUPPRESSED", "refused"],
    ["E_VALIDATION_ERROR", "refused"],
    ["E_FIELD_MISSING", "refused"],
    ["E_CONTENT_TOO_LARGE", "refused"],
    ["E_RATE_LIMIT_EXCEEDED", "later"],
    ["E_SENDER_NOT_VERIFIED", "later"],
    [undefined, "later"],
  ])("maps the error %s to %s", async (code, outcome) => {
    const binding = { send: () => Promise.reject(Object.assign(new Error("to pat@example.com"), { code })) };
    expect(await createBindingMailer(binding, ascii).send(message)).toBe(outcome);
  });
});

describe("a mail provider over HTTPS", () => {
  test("gets the email as JSON, with its token and the email's ID", async () => {
    const requests: Request[] = [];
    const provider = createHttpMailer({ url: "https://mail.example/send", token: "secret", ...ascii }, async (request) => {
      requests.push(request);
      return new Response("queued", { status: 202 });
    });
    expect(await provider.send(message)).toBe("accepted");
    const [request] = requests as [Request];
    expect([request.method, request.url, request.redirect]).toEqual(["POST", "https://mail.example/send", "manual"]);
    expect([request.headers.get("authorization"), request.headers.get("idempotency-key")]).toEqual(["Bearer secret", "m-1"]);
    const { id: _id, ...rest } = message;
    expect(await request.json()).toEqual(rest);
  });

  test.each([
    [200, "accepted"],
    [302, "later"],
    [400, "refused"],
    [401, "later"],
    [402, "later"],
    [403, "later"],
    [404, "later"],
    [405, "later"],
    [409, "later"],
    [422, "refused"],
    [429, "later"],
    [500, "later"],
  ])("maps status %d to %s", async (status, outcome) => {
    const provider = createHttpMailer(
      { url: "https://mail.example/send", token: "x", ...ascii },
      async () => new Response(null, { status }),
    );
    expect(await provider.send(message)).toBe(outcome);
  });

  test("maps a network error to later", async () => {
    const provider = createHttpMailer({ url: "https://mail.example/send", token: "x", ...ascii }, () =>
      Promise.reject(new Error("no route")),
    );
    expect(await provider.send(message)).toBe("later");
  });
});

describe("an email that will not be sent", () => {
  const listFailedMail = async () =>
    (
      await env.DB.prepare(
        "SELECT template, reason, failed_at - ?1 AS failed_at, expires_at - ?1 AS expires_at, entity_id FROM failed_mail ORDER BY ord",
      )
        .bind(start)
        .all()
    ).results;
  const notice = { template: "withdrawal_owner_notice", data: { certIds: ["cc_1"], ceaseBy: start } } as Partial<NewMail>;
  const hour = 60 * minute;

  beforeEach(() => env.DB.prepare("DELETE FROM failed_mail").run());

  test.each(["refused", "unsupported_address"] as const)("is kept as failed for 30 days if it was %s", async (reason) => {
    await write(notice);
    await relayMail(createSendingPlatform(reason));
    expect(await listWaitingMail()).toEqual([]);
    expect(await listFailedMail()).toEqual([
      { template: "withdrawal_owner_notice", reason, failed_at: 0, expires_at: 30 * 24 * hour, entity_id: null },
    ]);
    now += 30 * 24 * hour;
    await runScheduledJobs(createSendingPlatform("accepted"), "* * * * *", now);
    expect(await listFailedMail()).toEqual([]);
  });

  test("is kept as failed for only one day if it confirms the deletion of an account", async () => {
    await write({ template: "account_deleted", data: { at: start } } as Partial<NewMail>);
    await relayMail(createSendingPlatform("refused"));
    const row = { template: "account_deleted", reason: "refused", failed_at: 0, expires_at: 24 * hour, entity_id: null };
    expect(await listFailedMail()).toEqual([row]);
  });

  test("is kept as failed if it was not sent in time, and only for one day if it is a code", async () => {
    await write({ entityId: "code" });
    now += 10 * minute;
    await relayMail(createSendingPlatform("accepted"));
    const [failed_at, expires_at] = [10 * minute, 10 * minute + 24 * hour];
    expect(await listFailedMail()).toEqual([{ template: "login_code", reason: "expired", failed_at, expires_at, entity_id: "code" }]);
    expect(sent).toEqual([]);
  });

  test("is kept as failed if it could not be decrypted in time", async () => {
    await write(notice);
    await env.DB.prepare("UPDATE mail_outbox SET message_sealed = '1.AAAA'").run();
    now += 3 * 24 * hour;
    await relayMail(createSendingPlatform("accepted"));
    expect((await listFailedMail()).map(({ reason }) => reason)).toEqual(["expired"]);
    expect(await listWaitingMail()).toEqual([]);
  });

  test("is not kept if it never had a recipient, so that nothing is shown about unknown addresses", async () => {
    await write({ to: null });
    now += 10 * minute;
    await relayMail(createSendingPlatform("refused"));
    expect([await listWaitingMail(), await listFailedMail()]).toEqual([[], []]);
  });

  test("is kept only among the newest 10,000 of a shard", async () => {
    await env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
       INSERT INTO failed_mail (id, template, message_sealed, reason, failed_at, expires_at, created_at) SELECT 'old ' || i, 'login_code', 'x', 'refused', 0, 9e15, 0 FROM n`,
    ).run();
    await write(notice);
    await relayMail(createSendingPlatform("refused"));
    const count = await env.DB.prepare(
      "SELECT COUNT(*) AS n, MIN(id = 'old 3') AS first, SUM(template <> 'login_code') AS newest FROM failed_mail",
    ).first();
    expect(count).toEqual({ n: 10_000, first: 0, newest: 1 });
    await env.DB.prepare("DELETE FROM failed_mail").run();
  });
});

describe("an address with letters outside ASCII", () => {
  /** Sends an email through an HTTP provider and an email binding. Returns the outcomes and the addresses that each of them received. */
  const sendToBoth = async (recipient: string, capabilities: MailCapabilities) => {
    const sentMails: { readonly to: string; readonly from: string }[] = [];
    const http = createHttpMailer({ url: "https://mail.example/send", token: "x", ...capabilities }, async (request) => {
      sentMails.push(await request.json());
      return new Response(null, { status: 202 });
    });
    const binding = createBindingMailer({ send: async (mail) => sentMails.push(mail) }, capabilities);
    const mail = { ...message, to: recipient, from: "post@bücher.example" };
    const outcomes = [await http.send(mail), await binding.send(mail)];
    return { outcomes, sentMails: sentMails.map((sent) => [sent.to, sent.from]) };
  };

  test.each([
    ["pat@bücher.example", "pat@xn--bcher-kva.example"],
    ["Pat.Doe@BÜCHER.example", "Pat.Doe@xn--bcher-kva.example"],
    ["pat@例え.テスト", "pat@xn--r8jz45g.xn--zckzah"],
    ["pat@مثال.إختبار", "pat@xn--mgbh0fb.xn--kgbechtv"],
    ["pat@faß.example", "pat@xn--fa-hia.example"],
    ["pat@xn--bcher-kva.example", "pat@xn--bcher-kva.example"],
    ["pat+news@example.com", "pat+news@example.com"],
  ])("is passed to the provider with its domain in punycode: %s", async (recipient, passedOn) => {
    const pair = [passedOn, "post@xn--bcher-kva.example"];
    expect(await sendToBoth(recipient, ascii)).toEqual({ outcomes: ["accepted", "accepted"], sentMails: [pair, pair] });
  });

  test.each(["zoë@example.com", "用户@例え.テスト", "пат@example.com"])(
    "before the @ is only sent by a provider that supports SMTPUTF8: %s",
    async (recipient) => {
      expect(await sendToBoth(recipient, ascii)).toEqual({ outcomes: ["unsupported_address", "unsupported_address"], sentMails: [] });
      const { outcomes, sentMails } = await sendToBoth(recipient, utf8);
      expect(outcomes).toEqual(["accepted", "accepted"]);
      for (const [passedOn] of sentMails)
        expect(passedOn).toMatch(new RegExp(`^${recipient.slice(0, recipient.indexOf("@"))}@[a-z0-9.-]+$`));
    },
  );
});

describe("GET /dev/mail", () => {
  test("returns captured emails immediately, newest first", async () => {
    now = Date.now();
    await write();
    await write({ to: "Sam@Example.com", data: { code: "654321", signInUrl } });
    const { status, headers, body } = await call("/dev/mail");
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, "application/json", "no-store"]);
    expect(body.messages.map(({ to: recipient }: { to: string }) => recipient).sort()).toEqual(["Sam@Example.com", "pat@example.com"]);
    expect(Object.keys(body.messages[0]).sort()).toEqual(["from", "html", "id", "sent_at", "subject", "text", "to"]);
    await write({ data: { code: "111111", signInUrl } });
    expect((await call("/dev/mail")).body.messages[0].text).toContain("111111");
  });

  test("returns only emails to the given address, however it is spelled", async () => {
    now = Date.now();
    await write();
    await write({ to: "sam@example.com" });
    const { body } = await call("/dev/mail?to=SAM@example.COM");
    expect(body.messages.map(({ to: recipient }: { to: string }) => recipient)).toEqual(["sam@example.com"]);
    expect((await call("/dev/mail?to=nobody@example.com")).body.messages).toEqual([]);
  });

  test("waits for an email that another run is sending", async () => {
    now = Date.now();
    await write();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Platform = { ...platform, mailer: { send: (message) => held.then(() => platform.mailer.send(message)) } };
    const isSent = relayMail(slow);
    await vi.waitFor(async () => expect((await listWaitingMail())[0]?.attempts).toBe(1), 20_000);
    const reading = call("/dev/mail");
    setTimeout(release, 1_000);
    expect((await reading).body.messages[0]?.text).toContain("123456");
    await isSent;
  });

  test("does not wait for an email that will be retried", async () => {
    now = Date.now();
    await write();
    await relayMail(createSendingPlatform("later"));
    const setTimeoutSpy = vi.spyOn(globalThis, "setTimeout");
    expect((await call("/dev/mail")).body.messages).toEqual([]);
    expect(setTimeoutSpy.mock.calls.filter(([, ms]) => ms === 25)).toEqual([]);
    setTimeoutSpy.mockRestore();
  });

  test("returns a page to a browser", async () => {
    now = Date.now();
    await write();
    const { headers, text } = await call("/dev/mail", { headers: { accept: "text/html,*/*;q=0.8" } });
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(text).toContain("Your sign-in code");
    expect(text).toContain("123456");
  });

  test("links from the page to the HTML body of an email, in which nothing loads or runs", async () => {
    now = Date.now();
    await write();
    const list = await call("/dev/mail", { headers: { accept: "text/html" } });
    const path = /href="(\/dev\/mail\/[^"]+)"/.exec(list.text)?.[1] as string;
    const { status, headers, text } = await call(path);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=UTF-8"]);
    expect(text).toMatch(/^<!doctype html><html lang="en">.*123456.*<\/html>$/s);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; style-src 'unsafe-inline'");
    expect(policy).not.toMatch(/script-src|img-src/);
    expect((await call("/dev/mail/of-no-email")).status).toBe(404);
  });
});
