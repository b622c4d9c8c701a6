// One address that acts for several businesses: chosen after the code, switched in the header, joined by invitation; and what of it is
// reached by whom.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { memberEmailContext } from "../../storage/people-contexts.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { requestEmailCode, findEmailCode, getCookie, clearCodes, submitEmailCode, listMailTo } from "../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import { openPage, parsePage, postForm, getPageText, parseFormFields, describeRedirect, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  call,
  readDatabaseContents,
  countRows,
  createServiceCall,
  world,
  worldInSecondShard,
  type TestResponse,
} from "../support/world.ts";
import { named, textOf } from "./page.ts";

const page = "/portal/businesses";
const declining = `${page}/decline`;
const hour = 3_600_000;
type Owner = Awaited<ReturnType<typeof signUpBusiness>>;

let round = 0;
let email: string;
let first: Owner;
let second: Owner;
beforeEach(async () => {
  round += 1;
  email = `pat@several-${round}.example`;
  second = await signUpBusiness(`owner@second-${round}.example`, { business_name: `Second ${round}` });
  first = await signUpBusiness(email, { business_name: `First ${round}` });
  await waitUntilSettled();
});
afterEach(() => {
  vi.useRealTimers();
});

const invite = async (owner: Member, address = email, role = "member"): Promise<string> =>
  (await callPortal(owner, "POST", "/members", { email: address, role })).body.data.id;
/** As the browser keeps it: what an answer sets takes the place of what it had. */
const keeping = (answer: TestResponse): Member => ({ cookie: getCookie(answer) });
const whoIs = async ({ cookie }: Member): Promise<string | number> => {
  const { status, body } = await call("/v1/auth/session", { headers: { cookie } });
  await waitUntilSettled();
  return status === 200 ? body.data.user.business_id : status;
};
const enter = async (who: Member, seat: string, from = page, action = page): Promise<TestResponse> => {
  const form = { ...parseFormFields(await openPage(who, from), action), seat };
  return postForm(who, action, form);
};
const decline = async (who: Member, seat: string): Promise<TestResponse> =>
  postForm(who, declining, { ...parseFormFields(await openPage(who, page), declining), seat });
/** Signs in on the pages; answers what the code was answered with. */
const giveCodeOnPages = async (address: string, next = "/portal"): Promise<TestResponse> => {
  await clearCodes();
  const asked = await postForm({ cookie: "" }, "/portal/sign-in", { email: address, next });
  const cookie = getCookie(asked);
  return postForm({ cookie }, "/portal/sign-in/code", { code: await findEmailCode(address), next });
};
const sessionCookie = (answer: TestResponse): Member => ({
  cookie: /svc_session=[^;]+/.exec(answer.headers.getSetCookie().join("\n"))?.[0] ?? "",
});
const signInByApi = async (address: string): Promise<TestResponse> => {
  await clearCodes();
  await requestEmailCode(address, "business");
  return submitEmailCode(address, await findEmailCode(address), "business");
};
/** Of two businesses now, and signed in to the second. */
const joined = async (role = "member"): Promise<Member> => keeping(await enter(first, await invite(second, email, role)));
const rowsOf = async (answer: TestResponse, label: string): Promise<readonly (readonly string[])[]> => {
  const table = named(parsePage(answer).document, "table").find((one) => textOf(named([one], "caption")) === label);
  return table === undefined
    ? []
    : named([table], "tr")
        .slice(1)
        .map((row) => [...named([row], "th"), ...named([row], "td")].map(textOf));
};
const namesOf = async (who: Member, label = "Choose a business"): Promise<readonly (string | undefined)[]> =>
  (await rowsOf(await openPage(who, page), label)).map(([name]) => name);
const sessionOf = ({ cookie }: Member) =>
  env.DB.prepare("SELECT user_id, created_at, verified_at, expires_at FROM sessions WHERE token_hash = ?")
    .bind(sha256Hex(cookie.split("=")[1] as string))
    .first<{ user_id: string; created_at: number; verified_at: number; expires_at: number }>();
const sessionsOf = async (...seats: readonly string[]): Promise<number> =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM sessions WHERE user_id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify(seats))
    .first<number>("n")) as number;

