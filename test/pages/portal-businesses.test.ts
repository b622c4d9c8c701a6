// Tests a person who belongs to several businesses under one email address: selecting a business after entering the code, switching in the
// header, invitations, and access.
import { toStoredIndex } from "../../core/access/address-index.ts";
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
import { findByTagName, extractText, withAttribute, type ReadPage } from "./page.ts";

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
/** Keeps the session cookie that a response sets, as a browser does. */
const toMember = (response: TestResponse): Member => ({ cookie: getCookie(response) });
const getSignedInBusiness = async ({ cookie }: Member): Promise<string | number> => {
  const { status, body } = await call("/v1/auth/session", { headers: { cookie } });
  await waitUntilSettled();
  return status === 200 ? body.data.user.business_id : status;
};
const enter = async (member: Member, membershipId: string, from = page, action = page): Promise<TestResponse> => {
  const form = { ...parseFormFields(await openPage(member, from), action), seat: membershipId };
  return postForm(member, action, form);
};
const declineInvitation = async (member: Member, membershipId: string): Promise<TestResponse> =>
  postForm(member, declining, { ...parseFormFields(await openPage(member, page), declining), seat: membershipId });
/** Signs in through the sign-in pages, without the API, and returns the response to the submitted code. */
const giveCodeOnPages = async (address: string, next = "/portal"): Promise<TestResponse> => {
  await clearCodes();
  const response = await postForm({ cookie: "" }, "/portal/sign-in", { email: address, next });
  const cookie = getCookie(response);
  return postForm({ cookie }, "/portal/sign-in/code", { code: await findEmailCode(address), next });
};
const readSessionCookie = (response: TestResponse): Member => ({
  cookie: /svc_session=[^;]+/.exec(response.headers.getSetCookie().join("\n"))?.[0] ?? "",
});
const signInByApi = async (address: string): Promise<TestResponse> => {
  await clearCodes();
  await requestEmailCode(address, "business");
  return submitEmailCode(address, await findEmailCode(address), "business");
};
/** Creates a member of both businesses who is signed in to the second. */
const createJoinedMember = async (role = "member"): Promise<Member> => toMember(await enter(first, await invite(second, email, role)));
const readTableRows = async (response: TestResponse, label: string): Promise<readonly (readonly string[])[]> => {
  const table = findByTagName(parsePage(response).document, "table").find((one) => one.attribs["aria-label"] === label);
  return table === undefined
    ? []
    : findByTagName([table], "tr")
        .slice(1)
        .map((row) => [...findByTagName([row], "th"), ...findByTagName([row], "td")].map(extractText));
};
const listBusinessNames = async (member: Member, label = "Choose a business"): Promise<readonly (string | undefined)[]> =>
  (await readTableRows(await openPage(member, page), label)).map(([name]) => name);
/** Returns the memberships that the menu in the header offers. */
const switchTargets = ({ document }: ReadPage): string[] => {
  const menu = findByTagName(document, "details").filter(({ attribs }) => attribs.class === "dropdown");
  return withAttribute(menu, "name", "seat").map(({ attribs }) => attribs.value as string);
};
const findSession = ({ cookie }: Member) =>
  env.DB.prepare("SELECT user_id, created_at, verified_at, expires_at FROM sessions WHERE token_hash = ?")
    .bind(sha256Hex(cookie.split("=")[1] as string))
    .first<{ user_id: string; created_at: number; verified_at: number; expires_at: number }>();
const countSessions = async (...seats: readonly string[]): Promise<number> =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM sessions WHERE user_id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify(seats))
    .first<number>("n")) as number;

