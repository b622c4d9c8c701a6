// Tests the two warnings before a share expires, the expiry itself, and the emails about warnings and missed cease deadlines. Each of these
// happens exactly once, regardless of how the clock and the cron jobs behave.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import { openDatabase } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { unsealedEventTypes } from "../../storage/audit-entries.ts";
import { listDueShares, maxSweptShares, sweepShares } from "../../storage/share-sweep.ts";
import { sweepDueShares } from "../../workers/background/share-sweep.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { copyRow } from "../support/copied-rows.ts";
import { listMailTo } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  listAllEvents,
  grantShare,
  signInPerson,
  getWithApiKey,
  redeemCode,
  contactValues,
  postWithApiKey,
  type SignedPerson,
} from "../support/sharing.ts";
import { world } from "../support/world.ts";

const base = await getPlatform(env);
const createPlatformAt = (now: number): Platform => Object.assign(Object.create(base) as Platform, { clock: () => now });
const sweepAt = async (now: number): Promise<void> => {
  await sweepDueShares(createPlatformAt(now));
  await waitUntilSettled();
};
const listEventTypes = async (id: string): Promise<string[]> =>
  (await listAllEvents()).filter(({ share_id }) => share_id === id).map(({ type }) => type);
const countEntries = async (id: string): Promise<Record<string, number>> => {
  const { results } = await env.DB.prepare("SELECT type, COUNT(*) AS n FROM audit_entries WHERE entity_id = ? GROUP BY type ORDER BY type")
    .bind(id)
    .all<{ type: string; n: number }>();
  return Object.fromEntries(results.map(({ type, n }) => [type, n]));
};
const listSubjectsTo = async ({ email }: SignedPerson): Promise<string[]> =>
  (await listMailTo(email)).map(({ subject }) => subject).filter((subject) => !/code/i.test(subject));
const readShareRow = (id: string) =>
  env.DB.prepare(
    "SELECT state, key_sealed IS NULL AS keyless, next_due_at, (SELECT COUNT(*) FROM share_values WHERE share_id = id) AS copies FROM shares WHERE id = ?",
  )
    .bind(id)
    .first();

