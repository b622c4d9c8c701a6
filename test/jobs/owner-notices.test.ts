// Tests notices to the owners of a business. The first notice of a kind is sent immediately and later ones in digests, so that a stranger
// cannot fill the owners' inboxes.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ShardId } from "../../core/ids.ts";
import type { OwnerNotice } from "../../core/mail/owner-notices.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import type { Shards } from "../../storage/shards.ts";
import { relayMail } from "../../workers/background/mail-relay.ts";
import { everyMinute, runScheduledJobs } from "../../workers/background/schedule.ts";
import { prepareOwnerNotice } from "../../workers/operations/owner-notices.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { copyRow } from "../support/copied-rows.ts";
import { listMailTo } from "../support/people.ts";
import { grantShare, signInPerson } from "../support/sharing.ts";
import { buildJsonPost, issueToNewPerson } from "../support/withdrawal.ts";
import { call, issueCertificate, readDatabaseContents, world, worldInSecondShard } from "../support/world.ts";

const minute = 60_000;
const hour = 60 * minute;
const { acme, other, ownerEmail, otherOwnerEmail } = world;

let start = Date.UTC(2049, 0, 1);

beforeEach(async () => {
  start += 400 * hour; // each test uses its own days
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(start);
  await env.DB.batch(["owner_notices", "mail_outbox", "captured_mail"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
});
afterEach(() => {
  vi.useRealTimers();
});

const loadPlatform = () => getPlatform(env);
const advanceTime = async (ms: number): Promise<void> => {
  await waitUntilSettled();
  vi.setSystemTime(Date.now() + ms);
  await relayMail(await loadPlatform());
};
/** Counts all emails that are waiting or sent. Does not read the mailbox, because that would send the waiting emails. */
const countEmails = (): Promise<number | null> =>
  env.DB.prepare("SELECT (SELECT COUNT(*) FROM mail_outbox) + (SELECT COUNT(*) FROM captured_mail) AS n").first<number>("n");
/** Returns the subjects of the emails to an address, oldest first. */
const listSubjectsTo = async (email: string): Promise<readonly string[]> => {
  await waitUntilSettled();
  return (await listMailTo(email)).map(({ subject }) => subject).toReversed();
};
const withdraw = async (): Promise<void> => {
  const { certId, manageToken } = await issueToNewPerson();
  const { status } = await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: manageToken }));
  expect(status).toBe(200);
};
/** Writes a notice as operations do, without the work that follows a response. */
const writeNotice = async (notice: OwnerNotice, businessId: string = acme.id): Promise<void> => {
  const db = openDatabase(env.DB);
  await batch(db, await prepareOwnerNotice(await loadPlatform(), db, businessId as never, notice));
};
const withdrawalNotice: OwnerNotice = { template: "withdrawal_owner_notice", data: { certIds: ["cc_1"], ceaseBy: start } };