describe("an invitation of an address that belongs to a business", () => {
  test("appears in the header, adds a member when accepted, and is recorded in the inviter's audit chain", async () => {
    const membershipId = await invite(second, email, "owner");
    const homePage = await openPage(first, "/portal");
    expect(getPageText(homePage)).toContain("Invitations: 1");
    expect(await readTableRows(await openPage(first, page), "Invitations")).toEqual([
      [expect.stringContaining(`Second ${round}`), "Owner", expect.any(String), "JoinDecline"],
    ]);
    const before = [(await listAuditEntryTypes(first.id)).length, (await listAuditEntryTypes(second.id)).length];
    const response = await enter(first, membershipId);
    expect(describeRedirect(response)).toBe("303 /portal?done=joined");
    const now = toMember(response);
    expect([await getSignedInBusiness(first), await getSignedInBusiness(now)]).toEqual([401, second.id]);
    expect(getPageText(await openPage(now, "/portal?done=joined"))).toContain("You’ve joined this business.");
    expect(await readTableRows(await openPage(now, page), "Invitations")).toEqual([]);
    expect(await listBusinessNames(now)).toEqual([`Second ${round}`, `First ${round}`]);
    expect((await listAuditEntryTypes(second.id)).slice(before[1])).toEqual(["member.joined"]);
    expect(await listAuditEntryTypes(first.id)).toHaveLength(before[0] as number);
    expect((await callPortal(now, "GET", "/members")).body.data.members).toContainEqual(
      expect.objectContaining({ id: membershipId, role: "owner" }),
    );
  });

  test("cannot be accepted by another address or by signing in, and stays open", async () => {
    const membershipId = await invite(second);
    expect(describeRedirect(await giveCodeOnPages(email))).toBe("303 /portal");
    expect((await signInByApi(email)).body.data).toMatchObject({ created: false, user: { id: first.userId, business_id: first.id } });
    for (const other of [await signUpBusiness(`stranger@several-${round}.example`), second]) {
      const before = await readDatabaseContents();
      expect((await postForm(other, page, { seat: membershipId, form: await getFormToken(other, page) })).status).toBe(404);
      expect(await readDatabaseContents()).toEqual(before);
    }
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM invitations WHERE id = ?").bind(membershipId).first("n")).toBe(1);
  });

  test("disappears when declined, which the inviter's audit chain records, and can be sent again", async () => {
    const membershipId = await invite(second);
    const before = [(await listAuditEntryTypes(first.id)).length, (await listAuditEntryTypes(second.id)).length];
    const response = await declineInvitation(first, membershipId);
    expect(describeRedirect(response)).toBe("303 /portal/businesses?done=declined");
    const after = await openPage(first, `${page}?done=declined`);
    expect(getPageText(after)).toContain("Invitation declined.");
    expect([await readTableRows(after, "Invitations"), await listBusinessNames(first)]).toEqual([[], [`First ${round}`]]);
    expect(getPageText(await openPage(first, "/portal"))).not.toContain("Invitations");
    expect((await listAuditEntryTypes(second.id)).slice(before[1])).toEqual(["member.declined"]);
    expect(await listAuditEntryTypes(first.id)).toHaveLength(before[0] as number);
    expect((await callPortal(second, "GET", "/members")).body.data.members.map(({ id }: { id: string }) => id)).toEqual([second.userId]);
    expect((await postForm(first, page, { seat: membershipId, form: await getFormToken(first, page) })).status).toBe(404);
    expect(await getSignedInBusiness(first)).toBe(first.id);
    const secondInvitation = await invite(second);
    expect([await getSignedInBusiness(toMember(await enter(first, secondInvitation))), secondInvitation === membershipId]).toEqual([
      second.id,
      false,
    ]);
  });

  test("cannot be declined by another address or by a form from another site", async () => {
    const membershipId = await invite(second);
    const spelt = await invite(await signUpBusiness(`third@several-${round}.example`), email.replace("pat@", "Pat@"));
    const stranger = await signUpBusiness(`stranger@decline-${round}.example`);
    const form = { ...parseFormFields(await openPage(first, page), declining), seat: membershipId };
    const before = await readDatabaseContents();
    const statuses = [
      await postForm(stranger, declining, { seat: membershipId, form: await getFormToken(stranger, declining) }),
      await postForm(second, declining, { seat: membershipId, form: await getFormToken(second, declining) }),
      await postForm(stranger, declining, form),
      await postForm(first, declining, { seat: membershipId }),
      await postForm(first, declining, form, { "sec-fetch-site": "cross-site" }),
      await postForm(first, declining, { ...form, form: await getFormToken(first, page) }),
      await postForm(first, declining, { ...form, seat: spelt }),
      await postForm(first, declining, { ...form, seat: first.userId }),
      await postForm(first, declining, { ...form, seat: "mem_nonsense" }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 403, 403, 403, 403, 404, 404, 404]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("is declined once when declined twice at the same time", async () => {
    const membershipId = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), declining), seat: membershipId };
    const before = (await listAuditEntryTypes(second.id)).length;
    const responses = await Promise.all([1, 2, 3].map(() => postForm(first, declining, form)));
    expect(responses.map(({ status }) => status).sort()).toEqual([303, 404, 404]);
    expect((await listAuditEntryTypes(second.id)).slice(before)).toEqual(["member.declined"]);
  });

  test("is neither shown nor accepted for another spelling, which can be another mailbox", async () => {
    const membershipId = await invite(second, email.replace("pat@", "Pat@"));
    expect(getPageText(await openPage(first, "/portal"))).not.toContain("Invitations");
    expect((await postForm(first, page, { seat: membershipId, form: await getFormToken(first, page) })).status).toBe(404);
    expect(await getSignedInBusiness(first)).toBe(first.id);
  });

  test.each([
    [
      "was canceled",
      async (membershipId: string) => expect((await callPortal(second, "DELETE", `/members/${membershipId}`)).status).toBe(200),
    ],
    [
      "has expired",
      async (membershipId: string) => {
        await env.DB.prepare("UPDATE invitations SET expires_at = 1 WHERE id = ?").bind(membershipId).run();
      },
    ],
  ])("opens nothing and ends no session if it %s after its page was opened", async (_, end) => {
    const membershipId = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), page), seat: membershipId };
    await end(membershipId);
    expect((await postForm(first, page, form)).status).toBe(404);
    expect(await getSignedInBusiness(first)).toBe(first.id);
  });

  test("adds one member, one entry and one session when accepted twice at the same time", async () => {
    const membershipId = await invite(second);
    const form = { ...parseFormFields(await openPage(first, page), page), seat: membershipId };
    const before = (await listAuditEntryTypes(second.id)).length;
    const responses = await Promise.all([1, 2, 3].map(() => postForm(first, page, form)));
    expect(responses.filter((response) => describeRedirect(response) === "303 /portal?done=joined")).toHaveLength(1);
    expect((await listAuditEntryTypes(second.id)).slice(before)).toEqual(["member.joined"]);
    expect(await countSessions(first.userId, membershipId)).toBe(1);
  });

  test("is not shown to an address with twenty memberships", async () => {
    const { results } = await env.DB.prepare("SELECT * FROM members WHERE id = ?").bind(first.userId).all<Record<string, string>>();
    const vault = await openVaultFromVars(env);
    const memberships = Array.from({ length: 25 }, (_, at) => ({ business: `biz_00many${round}n${at}`, id: `mem_00many${round}n${at}` }));
    for (const { business, id } of memberships)
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
    expect(await listBusinessNames(first, "Invitations")).toHaveLength(20);
  });
});