describe("an invitation of somebody who acts for a business already", () => {
  test("stands in the header, makes a member when it is accepted, and that is entered in the chain of who invited", async () => {
    const seat = await invite(second, email, "owner");
    const home = await openPage(first, "/portal");
    expect(getPageText(home)).toContain("Invitations: 1");
    expect(await rowsOf(await openPage(first, page), "Invitations")).toEqual([
      [expect.stringContaining(`Second ${round}`), "owner", expect.any(String), "JoinDecline"],
    ]);
    const before = [(await listAuditEntryTypes(first.id)).length, (await listAuditEntryTypes(second.id)).length];
    const answer = await enter(first, seat);
    expect(describeRedirect(answer)).toBe("303 /portal?done=joined");
    const now = keeping(answer);
    expect([await whoIs(first), await whoIs(now)]).toEqual([401, second.id]);
    expect(getPageText(await openPage(now, "/portal?done=joined"))).toContain("You have joined.");
    expect(await rowsOf(await openPage(now, page), "Invitations")).toEqual([]);
    expect(await namesOf(now)).toEqual([`Second ${round}`, `First ${round}`]);
    expect((await listAuditEntryTypes(second.id)).slice(before[1])).toEqual(["member.joined"]);
    expect(await listAuditEntryTypes(first.id)).toHaveLength(before[0] as number);
    expect((await callPortal(now, "GET", "/members")).body.data.members).toContainEqual(
      expect.objectContaining({ id: seat, role: "owner" }),
    );
  });

  test("is accepted by nobody else, nor by signing in, and waits", async () => {
    const seat = await invite(second);
    expect(describeRedirect(await giveCodeOnPages(email))).toBe("303 /portal");
    expect((await signInByApi(email)).body.data).toMatchObject({ created: false, user: { id: first.userId, business_id: first.id } });
    for (const other of [await signUpBusiness(`stranger@several-${round}.example`), second]) {
      const before = await readDatabaseContents();
      expect((await postForm(other, page, { seat, form: await getFormToken(other, page) })).status).toBe(404);
      expect(await readDatabaseContents()).toEqual(before);
    }
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM invitations WHERE id = ?").bind(seat).first("n")).toBe(1);
  });

  test("is gone when it is declined, which is entered in the chain of who invited, and can be sent again", async () => {
    const seat = await invite(second);
    const before = [(await listAuditEntryTypes(first.id)).length, (await listAuditEntryTypes(second.id)).length];
    const answer = await decline(first, seat);
    expect(describeRedirect(answer)).toBe("303 /portal/businesses?done=declined");
    const after = await openPage(first, `${page}?done=declined`);
    expect(getPageText(after)).toContain("Declined. The invitation is gone.");
    expect([await rowsOf(after, "Invitations"), await namesOf(first)]).toEqual([[], [`First ${round}`]]);
    expect(getPageText(await openPage(first, "/portal"))).not.toContain("Invitations");
    expect((await listAuditEntryTypes(second.id)).slice(before[1])).toEqual(["member.declined"]);
    expect(await listAuditEntryTypes(first.id)).toHaveLength(before[0] as number);
    expect((await callPortal(second, "GET", "/members")).body.data.members.map(({ id }: { id: string }) => id)).toEqual([second.userId]);
    expect((await postForm(first, page, { seat, form: await getFormToken(first, page) })).status).toBe(404);
    expect(await whoIs(first)).toBe(first.id);
    const again = await invite(second);
    expect([await whoIs(keeping(await enter(first, again))), again === seat]).toEqual([second.id, false]);
  });

  test("is declined by nobody else, nor by a form from elsewhere", async () => {
    const seat = await invite(second);
    const spelt = await invite(await signUpBusiness(`third@several-${round}.example`), email.replace("pat@", "Pat@"));
    const stranger = await signUpBusiness(`stranger@decline-${round}.example`);
    const form = { ...parseFormFields(await openPage(first, page), declining), seat };
    const before = await readDatabaseContents();
    const statuses = [
      await postForm(stranger, declining, { seat, form: await getFormToken(stranger, declining) }),
      await postForm(second, declining, { seat, form: await getFormToken(second, declining) }),
      await postForm(stranger, declining, form),
      await postForm(first, declining, { seat }),
      await postForm(first, declining, form, { "sec-fetch-site": "cross-site" }),
      await postForm(first, declining, { ...form, form: await getFormToken(first, page) }),
      await postForm(first, declining, { ...form, seat: spelt }),
      await postForm(first, declining, { ...form, seat: first.userId }),
      await postForm(first, declining, { ...form, seat: "mem_nonsense" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 403, 403, 403, 403, 404, 404, 404]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("declined twice at once is declined once", async () => {
    const seat = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), declining), seat };
    const before = (await listAuditEntryTypes(second.id)).length;
    const answers = await Promise.all([1, 2, 3].map(() => postForm(first, declining, form)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404]);
    expect((await listAuditEntryTypes(second.id)).slice(before)).toEqual(["member.declined"]);
  });

  test("to another spelling, which can be another mailbox, is neither shown nor accepted", async () => {
    const seat = await invite(second, email.replace("pat@", "Pat@"));
    expect(getPageText(await openPage(first, "/portal"))).not.toContain("Invitations");
    expect((await postForm(first, page, { seat, form: await getFormToken(first, page) })).status).toBe(404);
    expect(await whoIs(first)).toBe(first.id);
  });

  test.each([
    ["was taken back", async (seat: string) => expect((await callPortal(second, "DELETE", `/members/${seat}`)).status).toBe(200)],
    [
      "has expired",
      async (seat: string) => {
        await env.DB.prepare("UPDATE invitations SET expires_at = 1 WHERE id = ?").bind(seat).run();
      },
    ],
  ])("that %s after its page was opened opens nothing, and ends no session", async (_, end) => {
    const seat = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), page), seat };
    await end(seat);
    expect((await postForm(first, page, form)).status).toBe(404);
    expect(await whoIs(first)).toBe(first.id);
  });

  test("accepted twice at once makes one member, one entry and one session", async () => {
    const seat = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), page), seat };
    const before = (await listAuditEntryTypes(second.id)).length;
    const answers = await Promise.all([1, 2, 3].map(() => postForm(first, page, form)));
    expect(answers.filter((answer) => describeRedirect(answer) === "303 /portal?done=joined")).toHaveLength(1);
    expect((await listAuditEntryTypes(second.id)).slice(before)).toEqual(["member.joined"]);
    expect(await sessionsOf(first.userId, seat)).toBe(1);
  });

  test("of an address with twenty of them shows no more", async () => {
    const { results } = await env.DB.prepare("SELECT * FROM members WHERE id = ?").bind(first.userId).all<Record<string, string>>();
    const vault = await openVaultFromVars(env);
    const made = Array.from({ length: 25 }, (_, at) => ({ business: `biz_00many${round}n${at}`, id: `mem_00many${round}n${at}` }));
    for (const { business, id } of made)
      await env.DB.batch([
        env.DB.prepare(
          "INSERT INTO businesses (id, name, status, plan, audit_chain, created_at) VALUES (?, 'Many', 'active', 'free', ?, 1)",
        ).bind(business, business),
        env.DB.prepare(
          "INSERT INTO invitations (id, business_id, email_index, email_sealed, role, created_at, expires_at) VALUES (?, ?, ?, ?, 'member', 1, ?)",
        ).bind(
          id,
          business,
          results[0]?.email_index,
          await vault.seal(memberEmailContext(id, business as never), email),
          Date.now() + hour,
        ),
      ]);
    expect(await namesOf(first, "Invitations")).toHaveLength(20);
  });
});

