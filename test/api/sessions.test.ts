// Tests a person's list of sessions, and ending one session from another session.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { buildApp } from "../../workers/app.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { requestEmailCode, findEmailCode, getCookie, clearCodes, submitEmailCode, signInByEmail } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, readDatabaseContents, countRows, world, type TestResponse } from "../support/world.ts";

const { consumerEmail, ownerEmail } = world;
const noon = Date.parse("2030-05-06T12:00:00.000Z");
const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1";
const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0";

const setTime = (instant: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: instant });
};
beforeEach(async () => {
  setTime(noon);
  await clearCodes();
  await env.DB.prepare("DELETE FROM sessions").run();
});
afterEach(() => {
  vi.useRealTimers();
});

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
/** Signs in with the given browser, and then moves the clock one minute forward. */
const signInWith = async (userAgent: string, email = consumerEmail): Promise<string> => {
  await clearCodes();
  await requestEmailCode(email, "consumer");
  const response = await submitEmailCode(email, await findEmailCode(email), "consumer", { "user-agent": userAgent });
  setTime(Date.now() + minuteMs);
  return getCookie(response);
};
const list = async (cookie: string) =>
  (await call("/v1/me/sessions", { headers: { cookie } })).body.data.sessions as {
    id: string;
    device: { os: string | null; browser: string | null } | null;
    created_at: string;
    expires_at: string;
    last_seen: string | null;
    current: boolean;
  }[];
const readCurrentId = async (cookie: string): Promise<string> => (await list(cookie)).find(({ current }) => current)?.id as string;
const endSession = (cookie: string, id: string): Promise<TestResponse> =>
  call(`/v1/me/sessions/${id}`, { method: "DELETE", headers: { cookie } });
const endOtherSessions = (cookie: string): Promise<TestResponse> => call("/v1/me/sessions", { method: "DELETE", headers: { cookie } });
const isSignedIn = async (cookie: string): Promise<boolean> => (await call("/v1/auth/session", { headers: { cookie } })).status === 200;
const listAuditEntries = async (cookie: string): Promise<{ type: string; entity_type: string; entity_id: string; payload: object }[]> =>
  (await call("/v1/me/audit", { headers: { cookie } })).body.data.entries;

describe("GET /v1/me/sessions", () => {
  test("lists sessions newest first, with device families, times and the current one", async () => {
    const phone = await signInWith(iphone);
    const desk = await signInWith(firefox);
    expect(await list(phone)).toEqual([
      {
        id: expect.stringMatching(/^ssn_00[0-9a-hjkmnp-tv-z]{24}$/),
        device: { os: "Windows", browser: "Firefox" },
        created_at: "2030-05-06T12:01:00.000Z",
        expires_at: "2030-06-05T12:01:00.000Z",
        last_seen: "2030-05-06",
        current: false,
      },
      {
        id: expect.stringMatching(/^ssn_00/),
        device: { os: "iOS", browser: "Safari" },
        created_at: "2030-05-06T12:00:00.000Z",
        expires_at: "2030-06-05T12:00:00.000Z",
        last_seen: "2030-05-06",
        current: true,
      },
    ]);
    expect(await readCurrentId(desk)).not.toBe(await readCurrentId(phone));
  });

  test("stores only the families of the device, encrypted", async () => {
    const cookie = await signInWith("Zqmarker/1.0 (Windows NT 10.0) Firefox/150.0");
    expect((await list(cookie))[0]?.device).toEqual({ os: "Windows", browser: "Firefox" });
    const stored = JSON.stringify(await readDatabaseContents());
    expect(stored).not.toContain("Zqmarker");
    expect(stored).not.toContain("Firefox");
  });

  test("leaves out sessions that have expired", async () => {
    await signInWith(iphone);
    setTime(noon + 30 * dayMs);
    const laterCookie = await signInWith(firefox);
    expect(await list(laterCookie)).toHaveLength(1);
  });

  test("contains the last day of use, written once a day after the response", async () => {
    const cookie = await signInWith(iphone);
    setTime(noon + 3 * dayMs);
    expect(await isSignedIn(cookie)).toBe(true);
    await waitUntilSettled();
    expect((await list(cookie))[0]).toMatchObject({ last_seen: "2030-05-09", created_at: "2030-05-06T12:00:00.000Z" });

    setTime(noon + 4 * dayMs);
    const notes: (() => Promise<void>)[] = [];
    const platform = await createPlatform(env);
    const app = buildApp(createServicesWith(platform, { waitUntil: (work) => notes.push(work) }));
    const requestSession = async (): Promise<number> => {
      const context = createExecutionContext();
      const response = await app.fetch(new Request("http://svc.test/v1/auth/session", { headers: { cookie } }), env, context);
      await waitOnExecutionContext(context);
      return response.status;
    };
    expect([await requestSession(), notes.length]).toEqual([200, 1]);
    await notes[0]?.();
    expect([await requestSession(), await requestSession(), notes.length]).toEqual([200, 200, 1]);
  });

  test("includes sessions without an id, which still work and can be ended", async () => {
    const token = `ses_00${"B".repeat(43)}`;
    const person = await env.DB.prepare("SELECT id FROM consumers LIMIT 1").first<string>("id");
    await env.DB.prepare("INSERT INTO sessions (token_hash, realm, user_id, created_at, expires_at) VALUES (?, 'consumer', ?, ?, ?)")
      .bind(sha256Hex(token), person, noon - dayMs, noon + dayMs)
      .run();
    const cookie = `svc_session=${token}`;
    const [old] = await list(cookie);
    expect(old).toMatchObject({ id: expect.stringMatching(/^ssn_00[0-9a-f]{24}$/), device: null, current: true });
    expect(describeOutcome(await endSession(await signInWith(iphone), old?.id as string))).toBe("200 ok");
    expect(await isSignedIn(cookie)).toBe(false);
  });
});