describe("an address that belongs to two businesses", () => {
  test("selects one after the code and continues to the requested page", async () => {
    await createJoinedMember();
    const response = await giveCodeOnPages(email, "/portal/team");
    expect(describeRedirect(response)).toBe("303 /portal/businesses?next=%2Fportal%2Fteam");
    const member = readSessionCookie(response);
    expect(await getSignedInBusiness(member)).toBe(second.id); // sign-in selects the business that was used last
    const chooser = await openPage(member, "/portal/businesses?next=%2Fportal%2Fteam");
    const rows = await readTableRows(chooser, "Choose a business");
    expect(rows.map(([name, role, state, , action]) => [name, role, state, action])).toEqual([
      [`Second ${round}`, "Member", "Active", "Stay here"],
      [`First ${round}`, "Owner", "Active", "Open"],
    ]);
    expect(chooser.text).toContain('<a class="btn sm" href="/portal/team">Stay here</a>');
    const form = findByTagName(chooser.document, "form").find((one) => extractText(findByTagName([one], "button")) === "Open");
    const fields = Object.fromEntries(
      findByTagName([form as never], "input").map(({ attribs }) => [attribs.name as string, attribs.value ?? ""]),
    );
    const opened = await postForm(member, page, fields);
    expect(describeRedirect(opened)).toBe("303 /portal/team");
    expect([await getSignedInBusiness(member), await getSignedInBusiness(toMember(opened))]).toEqual([401, first.id]);
    const team = getPageText(await openPage(toMember(opened), "/portal/team"));
    expect(team).toContain(`First ${round}`);
    expect(team).toContain(`${email} Owner`);
  });

  test.each(["https://elsewhere.example/", "//elsewhere.example", "/portal/sign-out", "/app"])(
    "is not redirected outside of the portal by %s",
    async (next) => {
      const member = await createJoinedMember();
      const chooser = await openPage(member, `${page}?next=${encodeURIComponent(next)}`);
      expect(chooser.text).toContain('<a class="btn sm" href="/portal">Stay here</a>');
      const entered = await postForm(member, page, { seat: first.userId, next, form: await getFormToken(member, page) });
      expect(describeRedirect(entered)).toBe("303 /portal");
    },
  );

  test("switches in the header of any page, in the same environment", async () => {
    const member = await createJoinedMember();
    const back = await enter(member, first.userId, "/portal/audit");
    expect([describeRedirect(back), await getSignedInBusiness(member), await getSignedInBusiness(toMember(back))]).toEqual([
      "303 /portal",
      401,
      first.id,
    ]);
    const seats = switchTargets(await openPage(toMember(back), "/portal/test/keys"));
    expect(seats).toHaveLength(1);
    const repeated = await enter(toMember(back), seats[0] as string, "/portal/test/keys", `/portal/test/businesses`);
    expect([describeRedirect(repeated), await getSignedInBusiness(toMember(repeated))]).toEqual(["303 /portal/test", second.id]);
  });

  test("gets a session that expires no later than the sign-in it comes from", async () => {
    const before = await findSession(first);
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start + 3 * hour });
    const moved = await findSession(await createJoinedMember());
    expect(moved).toMatchObject({ verified_at: before?.verified_at, expires_at: before?.expires_at });
    expect(moved?.created_at).toBeGreaterThanOrEqual(start + 3 * hour);
    expect((before?.expires_at ?? 0) - (before?.verified_at ?? 0)).toBe(12 * hour);
  });

  test("gets one session when switching twice at the same time", async () => {
    const member = await createJoinedMember();
    const [ownUserId] = (await findSession(member)) === null ? [] : [(await findSession(member))?.user_id as string];
    const form = { seat: first.userId, form: await getFormToken(member, page) };
    const responses = await Promise.all([1, 2, 3, 4].map(() => postForm(member, page, form)));
    expect(responses.filter((response) => response.headers.getSetCookie().some((one) => one.startsWith("svc_session=ses_")))).toHaveLength(
      1,
    );
    expect(await countSessions(first.userId, ownUserId as string)).toBe(1);
  });

  test("signs in through the API to the business used last", async () => {
    const member = await createJoinedMember();
    expect((await signInByApi(email)).body.data).toMatchObject({ created: false, user: { business_id: second.id, role: "member" } });
    await enter(member, first.userId);
    const response = await signInByApi(email);
    expect(response.body.data).toEqual({
      user: { id: first.userId, email, realm: "business", role: "owner", business_id: first.id },
      created: false,
    });
  });

  test("gets one code, and an unverified caller cannot tell it from an address with one business or none", async () => {
    await createJoinedMember();
    const responses: unknown[] = [];
    for (const address of [email, `owner@second-${round}.example`, `nobody@several-${round}.example`]) {
      await clearCodes();
      const response = await requestEmailCode(address, "business");
      const wrong = await submitEmailCode(address, "000000", "business");
      const rows = await countRows(["email_codes", "mail_outbox"]);
      responses.push([response.status, response.body.data, wrong.status, wrong.body.error.code, rows]);
      if (address === email) expect(await listMailTo(email)).toHaveLength(1);
    }
    expect(responses[1]).toEqual(responses[0]);
    expect(responses[2]).toEqual(responses[0]);
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

  test("immediately loses only the business it is removed from, and cannot return to it", async () => {
    const inSecond = await createJoinedMember();
    const membershipId = (await findSession(inSecond))?.user_id as string;
    const inFirst = readSessionCookie(await giveCodeOnPages(email));
    const form = { seat: membershipId, form: await getFormToken(toMember(await enter(inFirst, first.userId)), page) };
    const member = readSessionCookie(await giveCodeOnPages(email));
    expect((await callPortal(second, "DELETE", `/members/${membershipId}`)).status).toBe(200);
    expect(await getSignedInBusiness(inSecond)).toBe(401);
    expect(await getSignedInBusiness(member)).toBe(first.id);
    expect(await listBusinessNames(member)).toEqual([`First ${round}`]);
    expect(getPageText(await openPage(member, "/portal"))).not.toContain("All businesses");
    expect((await postForm(member, page, { ...form, form: await getFormToken(member, page) })).status).toBe(404);
    expect(describeRedirect(await giveCodeOnPages(email))).toBe("303 /portal"); // the address now belongs to only one business
  });

  test("sees the notice of a suspended business and the link to the other", async () => {
    const member = await createJoinedMember();
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(second.id).run();
    const shut = await openPage(member, "/portal/team");
    expect([shut.status, getPageText(shut)]).toEqual([402, expect.stringContaining("This account is suspended")]);
    const back = await enter(member, first.userId, "/portal/team");
    expect([describeRedirect(back), await getSignedInBusiness(toMember(back))]).toEqual(["303 /portal", first.id]);
    const entered = await enter(
      toMember(back),
      (await env.DB.prepare("SELECT id FROM members WHERE business_id = ? AND id <> ?")
        .bind(second.id, second.userId)
        .first<string>("id")) as string,
    );
    expect((await openPage(toMember(entered), "/portal")).status).toBe(402);
    const rows = await readTableRows(await openPage(toMember(entered), page), "Choose a business");
    expect(rows.map(([name, , state]) => [name, state])).toEqual([
      [`Second ${round}`, "Suspended"],
      [`First ${round}`, "Active"],
    ]);
  });
});