describe("whoever acts for two businesses", () => {
  test("chooses after the code, and goes on to the page that was asked for", async () => {
    await joined();
    const answer = await giveCodeOnPages(email, "/portal/team");
    expect(describeRedirect(answer)).toBe("303 /portal/businesses?next=%2Fportal%2Fteam");
    const who = sessionCookie(answer);
    expect(await whoIs(who)).toBe(second.id); // used last
    const chooser = await openPage(who, "/portal/businesses?next=%2Fportal%2Fteam");
    const rows = await rowsOf(chooser, "Choose a business");
    expect(rows.map(([name, role, state, , action]) => [name, role, state, action])).toEqual([
      [`Second ${round}`, "member", "Active", "Stay here"],
      [`First ${round}`, "owner", "Active", "Open"],
    ]);
    expect(chooser.text).toContain('<a href="/portal/team">Stay here</a>');
    const form = named(chooser.document, "form").find((one) => textOf(named([one], "button")) === "Open");
    const fields = Object.fromEntries(named([form as never], "input").map(({ attribs }) => [attribs.name as string, attribs.value ?? ""]));
    const opened = await postForm(who, page, fields);
    expect(describeRedirect(opened)).toBe("303 /portal/team");
    expect([await whoIs(who), await whoIs(keeping(opened))]).toEqual([401, first.id]);
    const team = getPageText(await openPage(keeping(opened), "/portal/team"));
    expect(team).toContain(`First ${round}`);
    expect(team).toContain("(owner)");
  });

  test.each(["https://elsewhere.example/", "//elsewhere.example", "/portal/sign-out", "/app"])(
    "is led nowhere else by %s",
    async (next) => {
      const who = await joined();
      const chooser = await openPage(who, `${page}?next=${encodeURIComponent(next)}`);
      expect(chooser.text).toContain('<a href="/portal">Stay here</a>');
      const entered = await postForm(who, page, { seat: first.userId, next, form: await getFormToken(who, page) });
      expect(describeRedirect(entered)).toBe("303 /portal");
    },
  );

  test("switches in the header of any page, in the mode it is in", async () => {
    const who = await joined();
    const back = await enter(who, first.userId, "/portal/audit");
    expect([describeRedirect(back), await whoIs(who), await whoIs(keeping(back))]).toEqual(["303 /portal", 401, first.id]);
    const seats = named((await openPage(keeping(back), "/portal/test/keys")).document, "option").map(
      ({ attribs }) => attribs.value as string,
    );
    expect(seats).toHaveLength(1);
    const again = await enter(keeping(back), seats[0] as string, "/portal/test/keys", `/portal/test/businesses`);
    expect([describeRedirect(again), await whoIs(keeping(again))]).toEqual(["303 /portal/test", second.id]);
  });

  test("gets a session that lasts no longer than the proof it comes from", async () => {
    const before = await sessionOf(first);
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start + 3 * hour });
    const moved = await sessionOf(await joined());
    expect(moved).toMatchObject({ verified_at: before?.verified_at, expires_at: before?.expires_at });
    expect(moved?.created_at).toBeGreaterThanOrEqual(start + 3 * hour);
    expect((before?.expires_at ?? 0) - (before?.verified_at ?? 0)).toBe(12 * hour);
  });

  test("who presses twice at once has one session", async () => {
    const who = await joined();
    const [mine] = (await sessionOf(who)) === null ? [] : [(await sessionOf(who))?.user_id as string];
    const form = { seat: first.userId, form: await getFormToken(who, page) };
    const answers = await Promise.all([1, 2, 3, 4].map(() => postForm(who, page, form)));
    expect(answers.filter((answer) => answer.headers.getSetCookie().some((one) => one.startsWith("svc_session=ses_")))).toHaveLength(1);
    expect(await sessionsOf(first.userId, mine as string)).toBe(1);
  });

  test("signs in by the API where they were last", async () => {
    const who = await joined();
    expect((await signInByApi(email)).body.data).toMatchObject({ created: false, user: { business_id: second.id, role: "member" } });
    await enter(who, first.userId);
    const answer = await signInByApi(email);
    expect(answer.body.data).toEqual({
      user: { id: first.userId, email, realm: "business", role: "owner", business_id: first.id },
      created: false,
    });
  });

  test("is mailed one code, and an unproven caller is told no more than of an address with one business, or none", async () => {
    await joined();
    const answers: unknown[] = [];
    for (const address of [email, `owner@second-${round}.example`, `nobody@several-${round}.example`]) {
      await clearCodes();
      const asked = await requestEmailCode(address, "business");
      const wrong = await submitEmailCode(address, "000000", "business");
      const rows = await countRows(["email_codes", "mail_outbox"]);
      answers.push([asked.status, asked.body.data, wrong.status, wrong.body.error.code, rows]);
      if (address === email) expect(await listMailTo(email)).toHaveLength(1);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    for (const method of ["GET", "POST"]) {
      const stranger = await call(page, {
        method,
        headers: { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
        redirect: "manual",
        ...(method === "POST" && { body: `seat=${first.userId}` }),
      });
      expect([method, stranger.status, stranger.headers.get("location")?.split("?")[0]]).toEqual([method, 303, "/portal/sign-in"]);
    }
  });

  test("who is removed from one is out of it at once and of no other, and does not find it again", async () => {
    const inSecond = await joined();
    const seat = (await sessionOf(inSecond))?.user_id as string;
    const inFirst = sessionCookie(await giveCodeOnPages(email));
    const form = { seat, form: await getFormToken(keeping(await enter(inFirst, first.userId)), page) };
    const home = sessionCookie(await giveCodeOnPages(email));
    expect((await callPortal(second, "DELETE", `/members/${seat}`)).status).toBe(200);
    expect(await whoIs(inSecond)).toBe(401);
    expect(await whoIs(home)).toBe(first.id);
    expect(await namesOf(home)).toEqual([`First ${round}`]);
    expect(getPageText(await openPage(home, "/portal"))).not.toContain("All businesses");
    expect((await postForm(home, page, { ...form, form: await getFormToken(home, page) })).status).toBe(404);
    expect(describeRedirect(await giveCodeOnPages(email))).toBe("303 /portal"); // nothing to choose
  });

  test("of which one is suspended finds what is shown of that, and the way to the other", async () => {
    const who = await joined();
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(second.id).run();
    const shut = await openPage(who, "/portal/team");
    expect([shut.status, getPageText(shut)]).toEqual([402, expect.stringContaining("This account is suspended")]);
    const back = await enter(who, first.userId, "/portal/team");
    expect([describeRedirect(back), await whoIs(keeping(back))]).toEqual(["303 /portal", first.id]);
    const there = await enter(
      keeping(back),
      (await env.DB.prepare("SELECT id FROM members WHERE business_id = ? AND id <> ?")
        .bind(second.id, second.userId)
        .first<string>("id")) as string,
    );
    expect((await openPage(keeping(there), "/portal")).status).toBe(402);
    const rows = await rowsOf(await openPage(keeping(there), page), "Choose a business");
    expect(rows.map(([name, , state]) => [name, state])).toEqual([
      [`Second ${round}`, "Suspended"],
      [`First ${round}`, "Active"],
    ]);
  });
});

