// Tests a member's own account: passkeys and devices, the recent sign-in that is required to change passkeys, and signing in to the portal
// with a passkey.
import { env } from "cloudflare:workers";
import { DomUtils } from "htmlparser2";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { buildJsonRequest, clearCodes, findEmailCode, getCookie, listMailTo, signIn, signInByEmail } from "../support/people.ts";
import { requestSignInOptions, submitSignedCredential } from "../support/passkeys.ts";
import { callPortal, describeOutcome, listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import {
  acceptInvitation,
  describeRedirect,
  getPageText,
  openPage,
  parsePage,
  postForm,
  submitForm,
  type Member,
} from "../support/portal-pages.ts";
import { call, readDatabaseContents, world, type TestResponse } from "../support/world.ts";
import { listElements } from "./page.ts";

const page = "/portal/account";
const minute = 60_000;

let round = 0;
let email: string;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
beforeEach(async () => {
  round += 1;
  email = `owner-${round}@passkeys.example`;
  owner = await signUpBusiness(email, { business_name: `Passkeys ${round}` });
  await clearCodes();
  await waitUntilSettled();
});
afterEach(() => {
  vi.useRealTimers();
});

const parseOptions = (response: TestResponse) => {
  const prompt = listElements(parsePage(response).document).find(({ attribs }) => attribs["data-passkey"] !== undefined);
  return JSON.parse(prompt?.attribs["data-options"] ?? "null");
};
/** Adds a passkey through the portal's pages and returns the response. */
const addPasskey = async (member: Member, authenticator: Authenticator): Promise<TestResponse> => {
  const prompt = await submitForm(member, page, `${page}/passkeys/new`);
  const form = DomUtils.getElementsByTagName("form", parsePage(prompt).document).find(
    ({ attribs }) => attribs.action === `${page}/passkeys`,
  );
  const token = DomUtils.getElementsByTagName("input", form ?? []).find(({ attribs }) => attribs.name === "form")?.attribs.value ?? "";
  const credential = await authenticator.make(parseOptions(prompt));
  return postForm(member, `${page}/passkeys`, { form: token, credential: JSON.stringify(credential) });
};
const withPasskey = async (member: Member = owner): Promise<Authenticator> => {
  const authenticator = new Authenticator();
  expect(describeRedirect(await addPasskey(member, authenticator))).toBe(`303 ${page}?done=passkeyAdded`);
  return authenticator;
};
/** Signs in on the portal's pages with a passkey and returns the response. */
const signInOnPages = async (
  authenticator: Authenticator,
  next = "/portal/team",
  member: Member = { cookie: "" },
): Promise<TestResponse> => {
  const prompt = await postForm(member, "/portal/sign-in/passkey", { next });
  const credential = await authenticator.sign(parseOptions(prompt));
  return postForm(member, "/portal/sign-in/passkey/verify", { next, credential: JSON.stringify(credential) });
};
const getSession = async ({ cookie }: Member): Promise<unknown> => {
  const { status, body } = await call("/v1/auth/session", { headers: { cookie } });
  return status === 200 ? [body.data.email, body.data.business_id] : status;
};
const toMember = (response: TestResponse): Member => ({
  cookie: /svc_session=[^;]+/.exec(response.headers.getSetCookie().join("\n"))?.[0] ?? "",
});
const countPasskeys = async (member: Member): Promise<number> =>
  (await openPage(member, page)).text.split(`action="${page}/passkeys/remove"`).length - 1;

describe("a member's passkey", () => {
  test("is added on the account page, announced by email and recorded in the business's audit log", async () => {
    expect(getPageText(await openPage(owner, page))).toContain("No passkeys. You sign in with a code we email you.");
    await withPasskey();
    const shown = await openPage(owner, `${page}?done=passkeyAdded`);
    expect(getPageText(shown)).toContain("Passkey added. We emailed you about it.");
    expect(await countPasskeys(owner)).toBe(1);
    await waitUntilSettled();
    const [mail] = await listMailTo(email);
    expect([mail?.subject, mail?.text]).toEqual(["A passkey was added to your account", expect.stringMatching(/\/portal\/account$/m)]);
    expect(await listAuditEntryTypes(owner.id)).toContain("passkey.added");
  });

  test("has the business's name on the authenticator, so that it differs from the person's own passkey", async () => {
    const { user } = parseOptions(await submitForm(owner, page, `${page}/passkeys/new`));
    expect([user.name, user.displayName]).toEqual([`${email} (Passkeys ${round})`, `${email} (Passkeys ${round})`]);
  });

  test("signs in to the business without an email address and continues to the requested page", async () => {
    const authenticator = await withPasskey();
    const response = await signInOnPages(authenticator);
    expect(describeRedirect(response)).toBe("303 /portal/team");
    expect(await getSession(toMember(response))).toEqual([email, owner.id]);
    const { expires_at, created_at } = (await env.DB.prepare(
      "SELECT expires_at, created_at FROM sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT 1",
    )
      .bind(owner.userId)
      .first()) as { expires_at: number; created_at: number };
    expect(expires_at - created_at).toBe(12 * 60 * minute);
    expect(await countPasskeys(toMember(response))).toBe(1);
  });

  test("lets a member of several businesses choose after signing in", async () => {
    const authenticator = await withPasskey();
    const second = await signUpBusiness(`second-${round}@passkeys.example`, { business_name: `Second ${round}` });
    const { id } = (await callPortal(second, "POST", "/members", { email, role: "member" })).body.data;
    const joined = await submitForm(owner, "/portal/businesses", "/portal/businesses", { seat: id });
    expect(await countPasskeys(toMember(joined))).toBe(0); // a passkey belongs to one membership
    expect(describeRedirect(await signInOnPages(authenticator))).toBe("303 /portal/businesses?next=%2Fportal%2Fteam");
  });

  test("signs in through the API only in the business realm", async () => {
    const authenticator = await withPasskey();
    const asConsumer = await submitSignedCredential(await authenticator.sign(await requestSignInOptions()));
    expect(describeOutcome(asConsumer)).toBe("400 login_failed");
    const credential = await authenticator.sign(await requestSignInOptions());
    const response = await call("/v1/auth/passkey/verify", buildJsonRequest({ credential, realm: "business" }));
    expect(response.body.data.user).toMatchObject({ id: owner.userId, email, realm: "business", role: "owner", business_id: owner.id });
  });

  test("is refused in the app, as a consumer's passkey is in the portal, with the same text as every refusal", async () => {
    const authenticator = await withPasskey();
    const app = await call("/app/passkey", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
      body: "next=/app",
    });
    const credential = JSON.stringify(await authenticator.sign(parseOptions(app)));
    expect(describeRedirect(await postForm({ cookie: "" }, "/app/passkey/verify", { next: "/app", credential }))).toBe(
      "303 /app?outcome=passkey",
    );
    const consumer = await signIn(world.consumerEmail, "consumer");
    const { options } = (await call("/v1/me/passkeys/options", { method: "POST", headers: consumer })).body.data;
    const otherAuthenticator = new Authenticator();
    await call("/v1/me/passkeys", buildJsonRequest({ credential: await otherAuthenticator.make(options) }, consumer));
    const refused = await signInOnPages(otherAuthenticator);
    expect(describeRedirect(refused)).toBe("303 /portal/sign-in?next=%2Fportal%2Fteam&outcome=passkey");
    expect(getPageText(await openPage({ cookie: "" }, "/portal/sign-in?outcome=passkey"))).toContain("We couldn’t use that passkey.");
  });

  test("no longer signs in once it or the member is removed, and the audit log records its removal", async () => {
    const authenticator = await withPasskey();
    expect(describeRedirect(await submitForm(owner, page, `${page}/passkeys/remove`))).toBe(`303 ${page}?done=passkeyRemoved`);
    expect(await countPasskeys(owner)).toBe(0);
    expect(describeRedirect(await signInOnPages(authenticator))).toContain("outcome=passkey");
    expect((await listAuditEntryTypes(owner.id)).slice(-1)).toEqual(["passkey.removed"]);

    const colleague = `sam-${round}@passkeys.example`;
    const { id } = (await callPortal(owner, "POST", "/members", { email: colleague, role: "member" })).body.data;
    const otherMember = await withPasskey(await acceptInvitation(colleague));
    await callPortal(owner, "DELETE", `/members/${id}`);
    expect(describeRedirect(await signInOnPages(otherMember))).toContain("outcome=passkey");
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM passkeys WHERE user_id = ?").bind(id).first("n")).toBe(0);
  });

  test("cannot be removed by another member, and a form from another site or page changes nothing", async () => {
    await withPasskey();
    const colleague = `sam-${round}@passkeys.example`;
    await callPortal(owner, "POST", "/members", { email: colleague, role: "owner" });
    const other = await acceptInvitation(colleague);
    await withPasskey(other);
    const id = await env.DB.prepare("SELECT id FROM passkeys WHERE user_id = ?").bind(owner.userId).first<string>("id");
    await submitForm(other, page, `${page}/passkeys/remove`, { id: id as string });
    expect((await postForm(owner, `${page}/passkeys/remove`, { id: id as string })).status).toBe(403);
    expect((await postForm(owner, `${page}/passkeys/new`, {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect([await countPasskeys(owner), await countPasskeys(other)]).toEqual([1, 1]);
  });

  test("leaves no personal data in plain text in the database", async () => {
    await withPasskey();
    await waitUntilSettled();
    await clearCodes();
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(email);
  });
});

describe("changing passkeys ten minutes after the sign-in", () => {
  test("requires a new sign-in with a code, which leads back, and changes nothing before then", async () => {
    await withPasskey();
    vi.setSystemTime(Date.now() + 10 * minute);
    for (const action of ["remove", "new"])
      expect(describeRedirect(await submitForm(owner, page, `${page}/passkeys/${action}`)), action).toBe(`303 ${page}/reauthenticate`);
    expect(await countPasskeys(owner)).toBe(1);
    await clearCodes();
    const response = await submitForm(owner, `${page}/reauthenticate`, "/portal/sign-in");
    expect(describeRedirect(response)).toBe(`303 /portal/sign-in?next=%2Fportal%2Faccount%2Freauthenticate`);
    const both = { cookie: `${owner.cookie}; ${getCookie(response)}` };
    expect(describeRedirect(await openPage(both, "/portal/sign-in?next=/portal/account/reauthenticate"))).toBe(
      `303 ${page}/reauthenticate`,
    );
    const wrong = await submitForm(both, `${page}/reauthenticate`, "/portal/sign-in/code", { code: "000000" });
    const shown = await openPage(both, (wrong.headers.get("location") ?? "").replace(/^https?:\/\/[^/]+/, ""));
    expect(describeRedirect(shown)).toBe(`303 ${page}/reauthenticate?outcome=failed`);
    expect(getPageText(await openPage(both, `${page}/reauthenticate?outcome=failed`))).toContain("That code is incorrect or has expired.");
    const signedIn = await submitForm(both, `${page}/reauthenticate`, "/portal/sign-in/code", { code: await findEmailCode(email) });
    expect(describeRedirect(signedIn)).toBe(`303 ${page}/reauthenticate`);
    const fresh = toMember(signedIn);
    expect(describeRedirect(await openPage(fresh, `${page}/reauthenticate`))).toBe(`303 ${page}`);
    expect(describeRedirect(await submitForm(fresh, page, `${page}/passkeys/remove`))).toBe(`303 ${page}?done=passkeyRemoved`);
  });

  test("accepts a passkey as the new sign-in", async () => {
    const authenticator = await withPasskey();
    vi.setSystemTime(Date.now() + 10 * minute);
    const response = await signInOnPages(authenticator, `${page}/reauthenticate`, owner);
    expect(describeRedirect(response)).toBe(`303 ${page}/reauthenticate`);
    expect(describeRedirect(await submitForm(toMember(response), page, `${page}/passkeys/remove`))).toBe(`303 ${page}?done=passkeyRemoved`);
    expect(await getSession(owner)).toBe(401);
  });
});

test("a member ends one of their other sessions, or all of them", async () => {
  const [second, third] = [await signInByEmail(email), await signInByEmail(email)];
  expect((await openPage(owner, page)).text.split(`action="${page}/sessions/end"`)).toHaveLength(3);
  await submitForm(owner, page, `${page}/sessions/end`);
  expect([await getSession(second), await getSession(third)].filter((state) => state === 401)).toHaveLength(1);
  await signInByEmail(email);
  expect(describeRedirect(await submitForm(owner, page, `${page}/sessions/end-others`))).toBe(`303 ${page}?done=othersEnded`);
  expect([await getSession(second), await getSession(third), await getSession(owner)]).toEqual([401, 401, [email, owner.id]]);
});