describe("P18: DELETE /v1/me/sessions", () => {
  test("ends a session whose device cannot be decrypted", async () => {
    const [phone, desk] = [await signInWith(iphone), await signInWith(firefox)];
    const id = await readCurrentId(desk);
    await env.DB.prepare("UPDATE sessions SET device_sealed = 'damaged' WHERE id = ?").bind(id).run();
    expect((await list(phone)).map(({ device }) => device)).toEqual([null, { os: "iOS", browser: "Safari" }]);
    expect(describeOutcome(await endSession(phone, id))).toBe("200 ok");
    expect(await isSignedIn(desk)).toBe(false);
  });

  test("ends another session immediately, with an audit entry", async () => {
    const lostPhone = await signInWith(iphone);
    const ownCookie = await signInWith(firefox);
    const id = await readCurrentId(lostPhone);
    const response = await endSession(ownCookie, id);
    expect([response.status, response.body.data]).toEqual([200, { ended: true, id }]);
    expect(response.headers.has("set-cookie")).toBe(false);
    expect([await isSignedIn(lostPhone), await isSignedIn(ownCookie)]).toEqual([false, true]);
    const [entry] = await listAuditEntries(ownCookie);
    expect(entry).toMatchObject({ type: "session.ended", entity_type: "session", entity_id: id });
    expect(entry?.payload).toEqual({ actor: expect.stringMatching(/^consumer:con_00/) });
    expect(describeOutcome(await endSession(ownCookie, id))).toBe("404 not_found");
    expect((await listAuditEntries(ownCookie)).filter(({ entity_id }) => entity_id === id)).toHaveLength(1);
  });

  test("signs the browser out when it ends its own session", async () => {
    const cookie = await signInWith(iphone);
    const response = await endSession(cookie, await readCurrentId(cookie));
    expect(response.status).toBe(200);
    expect(response.headers.get("set-cookie")).toMatch(/^svc_session=;/);
    expect(response.headers.get("clear-site-data")).toBe('"storage"');
    expect(await isSignedIn(cookie)).toBe(false);
  });

  test("ends all other sessions of the person and keeps the current one", async () => {
    const [first, second] = [await signInWith(iphone), await signInWith(firefox)];
    const stranger = await signInWith(iphone, "stranger@example.com");
    const ownCookie = await signInWith(firefox);
    const response = await endOtherSessions(ownCookie);
    expect([response.status, response.body.data]).toEqual([200, { sessions_ended: 2 }]);
    expect(await Promise.all([first, second, stranger, ownCookie].map(isSignedIn))).toEqual([false, false, true, true]);
    expect((await listAuditEntries(ownCookie))[0]).toMatchObject({
      type: "session.ended",
      entity_type: "consumer",
      payload: { kept: await readCurrentId(ownCookie) },
    });
    const entries = await countRows(["audit_entries"]);
    expect((await endOtherSessions(ownCookie)).body.data).toEqual({ sessions_ended: 0 });
    expect(await countRows(["audit_entries"])).toEqual(entries);
  });

  test("returns the same 404 for another person's, an unknown and a malformed id, and ends nothing", async () => {
    const stranger = await signInWith(iphone, "stranger@example.com");
    const ownCookie = await signInWith(firefox);
    const before = await countRows(["sessions", "audit_entries"]);
    const responses = await Promise.all(
      [await readCurrentId(stranger), `ssn_00${"0".repeat(24)}`, "nothing", `ssn_zz${"0".repeat(24)}`].map((id) =>
        endSession(ownCookie, id),
      ),
    );
    expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["404 not_found"]));
    expect(await countRows(["sessions", "audit_entries"])).toEqual(before);
    expect(await isSignedIn(stranger)).toBe(true);
  });

  test("returns 403 forbidden to members of a business", async () => {
    const { cookie } = await signInByEmail(ownerEmail);
    for (const method of ["GET", "DELETE"])
      expect(describeOutcome(await call("/v1/me/sessions", { method, headers: { cookie } }))).toBe("403 forbidden");
    expect(await isSignedIn(cookie)).toBe(true);
  });
});