test("a form from elsewhere, of another session or without its token goes nowhere and ends nothing", async () => {
  const who = await joined();
  const form = parseFormFields(await openPage(who, page), page);
  const before = await readDatabaseContents();
  const statuses = [
    await postForm(who, page, { seat: first.userId }),
    await postForm(who, page, { ...form, seat: first.userId }, { "sec-fetch-site": "cross-site" }),
    await postForm(who, page, { seat: first.userId, form: await getFormToken(second, page) }),
    await postForm(who, page, { ...form, seat: second.userId }),
    await postForm(who, page, { ...form, seat: "mem_nonsense" }),
    await postForm(who, page, { form: form.form as string }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 403, 404, 404, 404]);
  expect(await readDatabaseContents()).toEqual(before);
});

test("the page of somebody with one business names it, and its header has no switch", async () => {
  const chooser = await openPage(first, page);
  expect([chooser.status, await namesOf(first)]).toEqual([200, [`First ${round}`]]);
  expect(named(chooser.document, "select")).toEqual([]);
  expect(getPageText(chooser)).not.toContain("All businesses");
});

test("a code that was mailed to one spelling opens no seat of another, whichever was used last when it is given", async () => {
  const spelt = email.replace("pat@", "Pat@");
  const [seat, vault] = [`mem_00${"z".repeat(24 - `${round}`.length)}${round}`, await openVaultFromVars(env)];
  await env.DB.prepare("INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'owner', 0)")
    .bind(seat, second.id, await vault.seal(memberEmailContext(seat, second.id as never), spelt), await vault.blindIndex("email", email))
    .run();
  await clearCodes();
  await requestEmailCode(email, "business");
  const code = await findEmailCode(email);
  await env.DB.prepare("UPDATE members SET last_used_at = ? WHERE id = ?")
    .bind(Date.now() + hour, seat)
    .run();
  const refused = await submitEmailCode(email, code, "business");
  expect([refused.status, refused.body.error.code, await sessionsOf(seat)]).toEqual([400, "login_failed", 0]);
  await env.DB.prepare("UPDATE members SET last_used_at = 1 WHERE id = ?").bind(seat).run();
  expect((await submitEmailCode(email, code, "business")).body.data.user).toMatchObject({ id: first.userId, email });
});

