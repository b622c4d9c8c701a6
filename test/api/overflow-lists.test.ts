// Tests the list of certificates of a business whose certificates are in two shards. Some certificates in the earlier shard were issued
// later than some in the other shard. This happens if a journal stores certificates late, or if clocks differ.
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { countDatabaseCalls, type CallCount } from "../support/counted-database.ts";
import { closeFirstShard, issueThrough, listIds } from "../support/overflow.ts";
import { createEmailAddress, insertWithdrawal } from "../support/withdrawal.ts";
import { createServiceCall, world, type Call } from "../support/world.ts";

const key = { authorization: `Bearer ${world.acme.keys.live}` };
const start = Date.UTC(2026, 10, 2);
const email = createEmailAddress();

interface Issued {
  readonly certId: string;
  readonly minute: number;
  readonly purpose: string;
  readonly hasEmail: boolean;
}

let issued: Issued[] = [];
let service: Call;
const calls: Record<"00" | "01", CallCount> = { "00": { calls: 0 }, "01": { calls: 0 } };

const issueAt = async (through: Call, minute: number): Promise<Issued> => {
  vi.setSystemTime(start + minute * minuteMs);
  const purpose = minute % 3 === 0 ? "Roof quote" : "Solar quote";
  const hasEmail = minute % 2 === 0;
  const { cert_id: certId } = await issueThrough(through, {
    fields: { email: hasEmail ? email : createEmailAddress() },
    purpose,
  });
  return { certId, minute, purpose, hasEmail };
};

/** The minutes in which certificates are issued. Two of them are the same in both shards. */
const minutesOf = { "00": [0, 1, 2, 3, 4, 5, 8, 9, 11], "01": [6, 7, 8, 10, 11, 12, 13, 14, 15] };

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  const earlier = createServiceCall();
  for (const minute of minutesOf["00"]) issued.push(await issueAt(earlier, minute));
  await closeFirstShard();
  service = createServiceCall({ DB: countDatabaseCalls(env.DB, calls["00"]), DB_01: countDatabaseCalls(env.DB_01, calls["01"]) });
  for (const minute of minutesOf["01"]) issued.push(await issueAt(service, minute));
  issued = issued.toSorted((a, b) => b.minute - a.minute);
});
afterAll(() => {
  vi.useRealTimers();
});

const readPage = async (search: string): Promise<{ readonly ids: readonly string[]; readonly total: number }> => {
  vi.setSystemTime(Date.now() + 1_000); // moves the clock forward, because the API key has a limit per minute
  const { status, body, text } = await service(`/v1/certs?${search}`, { headers: key });
  if (status !== 200) throw new Error(text);
  return { ids: listIds(body.data), total: body.data.total };
};

const readAllPages = async (search: string, perPage: number, total: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let page = 1; page <= Math.ceil(total / perPage) + 1; page += 1) {
    const found = await readPage(`${search}&per_page=${perPage}&page=${page}`);
    expect(found.total).toBe(total);
    ids.push(...found.ids);
  }
  return ids;
};

const findMinute = (certId: string): number | undefined => issued.find((each) => each.certId === certId)?.minute;

describe("the list of a business with certificates in two shards", () => {
  test.each([
    ["", (_: Issued) => true],
    ["q=solar", ({ purpose }: Issued) => purpose === "Solar quote"],
    [`subject_email=${encodeURIComponent(email)}`, ({ hasEmail }: Issued) => hasEmail],
    [`from=${new Date(start + 7 * minuteMs).toISOString()}`, ({ minute }: Issued) => minute >= 7],
  ])("has each certificate on exactly one page, newest first: '%s'", async (search, isMatch) => {
    const wanted = issued.filter(isMatch);
    const allIds = (await readPage(`${search}&per_page=100`)).ids;
    expect(allIds.toSorted()).toEqual(wanted.map(({ certId }) => certId).toSorted());
    expect(allIds.map(findMinute)).toEqual(wanted.map(({ minute }) => minute));
    for (const perPage of [1, 2, 3, 5]) expect(await readAllPages(search, perPage, wanted.length)).toEqual(allIds);
  });

  test("has each active certificate on exactly one page after other certificates were withdrawn", async () => {
    const withdrawn = issued.filter(({ minute }) => minute % 4 === 0).map(({ certId }) => certId);
    for (const certId of withdrawn) await insertWithdrawal(certId.startsWith("cc_00") ? env.DB : env.DB_01, certId).run();
    const active = issued.filter(({ certId }) => !withdrawn.includes(certId));
    const allIds = (await readPage("status=active&per_page=100")).ids;
    expect(allIds.map(findMinute)).toEqual(active.map(({ minute }) => minute));
    for (const perPage of [2, 3]) expect(await readAllPages("status=active", perPage, active.length)).toEqual(allIds);
  });

  test.each([
    ["per_page=3", { "00": 2, "01": 1 }],
    ["per_page=3&page=5", { "00": 3, "01": 1 }],
    ["per_page=2&q=solar", { "00": 2, "01": 1 }],
    [`subject_email=${encodeURIComponent(email)}`, { "00": 2, "01": 1 }],
  ])("queries each shard once for %s, and again only the shard whose certificates are on the page", async (search, wanted) => {
    for (const count of Object.values(calls)) count.calls = 0;
    await readPage(search);
    expect({ "00": calls["00"].calls, "01": calls["01"].calls }).toEqual(wanted); // one call to shard 00 authenticates the API key
  });
});

describe("a contact check", () => {
  test("queries each shard once", async () => {
    for (const count of Object.values(calls)) count.calls = 0;
    const headers = { ...key, "content-type": "application/json" };
    const { body } = await service("/v1/contact-check", { method: "POST", headers, body: JSON.stringify({ subjects: [{ email }] }) });
    const shards = body.data.results[0].basis.map(({ id }: { id: string }) => id.slice(3, 5));
    expect(new Set(shards)).toEqual(new Set(["00", "01"]));
    expect([calls["00"].calls, calls["01"].calls]).toEqual([2, 1]);
  });
});
