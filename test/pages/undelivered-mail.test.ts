// Tests what people see when an email to them, or to someone they invited, could not be delivered. The email provider in these tests
// rejects addresses with non-ASCII characters before the @.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { parseDocument } from "htmlparser2";
import { getCookie } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { callPortal, signUpBusiness } from "../support/portal.ts";
import { buildFormPost } from "../support/portal-pages.ts";
import { createServiceCall, type TestResponse } from "../support/world.ts";
import { extractWords } from "./page.ts";

const service = createServiceCall({
  MAIL_TRANSPORT: "http",
  MAIL_HTTP_URL: "https://mail.example/send",
  MAIL_HTTP_TOKEN: "token of the provider",
});
/** Waits until the outbox is empty. By then, each of its emails has been captured or has failed. */
const waitUntilMailFailed = () =>
  vi.waitFor(async () => expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM mail_outbox").first("n")).toBe(0), 20_000);
const readText = ({ text }: TestResponse): string => extractWords(parseDocument(text));
const undelivered = "We couldn’t deliver email to this address. Check the address, or use a different one.";

// Signs up the business on a deployment with a working provider. Waits until that deployment's relay is idle, because the relay must not
// send the emails of these tests.
const signUpOwner = async (email: string) => {
  const owner = await signUpBusiness(email);
  await waitUntilSettled();
  return owner;
};
beforeEach(waitUntilSettled);

describe("an invitation that could not be delivered", () => {
  test("is marked on the team page and in the API", async () => {
    const owner = await signUpOwner("owner@undelivered.example");
    const invited = await callPortal(owner, "POST", "/members", { email: "zoë@undelivered.example", role: "member" }, {}, service);
    expect(invited.body.data.delivery_failed_at).toBeNull();
    await waitUntilMailFailed();
    const { members } = (await callPortal(owner, "GET", "/members")).body.data;
    expect(
      members.map((member: { email: string; delivery_failed_at: string | null }) => [member.email, member.delivery_failed_at]),
    ).toEqual([
      ["owner@undelivered.example", null],
      ["zoë@undelivered.example", expect.stringMatching(/^\d{4}-/)],
    ]);
    const page = readText(await service("/portal/team", { headers: { cookie: owner.cookie } }));
    expect(page).toContain("Not delivered");
    expect(page).toContain("We couldn’t deliver the invitation. Check the address, then invite this person again.");
  });

  test("is no longer marked after the same address is invited again", async () => {
    const owner = await signUpOwner("owner@delivered.example");
    await callPortal(owner, "POST", "/members", { email: "zoë@delivered.example", role: "member" }, {}, service);
    await waitUntilMailFailed();
    await callPortal(owner, "POST", "/members", { email: "zoë@delivered.example", role: "member" });
    const page = readText(await service("/portal/team", { headers: { cookie: owner.cookie } }));
    expect(page).toContain("Invited");
    expect(page).not.toContain("Not delivered");
  });
});

describe("a sign-in code that could not be delivered", () => {
  const requestCode = async (email: string): Promise<string> => {
    const response = await service("/app/sign-in", buildFormPost("", { email, next: "/app" }, {}));
    await waitUntilMailFailed();
    return getCookie(response);
  };
  const open = (cookie: string, path = "/app") => service(path, { headers: { cookie } });

  test("is reported on the page that asks for the code, in the browser that requested it", async () => {
    const page = readText(await open(await requestCode("zoë@person.example")));
    expect(page).toContain("Check your email");
    expect(page).toContain(undelivered);
  });

  test("is reported even after a wrong code", async () => {
    const cookie = await requestCode("chloé@person.example");
    expect(readText(await open(cookie, "/app?outcome=failed"))).toContain(undelivered);
  });

  test("is not reported for a business, where it would reveal who is a member", async () => {
    await signUpOwner("owner@member.example");
    const response = await service("/portal/sign-in", buildFormPost("", { email: "zoë@member.example", next: "/portal" }, {}));
    await waitUntilMailFailed();
    expect(readText(await service("/portal/sign-in/code", { headers: { cookie: getCookie(response) } }))).not.toContain("couldn’t deliver");
  });

  test("is not reported in a browser that requested no code", async () => {
    await requestCode("anaïs@person.example");
    expect(readText(await open(""))).not.toContain("couldn’t deliver");
  });
});