describe("an expiring share", () => {
  test("sends a warning seven days and one day before it expires, and expires; each once, in both chains, with emails", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 30 });
    const end = Date.parse(share.expires_at);
    const seen: string[][] = [];
    for (const now of [
      end - 7 * dayMs - 1,
      end - 7 * dayMs,
      end - 7 * dayMs,
      end - dayMs - 1,
      end - dayMs,
      end - 1,
      end,
      end,
      end + dayMs,
    ]) {
      await sweepAt(now);
      seen.push((await listEventTypes(share.id)).slice(1));
    }
    const [warned, ended] = ["share.expiring", "share.expired"];
    expect(seen).toEqual([
      [],
      [warned],
      [warned],
      [warned],
      [warned, warned],
      [warned, warned],
      [warned, warned, ended],
      [warned, warned, ended],
      [warned, warned, ended],
    ]);
    expect(await countEntries(share.id)).toEqual({ "share.created": 2, "share.expired": 2, "share.expiring": 4 });
    expect(await readShareRow(share.id)).toEqual({ state: "expired", keyless: 1, next_due_at: null, copies: 0 });
    const mails = await listSubjectsTo(pat);
    expect(mails).toHaveLength(3); // the receipt and two warnings; the expiry itself sends no email
    const endDate = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(end);
    expect(mails.filter((subject) => subject === `Sharing with a business ends on ${endDate}`)).toHaveLength(2);
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM share_notices").first("n")).toBe(0);
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.history.map(({ type }: { type: string }) => type)).toEqual([
      "share.created",
      warned,
      warned,
      ended,
    ]);
  });

  test("sends one warning if the clock jumps past both dates, and none if it jumps past the end", async () => {
    const pat = await signInPerson();
    const [late, over] = [(await grantShare(pat, { duration_days: 30 })).share, (await grantShare(pat, { duration_days: 30 })).share];
    const end = Date.parse(late.expires_at);
    await env.DB.prepare("UPDATE shares SET next_due_at = ? WHERE id = ?")
      .bind(end + 2 * dayMs, over.id)
      .run(); // as if the sweep had run late
    await sweepAt(end - 1_000);
    await env.DB.prepare("UPDATE shares SET next_due_at = ? WHERE id = ?")
      .bind(end - 7 * dayMs, over.id)
      .run();
    await sweepAt(Date.parse(over.expires_at));
    expect((await listEventTypes(late.id)).slice(1)).toEqual(["share.expiring", "share.expired"]);
    expect((await listEventTypes(over.id)).slice(1)).toEqual(["share.expired"]);
  });

  test("sends no warning if it lasts a day, and is left alone if revoked or renewed", async () => {
    const pat = await signInPerson();
    const [day, stopped, old] = [
      (await grantShare(pat, { duration_days: 1 })).share,
      (await grantShare(pat, { duration_days: 1 })).share,
      (await grantShare(pat, { duration_days: 1 })).share,
    ];
    await pat.post(`/v1/shares/${stopped.id}/revoke`, {});
    await pat.post(`/v1/me/shares/${old.id}/renew`, { consent: true, duration_days: 30 });
    await sweepAt(Date.now() + 2 * dayMs);
    expect((await listEventTypes(day.id)).slice(1)).toEqual(["share.expired"]);
    expect((await listEventTypes(stopped.id)).slice(1)).toEqual(["share.revoked"]);
    expect((await listEventTypes(old.id)).slice(1)).toEqual([]);
  });

  test("is swept once by two concurrent cron jobs, and stays revoked if it was revoked in between", async () => {
    const pat = await signInPerson();
    const [both, stopped] = [(await grantShare(pat, { duration_days: 1 })).share, (await grantShare(pat, { duration_days: 1 })).share];
    const now = Date.parse(both.expires_at) + minuteMs;
    const db = openDatabase(env.DB);
    const due = await listDueShares(db, "live", now);
    expect(due.map(({ id }) => id)).toEqual(expect.arrayContaining([both.id, stopped.id]));
    await pat.post(`/v1/shares/${stopped.id}/revoke`, {});
    await Promise.all([
      sweepShares(db, "live", due, now),
      sweepShares(db, "live", due, now),
      sweepDueShares(createPlatformAt(now)),
      sweepDueShares(createPlatformAt(now)),
    ]);
    await waitUntilSettled();
    expect((await listEventTypes(both.id)).slice(1)).toEqual(["share.expired"]);
    expect(await countEntries(both.id)).toEqual({ "share.created": 2, "share.expired": 2 });
    expect((await listEventTypes(stopped.id)).slice(1)).toEqual(["share.revoked"]);
  });

  test("of a test person expires without an event or an email", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 1 });
    const before = (await listAllEvents()).length;
    await env.DB.exec("DROP TRIGGER shares_granted");
    await env.DB.prepare("UPDATE shares SET environment = 'sandbox' WHERE id = ?").bind(share.id).run();
    await sweepAt(Date.parse(share.expires_at));
    expect(await readShareRow(share.id)).toMatchObject({ state: "expired", keyless: 1 });
    expect((await listAllEvents()).length).toBe(before);
  });
});