test("refuses a form from another site, of another session or without its token, and ends no session", async () => {
  const member = await createJoinedMember();
  const form = parseFormFields(await openPage(member, page), page);
  const before = await readDatabaseContents();
  const statuses = [
    await postForm(member, page, { seat: first.userId }),
    await postForm(member, page, { ...form, seat: first.userId }, { "sec-fetch-site": "cross-site" }),
    await postForm(member, page, { seat: first.userId, form: await getFormToken(second, page) }),
    await postForm(member, page, { ...form, seat: second.userId }),
    await postForm(member, page, { ...form, seat: "mem_nonsense" }),
    await postForm(member, page, { form: form.form as string }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 403, 404, 404, 404]);
  expect(await readDatabaseContents()).toEqual(before);
});

test("shows a page with one business and no switch to an address that has only one", async () => {
  const chooser = await openPage(first, page);
  expect([chooser.status, await listBusinessNames(first)]).toEqual([200, [`First ${round}`]]);
  expect(findByTagName(chooser.document, "select")).toEqual([]);
  expect(getPageText(chooser)).not.toContain("All businesses");
});

test("does not accept a code sent to one spelling for a membership of another, whichever was used last", async () => {
  const spelt = email.replace("pat@", "Pat@");
  const [membershipId, vault] = [`mem_00${"z".repeat(24 - `${round}`.length)}${round}`, await openVaultFromVars(env)];
  await env.DB.prepare("INSERT INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'owner', 0)")
    .bind(
      membershipId,
      second.id,
      await vault.seal(memberEmailContext(membershipId, second.id as never), spelt),
      toStoredIndex(await vault.blindIndex("email", email)),
    )
    .run();
  await clearCodes();
  await requestEmailCode(email, "business");
  const code = await findEmailCode(email);
  await env.DB.prepare("UPDATE members SET last_used_at = ? WHERE id = ?")
    .bind(Date.now() + hour, membershipId)
    .run();
  const refused = await submitEmailCode(email, code, "business");
  expect([refused.status, refused.body.error.code, await countSessions(membershipId)]).toEqual([400, "login_failed", 0]);
  await env.DB.prepare("UPDATE members SET last_used_at = 1 WHERE id = ?").bind(membershipId).run();
  expect((await submitEmailCode(email, code, "business")).body.data.user).toMatchObject({ id: first.userId, email });
});