describe("a seat in another home", () => {
  const elsewhere = `mem_01${"y".repeat(24)}`;
  beforeEach(async () => {
    const vault = await openVaultFromVars(env);
    const business = worldInSecondShard.acme.id;
    await env.DB_01.prepare("DELETE FROM sessions").run();
    await env.DB_01.prepare(
      "INSERT OR REPLACE INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'owner', 0)",
    )
      .bind(elsewhere, business, await vault.seal(memberEmailContext(elsewhere, business), email), await vault.blindIndex("email", email))
      .run();
  });

  test("is chosen and left like the others: one session becomes one", async () => {
    expect(await namesOf(first)).toHaveLength(2);
    const there = await enter(first, elsewhere);
    expect(getCookie(there)).toMatch(/^svc_session=ses_01/);
    expect([await whoIs(first), await whoIs(keeping(there))]).toEqual([401, worldInSecondShard.acme.id]);
    const back = await enter(keeping(there), first.userId);
    expect([await whoIs(keeping(there)), await whoIs(keeping(back))]).toEqual([401, first.id]);
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM sessions").first("n")).toBe(0);
  });

  test("is where a sign-in leads when it was used last, with a code that is kept where the address was found first", async () => {
    await enter(first, elsewhere);
    const answer = await signInByApi(email);
    expect(answer.body.data).toEqual({
      user: { id: elsewhere, email, realm: "business", role: "owner", business_id: worldInSecondShard.acme.id },
      created: false,
    });
    expect(getCookie(answer)).toMatch(/^svc_session=ses_01/);
    expect(await sessionsOf(first.userId)).toBe(0);
  });

  test("of another spelling, which can be another mailbox, is not where a sign-in leads, though it was used last", async () => {
    const there = keeping(await enter(first, elsewhere));
    const spelling = email.replace("pat@", "Pat@");
    const sealed = await (await openVaultFromVars(env)).seal(memberEmailContext(elsewhere, worldInSecondShard.acme.id), spelling);
    await env.DB_01.prepare("UPDATE members SET email_sealed = ? WHERE id = ?").bind(sealed, elsewhere).run();
    const before = await readDatabaseContents(env.DB_01);
    const answer = await signInByApi(email);
    expect(answer.body.data).toMatchObject({ created: false, user: { id: first.userId, email, business_id: first.id } });
    expect(await readDatabaseContents(env.DB_01)).toEqual(before);
    expect(await whoIs(there)).toBe(worldInSecondShard.acme.id);
    expect(await namesOf(keeping(answer))).toEqual([`First ${round}`]);
  });

  test("stands in the header from the next sign-in on, and on the page of all at once", async () => {
    expect(named((await openPage(first, "/portal")).document, "option")).toEqual([]);
    expect(await namesOf(first)).toHaveLength(2);
    const who = keeping(await signInByApi(email));
    expect(await whoIs(who)).toBe(first.id);
    expect(named((await openPage(who, "/portal")).document, "option").map(({ attribs }) => attribs.value)).toEqual([elsewhere]);
    const there = keeping(await enter(who, elsewhere, "/portal"));
    expect(named((await openPage(there, "/portal")).document, "option").map(({ attribs }) => attribs.value)).toEqual([first.userId]);
  });

  test("to which somebody is invited while they are signed in stands in their header from the next page on", async () => {
    const owner = keeping(await enter(first, elsewhere)); // of a business there
    const invited = await signUpBusiness(`kim@several-${round}.example`);
    expect(getPageText(await openPage(invited, "/portal"))).not.toContain("Invitations");
    const seat = await invite(owner, `kim@several-${round}.example`);
    await waitUntilSettled();
    expect(getPageText(await openPage(invited, "/portal"))).toContain("Invitations: 1");
    expect(getPageText(await openPage(second, "/portal"))).not.toContain("Invitations");
    const there = keeping(await enter(invited, seat));
    const back = keeping(await enter(there, invited.userId, "/portal"));
    expect(named((await openPage(back, "/portal")).document, "option").map(({ attribs }) => attribs.value)).toEqual([seat]);
  });

  test("is hidden while its home does not answer, and the pages of the others go on", async () => {
    const down = (): never => {
      throw new Error("D1_ERROR: Network connection lost.");
    };
    const broken = { prepare: down, batch: down, withSession: () => broken };
    const service = createServiceCall({ DB_01: broken });
    const there = await service(page, { headers: { cookie: first.cookie } });
    expect([there.status, (await rowsOf(there, "Choose a business")).map(([name]) => name)]).toEqual([200, [`First ${round}`]]);
    expect(await namesOf(first)).toHaveLength(2);
  });
});

test("the demo's owner, who has one seat, signs in as before", async () => {
  const answer = await signInByApi(world.ownerEmail);
  expect(answer.body.data).toEqual({
    user: { id: expect.any(String), email: world.ownerEmail, realm: "business", role: "owner", business_id: world.acme.id },
    created: false,
  });
});