describe("a business that misses its deadline", () => {
  test("is reported to the person once, and not if it acknowledged in time", async () => {
    const pat = await signInPerson();
    const [silent, quick] = [(await grantShare(pat)).share, (await grantShare(pat)).share];
    for (const { id } of [silent, quick]) await pat.post(`/v1/shares/${id}/revoke`, {});
    await postWithApiKey(`/v1/shares/${quick.id}/cease-ack`, {});
    await waitUntilSettled();
    const before = await listSubjectsTo(pat);
    const deadline = Date.parse((await getWithApiKey(`/v1/shares/${silent.id}`)).body.data.cease.cease_by);
    await sweepAt(deadline);
    expect(await listSubjectsTo(pat)).toEqual(before);
    for (const now of [deadline + 1, deadline + 1, deadline + dayMs]) await sweepAt(now);
    expect(await listSubjectsTo(pat)).toHaveLength(before.length + 1);
  });

  test("is reported later if the email could not be written at first", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    await pat.post(`/v1/shares/${share.id}/revoke`, {});
    await waitUntilSettled();
    const before = await listSubjectsTo(pat);
    const deadline = Date.parse((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.cease.cease_by);
    await env.DB.exec("CREATE TRIGGER no_mail BEFORE INSERT ON mail_outbox BEGIN SELECT RAISE(ABORT, 'away'); END");
    await sweepAt(deadline + 1);
    await env.DB.exec("DROP TRIGGER no_mail");
    await sweepAt(deadline + minuteMs + 1);
    expect(await listSubjectsTo(pat)).toHaveLength(before.length + 1);
  });
});

const copyShare = (id: string, count: number, overrides?: Readonly<Record<string, string>>): Promise<void> =>
  copyRow("shares", id, count, overrides);

describe("a sweep with much due work", () => {
  /** Creates a platform that counts database statements and follow-up work. It does not run the follow-up work. */
  const createCountingPlatform = (clock: () => number) => {
    const counts = { statements: 0, followUps: 0 };
    const prepare = (text: string): D1PreparedStatement => {
      const statement = env.DB.prepare(text);
      const bind = statement.bind.bind(statement);
      return Object.assign(statement, {
        bind: (...boundValues: unknown[]) => {
          counts.statements += 1;
          return bind(...boundValues);
        },
      });
    };
    const counted = { prepare, batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements) };
    const countFollowUp = (): void => {
      counts.followUps += 1;
    };
    const platform = Object.assign(Object.create(base) as Platform, {
      clock,
      waitUntil: countFollowUp,
      shards: openShards({ DB: counted }),
    });
    return { counts, platform };
  };
  const readNumber = (text: string): Promise<number> => env.DB.prepare(text).first<number>("n") as Promise<number>;
  const countNotices = () => readNumber("SELECT COUNT(*) AS n FROM share_notices");
  const countWarnings = () => readNumber("SELECT COUNT(*) AS n FROM mail_outbox WHERE template = 'share_expiring'");
  /** Sweeps everything that is due, then creates `count` shares. Returns the time at which their first warnings are due. */
  const createDueShares = async (count: number): Promise<number> => {
    const { share } = await grantShare(await signInPerson(), { duration_days: 30 });
    const due = Date.parse(share.expires_at) - 7 * dayMs;
    await sweepAt(due - 1);
    await env.DB.exec("DELETE FROM mail_outbox");
    await copyShare(share.id, count - 1);
    return due;
  };

  test("uses at most 50 queries for 300 emails, and schedules its follow-up work only once", async () => {
    const due = await createDueShares(300);
    const { counts, platform } = createCountingPlatform(() => due);
    await sweepDueShares(platform);
    expect([await countNotices(), await countWarnings()]).toEqual([0, 300]);
    expect(counts.followUps).toBe(3); // one each for events, for the audit log and anchoring, and for email
    expect(counts.statements).toBeLessThanOrEqual(50); // at most six pages of five statements, one batch of five, and three empty reads
  });

  test("drains the events of 20 businesses immediately and leaves the others to the event sweep", async () => {
    const { share } = await grantShare(await signInPerson(), { duration_days: 1 });
    await sweepAt(Date.parse(share.expires_at) - 1);
    await copyRow("businesses", world.acme.id, 40, { audit_chain: "s.audit_chain || n.i" });
    await copyShare(share.id, 40, { business_id: "substr(s.business_id, 1, 20) || printf('%06d', n.i)" });
    const { counts, platform } = createCountingPlatform(() => Date.parse(share.expires_at));
    await sweepDueShares(platform);
    expect(
      await readNumber("SELECT COUNT(DISTINCT sequence) AS n FROM changes WHERE type = 'share.expired' AND sequence NOT LIKE '%~sandbox'"),
    ).toBe(41);
    expect(counts.followUps).toBe(21); // one for each of 20 businesses and one for the audit log
  });

  test("stops at its time limit, and the next one continues, so that each share is swept once", async () => {
    let now = await createDueShares(300);
    const slow = createCountingPlatform(() => {
      now += 2_000;
      return now;
    });
    await sweepDueShares(withBudget(slow.platform, { maxMs: 40_000, maxQueries: 800 }));
    const [left, written] = [await countNotices(), await countWarnings()];
    expect(left).toBeGreaterThan(0);
    expect(written).toBeGreaterThan(0);
    expect(left + written).toBe(300);
    await sweepDueShares(createCountingPlatform(() => now + minuteMs).platform);
    expect([await countNotices(), await countWarnings()]).toEqual([0, 300]);
  });
});