describe("notices to owners", () => {
  test("of 30 shares that one person stops within an hour arrive as one immediate email and one digest of 29", async () => {
    const person = await signInPerson();
    const shares: { readonly id: string }[] = [];
    for (let n = 0; n < 30; n += 1) shares.push((await grantShare(person)).share);
    for (const { id } of shares.slice(0, 1)) await person.post(`/v1/shares/${id}/revoke`, {});
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone stopped sharing with you"]);
    for (const { id } of shares.slice(1)) {
      vi.setSystemTime(Date.now() + minute);
      expect((await person.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    }
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone stopped sharing with you"]);
    await advanceTime(31 * minute);
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone stopped sharing with you", "29 more shares were stopped"]);
    await advanceTime(24 * hour);
    expect((await listSubjectsTo(ownerEmail)).length).toBe(2);
  }, 60_000);

  test("of recipients withdrawn one by one on the same certificate arrive as one email and one digest", async () => {
    const entities = Array.from({ length: 12 }, (_, n) => `Recipient ${n} LLC`);
    const receipt = await issueCertificate({ entities, fields: { email: "pat@example.com" } });
    const token = String(receipt.manage_url).split("#m=")[1] as string;
    for (const entity of entities.slice(0, 11)) {
      const { status } = await call(`/v1/certs/${receipt.cert_id}/opt-out/manage`, buildJsonPost({ token, entities: [entity] }));
      expect(status).toBe(200);
    }
    await advanceTime(hour);
    expect(await listSubjectsTo(ownerEmail)).toEqual([
      "Someone withdrew consent for some recipients",
      "10 more withdrawals for some recipients",
    ]);
  });

  test("are counted by kind and by business", async () => {
    for (let n = 0; n < 3; n += 1) await withdraw();
    await writeNotice(withdrawalNotice, other.id);
    const person = await signInPerson();
    const { share } = await grantShare(person);
    await person.post(`/v1/shares/${share.id}/revoke`, {});
    expect((await listSubjectsTo(ownerEmail)).toSorted()).toEqual(["Someone stopped sharing with you", "Someone withdrew consent"]);
    expect(await listSubjectsTo(otherOwnerEmail)).toEqual(["Someone withdrew consent"]);
    await advanceTime(hour);
    expect((await listSubjectsTo(ownerEmail)).at(-1)).toBe("2 more consent withdrawals");
    expect((await listSubjectsTo(otherOwnerEmail)).length).toBe(1);
  });

  test("are reported in a digest if the operator has shortened the time between emails while they waited", async () => {
    for (let n = 0; n < 3; n += 1) await writeNotice(withdrawalNotice);
    await advanceTime(0);
    const services = await loadPlatform();
    const limits = { ...services.config.limits, OWNER_NOTICES: { ...services.config.limits.OWNER_NOTICES, seconds: 60 } };
    vi.setSystemTime(Date.now() + hour);
    await relayMail({ ...services, config: { ...services.config, limits } });
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone withdrew consent", "2 more consent withdrawals"]);
  });

  test("are emailed immediately again after an hour without one", async () => {
    await withdraw();
    await listSubjectsTo(ownerEmail);
    vi.setSystemTime(Date.now() + hour + 1);
    await withdraw();
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone withdrew consent", "Someone withdrew consent"]);
  });

  test("describe a single waiting notice instead of sending a digest of one", async () => {
    await withdraw();
    await listSubjectsTo(ownerEmail);
    const { certId, manageToken } = await issueToNewPerson();
    await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: manageToken }));
    expect((await listSubjectsTo(ownerEmail)).length).toBe(1);
    await advanceTime(hour);
    const [newest] = await listMailTo(ownerEmail);
    expect(newest?.subject).toBe("Someone withdrew consent");
    expect(newest?.text).toContain(certId);
  });

  test("arrive in at most 24 emails a day, and every one of them is counted once", async () => {
    for (let at = 0; at < 24 * hour; at += 10 * minute) {
      await writeNotice(withdrawalNotice);
      await advanceTime(10 * minute);
    }
    await advanceTime(hour);
    const mails = (await listMailTo(ownerEmail)).toReversed();
    expect(mails.length).toBeLessThanOrEqual(25); // at most 24 a day, and one that belongs to the next day
    expect(mails.length).toBeGreaterThan(20);
    const counts = mails.map(({ subject }) => Number(/^(\d+) more/.exec(subject)?.[1] ?? 1));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(24 * 6);
  }, 60_000);

  test("name the time of the previous email and the earliest deadline in a digest", async () => {
    const getDeadline = (day: number) => Date.UTC(2049, 11, day, 23, 59, 59, 999);
    for (const day of [20, 22, 21])
      await writeNotice({ template: "share_owner_notice", data: { shareIds: ["shr_1", "shr_2"], ceaseBy: getDeadline(day) } });
    await advanceTime(0);
    await advanceTime(hour);
    const [digest, first] = await listMailTo(ownerEmail);
    expect(first?.subject).toBe("Someone stopped sharing with you");
    expect(digest?.subject).toBe("4 more shares were stopped");
    expect(digest?.text).toContain("By the end of 20 December 2049 (UTC)");
  });

  test("are sent by the next run of the cron job if the process dies after the change, and once if two jobs run at the same time", async () => {
    await writeNotice(withdrawalNotice);
    expect(await countEmails()).toBe(0);
    const platform = await loadPlatform();
    await runScheduledJobs(platform, everyMinute, Date.now());
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone withdrew consent"]);
    for (let n = 0; n < 5; n += 1) await writeNotice(withdrawalNotice);
    vi.setSystemTime(Date.now() + hour);
    await Promise.all([relayMail(platform), relayMail(platform), relayMail(platform)]);
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone withdrew consent", "5 more consent withdrawals"]);
  });

  test("are kept and sent later if the email cannot be written", async () => {
    await writeNotice(withdrawalNotice);
    await env.DB.exec("CREATE TRIGGER no_mail BEFORE INSERT ON mail_outbox BEGIN SELECT RAISE(ABORT, 'away'); END");
    try {
      await advanceTime(minute);
    } finally {
      await env.DB.exec("DROP TRIGGER no_mail");
    }
    expect(await countEmails()).toBe(0);
    await advanceTime(minute);
    expect(await listSubjectsTo(ownerEmail)).toEqual(["Someone withdrew consent"]);
  });

  test("wait while the shard of their business's account does not respond, and do not delay notices to other businesses", async () => {
    const far = worldInSecondShard.acme.id;
    await copyRow("businesses", acme.id, 1, { id: `'${far}'`, audit_chain: "lower(hex(randomblob(16)))" });
    await writeNotice(withdrawalNotice, far);
    await writeNotice(withdrawalNotice, other.id);
    const platform = await loadPlatform();
    const get: Shards["get"] = (shard) => {
      if (shard === "01") throw new Error("away");
      return platform.shards.get(shard);
    };
    const errors: string[] = [];
    const log = { ...platform.log, error: ({ at }: { readonly at: string }) => errors.push(at) };
    const silent = { ...platform, shards: { ...platform.shards, get, all: () => [["00", platform.shards.get("00" as ShardId)]] }, log };
    await relayMail(silent as unknown as Platform);
    expect(errors).toEqual(["owner addresses"]);
    const listWaiting = async () =>
      (await env.DB.prepare("SELECT business_id AS id FROM owner_notices WHERE due_at IS NOT NULL").all<{ id: string }>()).results;
    expect([await listWaiting(), await countEmails()]).toEqual([[{ id: far }], 1]);
    await relayMail(platform);
    expect([await listWaiting(), await countEmails()]).toEqual([[], 2]);
  });

  test("wait while they or their owners' addresses cannot be decrypted, and do not delay the notices read with them", async () => {
    const unreadable = 25; // more than the job reads at once
    const businessIds = Array.from({ length: unreadable }, (_, n) => `biz_00${String(n).padStart(24, "0")}`);
    for (const id of [other.id, ...businessIds]) {
      if (id !== other.id) await copyRow("businesses", acme.id, 1, { id: `'${id}'`, audit_chain: "lower(hex(randomblob(16)))" });
      await env.DB.prepare(
        "INSERT INTO members (id, business_id, role, email_sealed, email_index, created_at) VALUES (?, ?, 'owner', '1.x', ?, 0)",
      )
        .bind(id.replace("biz_", "mem_"), id, id)
        .run();
      if (id !== other.id) await writeNotice(withdrawalNotice, id);
    }
    await writeNotice(withdrawalNotice);
    await env.DB.prepare("UPDATE owner_notices SET last_sealed = '1.x', due_at = due_at - 1 WHERE business_id = ?").bind(acme.id).run();
    await env.DB.prepare("UPDATE owner_notices SET due_at = due_at - 1 WHERE business_id <> ?").bind(acme.id).run();
    await writeNotice(withdrawalNotice, other.id);
    await advanceTime(minute);
    expect(await listSubjectsTo(otherOwnerEmail)).toEqual(["Someone withdrew consent"]);
    expect(await listSubjectsTo(ownerEmail)).toEqual([]);
    const waiting = env.DB.prepare("SELECT COUNT(*) FROM owner_notices WHERE due_at IS NOT NULL");
    expect(await waiting.first("COUNT(*)")).toBe(unreadable + 1);
  });

  test("are stored without readable details, and without any details once they are reported", async () => {
    const entities = ["Bright Homes Inc"];
    await writeNotice({ template: "entities_owner_notice", data: { certId: "cc_1", entities, ceaseBy: start } });
    expect(JSON.stringify((await readDatabaseContents()).owner_notices)).not.toContain("Bright Homes");
    await advanceTime(0);
    const row = await env.DB.prepare("SELECT notices, records, first_sealed, last_sealed, due_at FROM owner_notices").first();
    expect(row).toEqual({ notices: 0, records: 0, first_sealed: null, last_sealed: null, due_at: null });
  });
});