describe("a membership in another shard", () => {
  const foreignMembershipId = `mem_01${"y".repeat(24)}`;
  beforeEach(async () => {
    const vault = await openVaultFromVars(env);
    const business = worldInSecondShard.acme.id;
    await env.DB_01.prepare("DELETE FROM sessions").run();
    await env.DB_01.prepare(
      "INSERT OR REPLACE INTO members (id, business_id, email_sealed, email_index, role, created_at) VALUES (?, ?, ?, ?, 'owner', 0)",
    )
      .bind(
        foreignMembershipId,
        business,
        await vault.seal(memberEmailContext(foreignMembershipId, business), email),
        toStoredIndex(await vault.blindIndex("email", email)),
      )
      .run();
  });

  test("is selected and left like the others, and replaces the session", async () => {
    expect(await listBusinessNames(first)).toHaveLength(2);
    const entered = await enter(first, foreignMembershipId);
    expect(getCookie(entered)).toMatch(/^svc_session=ses_01/);
    expect([await getSignedInBusiness(first), await getSignedInBusiness(toMember(entered))]).toEqual([401, worldInSecondShard.acme.id]);
    const back = await enter(toMember(entered), first.userId);
    expect([await getSignedInBusiness(toMember(entered)), await getSignedInBusiness(toMember(back))]).toEqual([401, first.id]);
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM sessions").first("n")).toBe(0);
  });

  test("is used for sign-in when it was used last, with the code stored where the address was found first", async () => {
    await enter(first, foreignMembershipId);
    const response = await signInByApi(email);
    expect(response.body.data).toEqual({
      user: { id: foreignMembershipId, email, realm: "business", role: "owner", business_id: worldInSecondShard.acme.id },
      created: false,
    });
    expect(getCookie(response)).toMatch(/^svc_session=ses_01/);
    expect(await countSessions(first.userId)).toBe(0);
  });

  test("with another spelling, which can be another mailbox, is not used for sign-in even if it was used last", async () => {
    const enteredMember = toMember(await enter(first, foreignMembershipId));
    const spelling = email.replace("pat@", "Pat@");
    const sealed = await (await openVaultFromVars(env)).seal(memberEmailContext(foreignMembershipId, worldInSecondShard.acme.id), spelling);
    await env.DB_01.prepare("UPDATE members SET email_sealed = ? WHERE id = ?").bind(sealed, foreignMembershipId).run();
    const before = await readDatabaseContents(env.DB_01);
    const response = await signInByApi(email);
    expect(response.body.data).toMatchObject({ created: false, user: { id: first.userId, email, business_id: first.id } });
    expect(await readDatabaseContents(env.DB_01)).toEqual(before);
    expect(await getSignedInBusiness(enteredMember)).toBe(worldInSecondShard.acme.id);
    expect(await listBusinessNames(toMember(response))).toEqual([`First ${round}`]);
  });

  test("appears in the header from the next sign-in on, and immediately in the list of businesses", async () => {
    expect(switchTargets(await openPage(first, "/portal"))).toEqual([]);
    expect(await listBusinessNames(first)).toHaveLength(2);
    const member = toMember(await signInByApi(email));
    expect(await getSignedInBusiness(member)).toBe(first.id);
    expect(switchTargets(await openPage(member, "/portal"))).toEqual([foreignMembershipId]);
    const enteredMember = toMember(await enter(member, foreignMembershipId, "/portal"));
    expect(switchTargets(await openPage(enteredMember, "/portal"))).toEqual([first.userId]);
  });

  test("appears in the header from the next page on for an invitation sent while signed in", async () => {
    const owner = toMember(await enter(first, foreignMembershipId)); // signs in as an owner of a business in that shard
    const invited = await signUpBusiness(`kim@several-${round}.example`);
    expect(getPageText(await openPage(invited, "/portal"))).not.toContain("Invitations");
    const membershipId = await invite(owner, `kim@several-${round}.example`);
    await waitUntilSettled();
    expect(getPageText(await openPage(invited, "/portal"))).toContain("Invitations: 1");
    expect(getPageText(await openPage(second, "/portal"))).not.toContain("Invitations");
    const enteredMember = toMember(await enter(invited, membershipId));
    const back = toMember(await enter(enteredMember, invited.userId, "/portal"));
    expect(switchTargets(await openPage(back, "/portal"))).toEqual([membershipId]);
  });

  test("is hidden while its shard is unavailable, and the pages of the others work", async () => {
    const failQuery = (): never => {
      throw new Error("D1_ERROR: Network connection lost.");
    };
    const broken = { prepare: failQuery, batch: failQuery, withSession: () => broken };
    const service = createServiceCall({ DB_01: broken });
    const response = await service(page, { headers: { cookie: first.cookie } });
    expect([response.status, (await readTableRows(response, "Choose a business")).map(([name]) => name)]).toEqual([
      200,
      [`First ${round}`],
    ]);
    expect(await listBusinessNames(first)).toHaveLength(2);
  });
});

test("does not change signing in for the demo's owner, who has one membership", async () => {
  const response = await signInByApi(world.ownerEmail);
  expect(response.body.data).toEqual({
    user: { id: expect.any(String), email: world.ownerEmail, realm: "business", role: "owner", business_id: world.acme.id },
    created: false,
  });
});