test("2,500 due shares expire in one run, each with one event and two entries", async () => {
  const pat = await signInPerson();
  const { share } = await grantShare(pat, { duration_days: 1 });
  await sweepAt(Date.now());
  await copyShare(share.id, 2_499);
  const like = `${share.id.slice(0, 20)}%`;
  const count = async (sql: string): Promise<number> => (await env.DB.prepare(sql).bind(like).first("n")) as number;
  const now = Date.parse(share.expires_at);
  expect(maxSweptShares).toBeLessThan(2_500);
  await sweepDueShares(createPlatformAt(now));
  expect(await count("SELECT COUNT(*) AS n FROM shares WHERE id LIKE ? AND state = 'expired' AND key_sealed IS NULL")).toBe(2_500);
  expect(await count("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id LIKE ? AND type = 'share.expired'")).toBe(5_000);
  expect(
    await count("SELECT COUNT(DISTINCT entity_id || chain) AS n FROM audit_entries WHERE entity_id LIKE ? AND type = 'share.expired'"),
  ).toBe(5_000);
  await waitUntilSettled();
  const events = (await listAllEvents(world.acme.keys.live)).filter(
    ({ type, share_id }) => type === "share.expired" && share_id.startsWith(like.slice(0, 20)),
  );
  expect([events.length, new Set(events.map(({ share_id }) => share_id)).size]).toEqual([2_500, 2_500]);
  expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM shares WHERE next_due_at <= ?").bind(now).first("n")).toBe(0);
}, 60_000);

test("unsealed audit entries have one of the four allowed types, and contain nothing that a person typed", async () => {
  const pat = await signInPerson();
  const grant = await grantShare(pat);
  await redeemCode(grant);
  await getWithApiKey(`/v1/consumers/${grant.share.id}/current`);
  await pat.post(`/v1/shares/${grant.share.id}/revoke`, { reason: "Found another provider" });
  await waitUntilSettled();
  const { results } = await env.DB.prepare("SELECT type, payload_sealed AS text FROM audit_entries WHERE payload_sealed LIKE '0.%'").all<{
    type: string;
    text: string;
  }>();
  expect([...new Set(results.map(({ type }) => type))].sort()).toEqual([...unsealedEventTypes].sort());
  const keys = new Set(results.flatMap(({ text }) => Object.keys((JSON.parse(text.slice(2)) as [string, object])[1])));
  expect([...keys].sort()).toEqual(["actor", "business_id", "expires_at"]);
  const all = results.map(({ text }) => text).join("\n");
  for (const personal of [...Object.values(contactValues).filter((value) => value.length > 6), pat.email, "con_00"])
    expect(all).not.toContain(personal);
  const others = await env.DB.prepare(
    `SELECT COUNT(*) AS n FROM audit_entries WHERE payload_sealed NOT LIKE '0.%' AND type IN (${unsealedEventTypes.map(() => "?").join(", ")})`,
  )
    .bind(...unsealedEventTypes)
    .first("n");
  expect(others).toBe(0);
});
