// Tests the page for people who belong to no business and have been invited to one. Signing in alone does not add them to the business;
// they accept or decline with a button.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { clearCodes, findEmailCode, getCookie, requestEmailCode, signInByEmail } from "../support/people.ts";
import { callPortal, describeOutcome, listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { describeRedirect, getPageText, openPage, parseFormFields, postForm, submitForm, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, createServiceCall, readDatabaseContents } from "../support/world.ts";
import { findByTagName, extractText } from "./page.ts";

const page = "/portal/invitations";
const accepting = `${page}/accept`;
const declining = `${page}/decline`;
const hour = 3_600_000;

let round = 0;
let email: string;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
beforeEach(async () => {
  round += 1;
  email = `sam-${round}@invited.example`;
  owner = await signUpBusiness(`owner-${round}@inviting.example`, { business_name: `Inviting ${round}` });
  await waitUntilSettled();
});
afterEach(() => {
  vi.useRealTimers();
});

const invite = async (role = "member", from: Member = owner, address = email): Promise<string> =>
  (await callPortal(from, "POST", "/members", { email: address, role })).body.data.id;
const listTeam = async (): Promise<readonly string[]> =>
  ((await callPortal(owner, "GET", "/members")).body.data.members as { email: string; status: string }[]).map(
    (member) => `${member.email} ${member.status}`,
  );
const buildTeam = (status: string): readonly string[] => [`owner-${round}@inviting.example active`, `${email} ${status}`];
/** Signs in through the portal's pages. Returns the redirect that follows the code, and the new session. */
const signInOnPages = async (next = "/portal"): Promise<{ readonly to: string; readonly member: Member }> => {
  await clearCodes();
  const cookie = getCookie(await postForm({ cookie: "" }, "/portal/sign-in", { email, next }));
  const response = await postForm({ cookie }, "/portal/sign-in/code", { code: await findEmailCode(email), next });
  return { to: describeRedirect(response), member: { cookie: getCookie(response) } };
};
const getSession = async ({ cookie }: Member): Promise<unknown> => {
  const { status, body } = await call("/v1/auth/session", { headers: { cookie } });
  return status === 200 ? [body.data.role, body.data.business_id] : status;
};
const countButtons = async (member: Member): Promise<number> =>
  findByTagName((await openPage(member, page)).document, "form").filter(({ attribs }) => attribs.action === accepting).length;

describe("an invited person without a business", () => {
  test("sees after signing in who invited them, to which business and with which role, and has not joined yet", async () => {
    await invite("owner");
    const { to: redirect, member } = await signInOnPages("/portal/team");
    expect(redirect).toBe(`303 ${page}`);
    const shown = await openPage(member, page);
    expect(findByTagName(shown.document, "h1").map(extractText)).toEqual([`Join Inviting ${round}?`]);
    const text = getPageText(shown);
    for (const part of [`Invited by owner-${round}@inviting.example`, "Your role Owner", "Invitation expires", `Signed in as ${email}`])
      expect(text).toContain(part);
    expect(await listTeam()).toEqual(buildTeam("invited"));
    expect(await getSession(member)).toEqual([null, null]);
    expect(await listAuditEntryTypes(owner.id)).not.toContain("member.joined");
  });

  test("gets the invitation instead of an empty portal on every page, and cannot send the portal's forms", async () => {
    await invite();
    const member = await signInByEmail(email);
    for (const path of ["/portal", "/portal/team", "/portal/test/certificates", "/portal/businesses", "/portal/sign-in", "/portal/nothing"])
      expect(describeRedirect(await openPage(member, path)), path).toBe(`303 ${page}`);
    const before = await readDatabaseContents();
    for (const path of ["/portal/team", "/portal/businesses", "/portal/settings/profile"])
      expect(describeRedirect(await postForm(member, path, { email, name: "Mine" })), path).toBe("303 /portal/sign-in");
    expect(describeOutcome(await callPortal(member, "GET", ""))).toBe("401 unauthorized");
    expect((await call("/v1/me/sessions", { headers: { ...member } })).status).toBe(401);
    await waitUntilSettled();
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("joins with a click, in a new session that expires twelve hours after the sign-in", async () => {
    const id = await invite();
    const { member } = await signInOnPages();
    const response = await submitForm(member, page, accepting);
    expect(describeRedirect(response)).toBe("303 /portal?done=joined");
    const joined = { cookie: getCookie(response) };
    expect([await getSession(joined), await getSession(member)]).toEqual([["member", owner.id], 401]);
    expect(getPageText(await openPage(joined, "/portal?done=joined"))).toContain("You’ve joined this business.");
    expect(await listTeam()).toEqual(buildTeam("active"));
    expect(await listAuditEntryTypes(owner.id)).toEqual(["business.signed_up", "member.invited", "member.joined"]);
    const session = await env.DB.prepare("SELECT user_id, verified_at, expires_at FROM sessions WHERE token_hash = ?")
      .bind(sha256Hex(joined.cookie.split("=")[1] as string))
      .first<{ user_id: string; verified_at: number; expires_at: number }>();
    expect([session?.user_id, (session?.expires_at ?? 0) - (session?.verified_at ?? 0)]).toEqual([id, 12 * hour]);
    expect(describeRedirect(await openPage(joined, page))).toBe("303 /portal/businesses");
  });

  test("declines with a click, which the business's audit log records, and does not join", async () => {
    await invite();
    const { member } = await signInOnPages();
    expect(describeRedirect(await submitForm(member, page, declining))).toBe(`303 ${page}?outcome=declined`);
    const after = getPageText(await openPage(member, `${page}?outcome=declined`));
    expect(after).toContain("Invitation declined.");
    expect(after).toContain("No open invitations");
    expect(await listTeam()).toEqual([`owner-${round}@inviting.example active`]);
    expect(await listAuditEntryTypes(owner.id)).toEqual(["business.signed_up", "member.invited", "member.declined"]);
    await clearCodes();
    await requestEmailCode(email, "business");
    expect(await findEmailCode(email)).toBeUndefined();
  });

  test("answers several invitations one at a time", async () => {
    const other = await signUpBusiness(`other-${round}@inviting.example`, { business_name: `Other ${round}` });
    const [, second] = [await invite(), await invite("owner", other)];
    const { member } = await signInOnPages();
    const shown = await openPage(member, page);
    expect(findByTagName(shown.document, "h1").map(extractText)).toEqual(["Your invitations"]);
    expect(findByTagName(shown.document, "h2").map(extractText).sort()).toEqual([`Join Inviting ${round}?`, `Join Other ${round}?`]);
    const fields = parseFormFields(shown, declining);
    await postForm(member, declining, { ...fields, id: second });
    expect(await countButtons(member)).toBe(1);
    expect(describeRedirect(await submitForm(member, page, accepting))).toBe("303 /portal?done=joined");
    expect(await listAuditEntryTypes(other.id)).toContain("member.declined");
  });

  test("sees that the invitation was canceled or has expired after its page was opened, and stays signed in", async () => {
    for (const end of [
      async (id: string) => expect((await callPortal(owner, "DELETE", `/members/${id}`)).status).toBe(200),
      async (id: string) => env.DB.prepare("UPDATE invitations SET expires_at = 1 WHERE id = ?").bind(id).run(),
    ]) {
      const id = await invite();
      const { member } = await signInOnPages();
      const form = parseFormFields(await openPage(member, page), accepting);
      await end(id);
      expect(describeRedirect(await postForm(member, accepting, form))).toBe(`303 ${page}?outcome=gone`);
      expect(getPageText(await openPage(member, `${page}?outcome=gone`))).toContain("That invitation is no longer available.");
      expect(await listTeam()).toEqual([`owner-${round}@inviting.example active`]);
    }
  });

  test("is not shown an invitation for another spelling of the address, which can be another mailbox", async () => {
    await invite();
    const other = await signUpBusiness(`other-${round}@inviting.example`, { business_name: `Other ${round}` });
    const spelt = await invite("member", other, email.replace("sam", "Sam"));
    const { member } = await signInOnPages();
    expect(await countButtons(member)).toBe(1);
    const form = parseFormFields(await openPage(member, page), accepting);
    expect(describeRedirect(await postForm(member, accepting, { ...form, id: spelt }))).toBe(`303 ${page}?outcome=gone`);
  });

  test("stays signed in for an hour only, and not after signing out", async () => {
    await invite();
    const [first, second] = [await signInByEmail(email), await signInByEmail(email)];
    expect(await countButtons(first)).toBe(1);
    expect(describeRedirect(await postForm(first, "/portal/sign-out"))).toBe("303 /portal/sign-in");
    expect(describeRedirect(await openPage(first, page))).toBe("303 /portal/sign-in");
    vi.setSystemTime(Date.now() + hour);
    expect(describeRedirect(await openPage(second, page))).toBe("303 /portal/sign-in");
  });

  test("can open a business of their own instead", async () => {
    await invite();
    const member = await signInByEmail(email);
    expect((await openPage(member, "/portal/sign-up")).status).toBe(200);
    const ownBusiness = await signUpBusiness(email, { business_name: "My own" });
    expect(await getSession(ownBusiness)).toEqual(["owner", ownBusiness.id]);
    expect(await listTeam()).toEqual(buildTeam("invited"));
  });

  test("is not refused for guessing, however often the page is loaded", async () => {
    await invite();
    const member = await signInByEmail(email);
    const strict = createServiceCall({ LIMIT_UNKNOWN_SESSIONS_PER_IP: "2/60" });
    for (let loads = 0; loads < 4; loads += 1) expect((await strict(page, { headers: { ...member } })).status).toBe(200);
  });
});

describe("the buttons of an invitation", () => {
  test("accept and decline nothing for another address, another site or without the page's token", async () => {
    const id = await invite();
    const { member } = await signInOnPages();
    const form = parseFormFields(await openPage(member, page), accepting);
    const otherEmail = `lee-${round}@invited.example`;
    await invite("member", owner, otherEmail);
    const stranger = await signInByEmail(otherEmail);
    const strangers = parseFormFields(await openPage(stranger, page), accepting);
    await waitUntilSettled();
    const before = await readDatabaseContents();
    const responses = [
      await postForm(stranger, accepting, { ...strangers, id }),
      await postForm(stranger, accepting, form),
      await postForm(owner, accepting, form),
      await postForm(member, accepting, { id }),
      await postForm(member, accepting, form, { "sec-fetch-site": "cross-site" }),
      await postForm(member, declining, form),
      await postForm({ cookie: "" }, accepting, form),
    ].map(describeRedirect);
    expect(responses).toEqual([`303 ${page}?outcome=gone`, "403", "303 /portal/sign-in", "403", "403", "403", "303 /portal/sign-in"]);
    await waitUntilSettled();
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("create one member and one session when clicked several times at the same time", async () => {
    await invite();
    const { member } = await signInOnPages();
    const form = parseFormFields(await openPage(member, page), accepting);
    const responses = await Promise.all([1, 2, 3].map(() => postForm(member, accepting, form)));
    expect(responses.filter((response) => describeRedirect(response) === "303 /portal?done=joined")).toHaveLength(1);
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "member.joined")).toHaveLength(1);
    expect(await listTeam()).toEqual(buildTeam("active"));
  });
});
