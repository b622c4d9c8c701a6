// Tests the app over HTTP: signing in, the lists, stopping and renewing shares, and changing details.
import { env } from "cloudflare:workers";
import { DomUtils } from "htmlparser2";
import { describe, expect, test } from "vitest";
import { maxEntriesScanned } from "../../durable-objects/audit-log/tables.ts";
import {
  createBrowserSession,
  parseFormFields,
  parsePage,
  describeRedirect,
  getPageText,
  type BrowserSession,
} from "../support/browser-session.ts";
import { copyAuditEntry } from "../support/changes.ts";
import { copyRow } from "../support/copied-rows.ts";
import { findEmailCode, clearCodes, signIn, createDifferentCode } from "../support/people.ts";
import { Authenticator } from "../support/authenticator.ts";
import { registerPasskey } from "../support/passkeys.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import type { ReadPage } from "./page.ts";
import { issueToNewPerson } from "../support/withdrawal.ts";
import {
  createPersonEmail,
  grantShare,
  describeOutcome,
  signInPerson,
  getWithApiKey,
  redeemCode,
  contactValues,
  postWithApiKey,
  type SignedPerson,
} from "../support/sharing.ts";
import { createServiceCall, world, type TestResponse } from "../support/world.ts";

const day = 86_400_000;
const createServiceAt = (offset: number) => createServiceCall({ DEV_CLOCK_OFFSET_MS: String(Math.round(offset)) });
const openBrowserFor = (
  { headers }: SignedPerson,
  ...more: [Parameters<typeof createBrowserSession>[1]?, Parameters<typeof createBrowserSession>[2]?]
): BrowserSession => createBrowserSession(headers.cookie, ...more);
const shareStatus = async (id: string): Promise<string> => {
  const response = await getWithApiKey(`/v1/shares/${id}`);
  expect(describeOutcome(response)).toBe("200 ok");
  return response.body.data.status;
};

describe("signing in", () => {
  test("accepts an address and its code and leads back to the requested page", async () => {
    await clearCodes();
    const email = createPersonEmail();
    const pat = createBrowserSession();
    const response = await pat.open("/app/details");
    expect(response.status).toBe(200);
    expect(getPageText(response)).toContain("We’ll email you a 6-digit code. No password needed.");
    expect(describeRedirect(await pat.send(response, "/app/sign-in", { email }))).toBe("303 /app/details");
    const step = await pat.open("/app/details");
    expect(getPageText(step)).toContain(`We sent a 6-digit code to ${email}. It expires in 10 minutes.`);
    const code = await findEmailCode(email);
    expect(describeRedirect(await pat.send(step, "/app/code", { code: createDifferentCode(code) }))).toBe(
      "303 /app/details?outcome=failed",
    );
    expect(getPageText(await pat.open("/app/details?outcome=failed"))).toContain("Error: That code is incorrect");
    expect(describeRedirect(await pat.send(step, "/app/code", { code: `${code.slice(0, 3)} ${code.slice(3)}` }))).toBe("303 /app/details");
    const inside = await pat.open("/app/details");
    expect(getPageText(inside)).toContain("Nothing saved yet.");
    expect(getPageText(await pat.open("/app"))).toContain("No consents yet");
    expect(describeRedirect(await pat.send(inside, "/app/sign-out"))).toBe("303 /app");
    expect(getPageText(await pat.open("/app"))).toContain("Sign in");
  });

  test("keeps an invalid address or code in the form and explains the error", async () => {
    const pat = createBrowserSession();
    const page = await pat.open("/app");
    const refused = await pat.send(page, "/app/sign-in", { email: "pat at example" });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('value="pat at example"');
    expect(refused.text).toMatch(/<title>Error: /);
    await pat.send(page, "/app/sign-in", { email: createPersonEmail() });
    const step = await pat.open("/app");
    expect((await pat.send(step, "/app/code", { code: "12" })).status).toBe(400);
    expect(describeRedirect(await pat.send(step, "/app/other-address"))).toBe("303 /app");
    expect((await pat.open("/app")).text).toContain('name="email"');
  });

  test.each(["https://evil.example/", "//evil.example", "/app/../c", "/v1/me"])("never redirects outside of the app (%s)", async (next) => {
    await clearCodes();
    expect(describeRedirect(await createBrowserSession().post("/app/sign-in", { email: createPersonEmail(), next }))).toBe("303 /app");
  });

  test("is not possible with the session of a business member", async () => {
    const member = createBrowserSession((await signIn(world.ownerEmail)).cookie);
    expect(getPageText(await member.open("/app"))).toContain("We’ll email you a 6-digit code.");
  });
});

describe("consents", () => {
  test("lists active shares by business with their actions, and ended ones separately", async () => {
    const pat = await signInPerson();
    const first = await grantShare(pat);
    const second = await grantShare(pat, { scope: ["name"], purpose: "Write to you about <b>panels</b>" });
    const browser = openBrowserFor(pat);
    const list = await browser.open("/app");
    expect(getPageText(list)).toContain("Current 2");
    expect(getPageText(list)).toContain("Email and phone");
    expect(getPageText(list)).toContain("Write to you about <b>panels</b>");
    expect(list.text).toContain(`/app/shares/${first.share.id}/stop`);
    expect(list.text).toContain(`/app/with/${world.acme.id}/stop`);
    await pat.post(`/v1/me/sever/${second.share.id}`, {});
    expect(getPageText(await browser.open("/app"))).toContain("Current 1");
    const ended = getPageText(await browser.open("/app?view=ended"));
    expect(ended).toContain("The business must stop contacting you by the end of");
    expect(ended).toContain("Stopping");
  });

  test("shows the current status of each share even before the sweep runs", async () => {
    const pat = await signInPerson();
    await grantShare(pat, { duration_days: 5 });
    const readStatusAfter = async (offset: number, view = ""): Promise<string> =>
      getPageText(await openBrowserFor(pat, createServiceAt(offset)).open(`/app${view}`));
    expect(await readStatusAfter(0)).toMatch(/Ends in [45] days/);
    expect(await readStatusAfter(3.5 * day)).toContain("Ends in 1 day");
    expect(await readStatusAfter(4.5 * day)).toContain("Ends today");
    expect(await readStatusAfter(5.1 * day, "?view=ended")).toContain("ended on");
  });

  test("shows a share with its values, purpose, disclosure text, timeline and verification data", async () => {
    const pat = await signInPerson();
    const granted = await grantShare(pat, { disclosure_text: "I agree that Acme may call me." });
    await redeemCode(granted);
    await getWithApiKey(`/v1/consumers/${granted.share.id}/current`);
    await pat.put("/v1/me/fields", { phone: "+1 202 555 0199" });
    await pat.put("/v1/me/fields", { phone: contactValues.phone });
    await waitUntilSettled();
    const list = getPageText(await openBrowserFor(pat).open("/app"));
    expect(list).toContain(
      `Details last sent on ${new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(Date.now())}`,
    );
    const page = await openBrowserFor(pat).open(`/app/shares/${granted.share.id}`);
    const words = getPageText(page);
    for (const text of [
      "Sharing with Acme Solar LLC",
      "pat@example.com",
      "+1 202 555 0123",
      "Send you a solar estimate",
      "I agree that Acme may call me.",
      "They received these details",
      "They looked up your current details",
      "They received a change you made",
      "Ends automatically",
      granted.share.id,
      granted.share.fingerprint,
    ])
      expect(words.replaceAll(/\s/g, "")).toContain(text.replaceAll(/\s/g, ""));
    expect(words).not.toContain("Testville");
  });

  test("gives the same response to another person's share, an unknown ID and any other URL, and changes nothing", async () => {
    const [pat, eve] = [await signInPerson(), await signInPerson()];
    const { share } = await grantShare(pat);
    const browser = openBrowserFor(eve);
    const otherStopPage = await browser.open(`/app/shares/${(await grantShare(eve)).share.id}/stop`);
    const pages = await Promise.all(
      [share.id, `${share.id.slice(0, -1)}0`, "shr_zz", "nothing"].flatMap((id) => [
        browser.open(`/app/shares/${id}`),
        browser.open(`/app/shares/${id}/stop`),
        browser.open(`/app/shares/${id}/renew`),
      ]),
    );
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
    const tokens = /name="form" value="[^"]*"/g;
    expect(new Set(pages.map(({ text }) => text.replaceAll(tokens, ""))).size).toBe(1);
    const token = parseFormFields(otherStopPage, otherStopPage.text.match(/action="(\/app\/shares\/[^"]*)"/)?.[1] as string);
    expect((await browser.post(`/app/shares/${share.id}/stop`, { ...token })).status).toBe(403);
    expect(await shareStatus(share.id)).toBe("active");
    const unknownBusinessPage = await browser.open(`/app/with/${world.other.id}`);
    expect([unknownBusinessPage.status, getPageText(unknownBusinessPage).includes("No consents given to this business")]).toEqual([
      404,
      true,
    ]);
  });

  test("stops a share after a confirmation page, with the reason, and shows the deadline until the business confirms", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const browser = openBrowserFor(pat);
    const path = `/app/shares/${share.id}`;
    const confirmationPage = await browser.open(`${path}/stop`);
    expect(getPageText(confirmationPage)).toContain("You can’t undo this");
    expect(confirmationPage.text.indexOf("Keep sharing")).toBeLessThan(confirmationPage.text.indexOf('class="btn primary"'));
    const tooLong = await browser.send(confirmationPage, `${path}/stop`, { reason: "x".repeat(201) });
    expect([tooLong.status, tooLong.text.includes("Use up to 200 characters, with no line breaks.")]).toEqual([400, true]);
    expect(await shareStatus(share.id)).toBe("active");
    expect(describeRedirect(await browser.send(confirmationPage, `${path}/stop`, { reason: "Found another" }))).toBe(`303 ${path}`);
    const stopped = getPageText(await browser.open(path));
    expect(stopped).toContain("You stopped sharing. The business must stop contacting you by the end of");
    expect(stopped).toContain("You wrote: Found another");
    expect(getPageText(await browser.open(path))).not.toContain("You stopped sharing. The business");
    expect(describeRedirect(await browser.send(confirmationPage, `${path}/stop`, {}))).toBe(`303 ${path}`);
    expect(describeRedirect(await browser.open(`${path}/stop`))).toBe(`303 ${path}`);
    expect((await getWithApiKey(`/v1/shares/${share.id}`)).body.data.reason).toBe("Found another");
    expect(getPageText(await openBrowserFor(pat, createServiceAt(20 * day)).open(path))).toContain(
      "The deadline has passed, and they haven’t confirmed.",
    );
    await postWithApiKey(`/v1/shares/${share.id}/cease-ack`, { note: "We removed you" });
    const ceased = getPageText(await browser.open(path));
    expect(ceased).toContain("They confirmed that they stopped contacting you");
    expect(ceased).toContain("They wrote: We removed you");
  });

  test("stops everything with one business and nothing of another", async () => {
    const pat = await signInPerson();
    const grants = [await grantShare(pat), await grantShare(pat, { scope: ["name"] })];
    const other = await grantShare(pat, { origin: "https://other.example" }, world.other);
    const browser = openBrowserFor(pat);
    const path = `/app/with/${world.acme.id}/stop`;
    const confirmationPage = await browser.open(path);
    expect(getPageText(confirmationPage)).toContain("These 2 consents will end:");
    expect(describeRedirect(await browser.send(confirmationPage, path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("You stopped 2 shares.");
    expect(await Promise.all(grants.map(({ share }) => shareStatus(share.id)))).toEqual(["revoked", "revoked"]);
    expect((await pat.get("/v1/me/shares")).body.data.shares.find(({ id }: { id: string }) => id === other.share.id).status).toBe("active");
    expect(describeRedirect(await browser.open(path))).toBe(`303 /app/with/${world.acme.id}`);
  });

  test("stops everything with one business, even if 500 newer shares with other businesses are active", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const other = await grantShare(pat, { origin: "https://other.example" }, world.other);
    await copyRow("shares", other.share.id, 500);
    const browser = openBrowserFor(pat);
    const path = `/app/with/${world.acme.id}/stop`;
    expect(describeRedirect(await browser.send(await browser.open(path), path))).toBe(`303 /app/with/${world.acme.id}`);
    expect(getPageText(await browser.open(`/app/with/${world.acme.id}`))).toContain("You stopped 1 share.");
    expect([await shareStatus(share.id), (await pat.get(`/v1/me/shares`)).body.data.shares.length]).toEqual(["revoked", 500]);
  });

  test("renews a share with the selected groups, and preselects none of them", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 200 });
    const browser = openBrowserFor(pat);
    const path = `/app/shares/${share.id}/renew`;
    const confirmationPage = await browser.open(path);
    expect(confirmationPage.text).not.toContain("checked");
    expect(getPageText(confirmationPage)).toMatch(/Email: \S+ \(currently shared\).*Name: Pat Example \(not shared yet\)/);
    const { form } = parseFormFields(confirmationPage, path) as { form: string };
    const nothing = await browser.post(path, { form });
    expect([nothing.status, nothing.text.includes("Choose at least one detail to share")]).toEqual([400, true]);
    const response = await browser.post(path, { form, "group.email": "email", "group.name": "first_name last_name", days: "30" });
    const fresh = response.headers.get("location") as string;
    expect(fresh).toMatch(/^\/app\/shares\/shr_/);
    const renewed = (await getWithApiKey(`/v1/shares/${fresh.split("/").at(-1)}`)).body.data;
    expect(renewed).toMatchObject({
      status: "active",
      scope: ["email", "first_name", "last_name"],
      duration_days: 30,
      supersedes: share.id,
    });
    expect(getPageText(await browser.open(fresh))).toContain("Renewed until");
    expect(describeRedirect(await browser.post(path, { form, "group.email": "email" }))).toBe(`303 /app/shares/${share.id}`);
    expect(getPageText(await browser.open(`/app/shares/${share.id}`))).toContain("You renewed this share.");
  });

  test("shares no field that was filled in after the form was shown", async () => {
    const pat = await signInPerson();
    await pat.put("/v1/me/fields", { address_line1: null, address_line2: null, city: "Denver", state: null, zip: null, country: null });
    const { share } = await grantShare(pat, { scope: ["email"] });
    const browser = openBrowserFor(pat);
    const path = `/app/shares/${share.id}/renew`;
    const form = await browser.open(path);
    const [, shown] = /name="group.address" value="([^"]*)"/.exec(form.text) ?? [];
    expect(shown).toBe("city");
    expect((await pat.put("/v1/me/fields", { address_line1: "12 Elm St" })).status).toBe(200);
    const renewed = (await browser.send(form, path, { "group.address": "city" })).headers.get("location") as string;
    expect((await getWithApiKey(`/v1/shares/${renewed.split("/").at(-1)}`)).body.data.scope).toEqual(["city"]);
  });
});

describe("the form that renews a share", () => {
  test("renews only when its button is clicked: the Enter key shows it again with the same choices", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: 200 });
    const browser = openBrowserFor(pat);
    const path = `/app/shares/${share.id}/renew`;
    const page = await browser.open(path);
    const [first = "", consent = ""] = [...page.text.matchAll(/<button type="submit"[^>]*>/g)].map(([button]) => button).slice(-2);
    expect([first.includes('name="check"'), consent.includes("name=")]).toEqual([true, false]);
    const { form = "" } = parseFormFields(page, path);
    const entered = await browser.post(path, { form, check: "on", "group.phone": "phone", days: "30" });
    expect(entered.status).toBe(200);
    const selected = [...entered.text.matchAll(/(?:id|value)="([a-z0-9-]+)" (?:checked|selected)=""/g)].map(([, option]) => option);
    expect(selected).toEqual(["group-phone", "30"]);
    expect(await shareStatus(share.id)).toBe("active");
  });

  test.each([
    [1, "en", "(1 day)"],
    [2, "en", "(2 days)"],
    [1, "es", "(1 día)"],
  ])("offers the earlier duration: %i in %s", async (days, language, text) => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat, { duration_days: days });
    expect(getPageText(await openBrowserFor(pat).open(`/app/shares/${share.id}/renew?lang=${language}`))).toContain(text);
  });
});

describe("details", () => {
  test("shows a phone number in its international form, however it was typed, and the API returns it as it was typed", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const browser = openBrowserFor(pat);
    const typed = "(202) 555-0199 ext. 7";
    const review = parsePage(await browser.send(await browser.open("/app/details"), "/app/details", { phone: typed }));
    expect(getPageText(review)).toContain("After: +1 202 555 0199 ext. 7");
    await browser.send(review, "/app/details/save");
    for (const path of [`/app/shares/${share.id}`, `/app/shares/${share.id}/renew`])
      expect(getPageText(await browser.open(path)), path).toContain("+1 202 555 0199 ext. 7");
    expect((await pat.get("/v1/me/fields")).body.data.fields.phone).toBe(typed);
  });

  test("shows the name of a country that was chosen", async () => {
    const browser = openBrowserFor(await signInPerson());
    const review = parsePage(await browser.send(await browser.open("/app/details"), "/app/details", { country: "FR", phone: "" }));
    expect(getPageText(review)).toContain("After: France");
  });

  test("shows who is notified before a change is saved, and offers to undo it for ten minutes", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const browser = openBrowserFor(pat);
    const page = await browser.open("/app/details");
    expect(getPageText(page)).toContain("Shared with Acme Solar LLC.");
    const review = await browser.send(page, "/app/details", { phone: "+1 202 555 0199" });
    expect(review.status).toBe(200);
    const reviewed = parsePage(review);
    expect(getPageText(reviewed)).toContain("We’ll notify these businesses right away: Acme Solar LLC.");
    expect(getPageText(reviewed)).toContain("Before: +1 202 555 0123After: +1 202 555 0199");
    const readFields = async () => (await pat.get("/v1/me/fields")).body.data.fields;
    expect((await readFields()).phone).toBe(contactValues.phone);
    expect(describeRedirect(await browser.send(reviewed, "/app/details/save"))).toBe("303 /app/details");
    expect((await readFields()).phone).toBe("+1 202 555 0199");
    expect((await getWithApiKey(`/v1/consumers/${share.id}/current`)).body.data.fields.phone).toBe("+1 202 555 0199");
    const saved = await browser.open("/app/details");
    expect(getPageText(saved)).toContain("Changes saved. We’re notifying 1 business.");
    expect(
      getPageText(
        await createBrowserSession([...browser.jar].map((pair) => pair.join("=")).join("; "), createServiceAt(600_001)).open(
          "/app/details",
        ),
      ),
    ).not.toContain("undo your last change");
    expect(describeRedirect(await browser.send(saved, "/app/details/undo"))).toBe("303 /app/details");
    expect((await readFields()).phone).toBe(contactValues.phone);
    expect((await readFields()).email).toBe(contactValues.email);
    expect(getPageText(await browser.open("/app/details"))).not.toContain("undo your last change");
  });

  test("shows a phone number as it was written if only its spelling changes", async () => {
    const pat = await signInPerson({ phone: "2025550123" });
    const browser = openBrowserFor(pat);
    const review = await browser.send(await browser.open("/app/details"), "/app/details", { phone: "+1 202 555 0123" });
    expect(getPageText(parsePage(review))).toContain("Before: 2025550123After: +1 202 555 0123");
  });

  test("still offers to undo a change if undoing it was refused", async () => {
    const pat = await signInPerson();
    const page = await openBrowserFor(pat).open("/app/details");
    const strict = openBrowserFor(pat, createServiceCall({ LIMIT_FIELD_CHANGES: "2/3600" }));
    await strict.send(parsePage(await strict.send(page, "/app/details", { phone: "" })), "/app/details/save");
    await pat.put("/v1/me/fields", { city: "Newtown" });
    const saved = await strict.open("/app/details");
    expect((await strict.send(saved, "/app/details/undo")).status).toBe(429);
    expect(getPageText(await strict.open("/app/details"))).toContain("undo your last change");
  });

  test("keeps the input and marks the field when a value is invalid", async () => {
    const pat = await signInPerson();
    const browser = openBrowserFor(pat);
    const page = await browser.open("/app/details");
    const refused = await browser.send(page, "/app/details", { phone: "12", city: "Newtown" });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('value="Newtown"');
    expect(refused.text).toMatch(/<input id="phone"[^>]*aria-invalid="true"/);
    expect(refused.text).toMatch(/<title>Error: /);
    const direct = await browser.send(page, "/app/details", {});
    expect(describeRedirect(direct)).toBe("303 /app/details");
    expect(getPageText(await browser.open("/app/details"))).toContain("No changes to save.");
  });

  test("names the businesses that are not notified because their share has ended", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    await pat.post(`/v1/me/sever/${share.id}`, {});
    const browser = openBrowserFor(pat);
    const review = await browser.send(await browser.open("/app/details"), "/app/details", { phone: "" });
    expect(review.text).toContain("We won’t notify these businesses, because you’re no longer sharing with them:");
    expect(review.text).toContain("No one will be notified.");
  });

  test("does not apply another person's undo cookie", async () => {
    const [pat, eve] = [await signInPerson(), await signInPerson({ phone: "+1 202 555 0177" })];
    const browser = openBrowserFor(pat);
    const page = await browser.open("/app/details");
    await browser.send(parsePage(await browser.send(page, "/app/details", { phone: "" })), "/app/details/save");
    const other = openBrowserFor(eve);
    other.jar.set("svc_undo", browser.jar.get("svc_undo") as string);
    const otherPage = await other.open("/app/details");
    expect(getPageText(otherPage)).not.toContain("undo your last change");
    expect((await eve.get("/v1/me/fields")).body.data.fields.phone).toBe("+1 202 555 0177");
  });
});

describe("history and account", () => {
  test("lists every entry with its business, fifty per page", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    await pat.post(`/v1/me/sever/${share.id}`, {});
    await waitUntilSettled();
    const history = await openBrowserFor(pat).open("/app/history");
    expect(getPageText(history)).toMatch(/Sharing stopped ?Acme Solar LLC/);
    expect(getPageText(history)).toMatch(/You shared details ?Acme Solar LLC/);
    expect(getPageText(history)).toContain("You changed your details");
    expect(getPageText(await openBrowserFor(pat).open("/app/history?before=2"))).toContain("Newest entries");
    expect(getPageText(await openBrowserFor(pat).open("/app/account"))).toContain(pat.email);
  });
});

describe("history filtered by business", () => {
  const listSharedNames = (page: ReadPage): string[] =>
    [...getPageText(page).matchAll(/You shared details ?(Acme Solar LLC|Bright Homes Inc)/g)].map(([, name = ""]) => name).sort();

  test("is selected by name, shows only that business, and can be cleared", async () => {
    const pat = await signInPerson();
    await grantShare(pat);
    const browser = openBrowserFor(pat);
    expect(DomUtils.getElementsByTagName("select", (await browser.open("/app/history")).document)).toHaveLength(0); // with one business there is nothing to select
    await grantShare(pat, { origin: "https://other.example" }, world.other);
    await waitUntilSettled();
    const all = await browser.open("/app/history");
    expect(listSharedNames(all)).toEqual(["Acme Solar LLC", "Bright Homes Inc"]);
    const options = DomUtils.getElementsByTagName("option", all.document).map(({ attribs }) => attribs.value);
    expect(options).toEqual(["", world.acme.id, world.other.id]);
    const chosen = await browser.open(`/app/history?with=${world.other.id}`);
    expect(listSharedNames(chosen)).toEqual(["Bright Homes Inc"]);
    expect(getPageText(chosen)).not.toContain("You changed your details");
    expect(chosen.text).toMatch(new RegExp(`<option value="${world.other.id}" selected`));
    expect(chosen.text).toContain('<a class="btn bare" href="/app/history">Clear filter</a>');
    expect(describeRedirect(await browser.open("/app/history?with="))).toBe("303 /app/history");
  });

  test("is empty for a business without entries and says how to see all", async () => {
    const [pat, eve] = [await signInPerson(), await signInPerson()];
    await grantShare(eve, { origin: "https://other.example" }, world.other);
    await grantShare(pat);
    await waitUntilSettled();
    for (const businessId of [world.other.id, "biz_nobody"]) {
      const words = getPageText(await openBrowserFor(pat).open(`/app/history?with=${businessId}`));
      expect([words.includes("No results"), words.includes("Clear filter"), words.includes("You shared")]).toEqual([true, true, false]);
    }
  });
});

test("responds immediately for a business without entries, however long the chain is", async () => {
  const pat = await signInPerson();
  const { share } = await grantShare(pat);
  await waitUntilSettled();
  const newest = await env.DB.prepare(
    "SELECT id, chain FROM audit_entries WHERE chain = (SELECT consumer_chain FROM shares WHERE id = ?) ORDER BY ord DESC",
  )
    .bind(share.id)
    .first<{ id: string; chain: string }>();
  await copyAuditEntry(env.DB, newest?.id ?? "", newest?.chain ?? "", maxEntriesScanned);
  await waitUntilSettled();
  const newestEntry = /data-label="Entry">(\d+)</.exec((await openBrowserFor(pat).open("/app/history")).text);
  expect(Number(newestEntry?.[1])).toBeGreaterThan(maxEntriesScanned);
  const page = await openBrowserFor(pat).open(`/app/history?with=${world.other.id}`);
  expect(getPageText(page)).toContain("No results");
  expect(page.text).not.toContain("before=");
}, 60_000);

describe("language links on a page that responds to a form", () => {
  /** Follows the page's link to its Spanish version. Returns the redirect or status, and the status and language of the final page. */
  const inSpanish = async (browser: BrowserSession, at: string, page: TestResponse): Promise<readonly [string, string, string | null]> => {
    const link = (/href="(\?[^"]*lang=es)"/.exec(page.text)?.[1] ?? "").replaceAll("&amp;", "&");
    const linkedPage = await browser.open(`${at}${link}`);
    const way = describeRedirect(linkedPage);
    const end = linkedPage.status === 303 ? await browser.open(linkedPage.headers.get("location") as string) : linkedPage;
    return [way, `${end.status}`, end.headers.get("content-language")];
  };

  test.each([
    ["/app/account", "/app/account/passkeys/add", {}, "303 /app/account"],
    ["/app/details", "/app/details", { phone: "12" }, "200"],
    ["/app/delete", "/app/delete", { confirm: "no" }, "200"],
  ])("lead from %s by %s to an existing page", async (from, action, fields, way) => {
    const browser = openBrowserFor(await signInPerson());
    const page = await browser.send(await browser.open(from), action, fields);
    expect(await inSpanish(browser, action, page)).toEqual([way, "200", "es"]);
  });

  test("lead back to the details when a change was refused", async () => {
    const browser = openBrowserFor(await signInPerson());
    const review = parsePage(await browser.send(await browser.open("/app/details"), "/app/details", { phone: "+1 202 555 0177" }));
    const refused = await browser.send(review, "/app/details/save", { phone: "12" });
    expect(refused.status).toBe(400);
    expect(await inSpanish(browser, "/app/details/save", refused)).toEqual(["303 /app/details", "200", "es"]);
  });

  test("lead back to the form when no recipient was selected", async () => {
    const pat = await signInPerson();
    const { certId } = await issueToNewPerson({ fields: { email: pat.email }, entities: ["Acme Solar LLC", "Roof Right"] });
    const [withdrawPath, some] = [`/app/certificates/${certId}/withdraw`, `/app/certificates/${certId}/withdraw-some`];
    const browser = openBrowserFor(pat);
    const refused = await browser.send(await browser.open(withdrawPath), some);
    expect(refused.status).toBe(400);
    expect(await inSpanish(browser, some, refused)).toEqual([`303 ${withdrawPath}`, "200", "es"]);
  });

  test("lead to the current step of signing in", async () => {
    await clearCodes();
    const stranger = createBrowserSession();
    const step = await stranger.send(await stranger.open("/app/details"), "/app/passkey");
    expect(await inSpanish(stranger, "/app/passkey", step)).toEqual(["303 /app", "200", "es"]);
    const email = createPersonEmail();
    await stranger.send(await stranger.open("/app/details"), "/app/sign-in", { email });
    const wrong = await stranger.send(await stranger.open("/app/details"), "/app/code", { code: "1" });
    expect(wrong.status).toBe(400);
    const code = await stranger.open("/app/code?lang=es");
    expect([code.status, parseFormFields(code, "/app/code").next]).toEqual([200, "/app/sign-in"]);
  });
});

describe("account security", () => {
  test("lists devices and signs out one or all others, but never another person's", async () => {
    const pat = await signInPerson();
    const eve = await signInPerson();
    const other = createBrowserSession((await signIn(pat.email, "consumer")).cookie);
    const browser = openBrowserFor(pat);
    const page = await browser.open("/app/account");
    expect(getPageText(page)).toContain("This device");
    const otherStatus = (await other.open("/app/account")).status;
    const eves = (await eve.get("/v1/me/sessions")).body.data.sessions[0].id;
    const end = "/app/account/devices/end";
    expect(describeRedirect(await browser.send(page, end, { id: eves }))).toBe("303 /app/account");
    expect(getPageText(await openBrowserFor(eve).open("/app"))).toContain("My consents");
    expect(describeRedirect(await browser.send(page, end))).toBe("303 /app/account");
    const after = await browser.open("/app/account");
    expect([otherStatus, getPageText(after).includes("Device signed out.")]).toEqual([200, true]);
    expect(getPageText(await other.open("/app"))).toContain("We’ll email you a 6-digit code.");
    const third = createBrowserSession((await signIn(pat.email, "consumer")).cookie);
    await browser.send(await browser.open("/app/account"), "/app/account/devices/end-others");
    expect(getPageText(await third.open("/app"))).toContain("We’ll email you a 6-digit code.");
    expect((await pat.get("/v1/me/sessions")).body.data.sessions).toHaveLength(1);
  });

  test("lists passkeys and removes one", async () => {
    const pat = await signInPerson();
    await registerPasskey(pat.headers);
    const browser = openBrowserFor(pat);
    const page = await browser.open("/app/account");
    expect(getPageText(page)).toContain("not used yet");
    const remove = "/app/account/passkeys/remove";
    const eve = await signInPerson();
    await registerPasskey(eve.headers);
    const otherId = parseFormFields(await openBrowserFor(eve).open("/app/account"), remove).id as string;
    await browser.send(page, remove, { id: otherId });
    expect((await eve.get("/v1/me/passkeys")).body.data.passkeys).toHaveLength(1);
    expect(describeRedirect(await browser.send(page, remove))).toBe("303 /app/account");
    const after = getPageText(await browser.open("/app/account"));
    expect(after).toContain("Passkey removed.");
    expect(after).toContain("No passkeys.");
  });
});

describe("passkeys", () => {
  const add = "/app/account/passkeys/add";
  // biome-ignore lint/suspicious/noExplicitAny: options of two shapes
  const extractOptions = (response: TestResponse): any =>
    JSON.parse(
      DomUtils.findOne(({ attribs }) => attribs["data-options"] !== undefined, parsePage(response).document.children)?.attribs[
        "data-options"
      ] ?? "",
    );

  test("are added and used to sign in through forms, and each signed response works once", async () => {
    const pat = await signInPerson();
    const browser = openBrowserFor(pat);
    const authenticator = new Authenticator();
    const response = await browser.send(await browser.open("/app/account"), add);
    const signedCredential = JSON.stringify(await authenticator.make(extractOptions(response)));
    expect(describeRedirect(await browser.send(parsePage(response), "/app/account/passkeys", { credential: signedCredential }))).toBe(
      "303 /app/account",
    );
    expect(getPageText(await browser.open("/app/account"))).toContain("Passkey added.");
    const repeated = await browser.send(parsePage(response), "/app/account/passkeys", { credential: signedCredential });
    expect(describeRedirect(repeated)).toBe("303 /app/account");
    expect((await pat.get("/v1/me/passkeys")).body.data.passkeys).toHaveLength(1);
    const stranger = createBrowserSession();
    const step = parsePage(await stranger.send(await stranger.open("/app/details"), "/app/passkey"));
    const signed = JSON.stringify(await authenticator.sign(extractOptions(step)));
    expect(describeRedirect(await stranger.send(step, "/app/passkey/verify", { credential: signed }))).toBe("303 /app/details");
    expect((await stranger.open("/app/account")).text).toContain(pat.email);
    const thief = createBrowserSession();
    expect(describeRedirect(await thief.send(step, "/app/passkey/verify", { credential: signed }))).toBe(
      "303 /app/details?outcome=passkey",
    );
    expect(describeRedirect(await thief.send(step, "/app/passkey/verify", { credential: "{}" }))).toBe("303 /app/details?outcome=passkey");
    expect(getPageText(await thief.open("/app/details?outcome=passkey"))).toContain("We couldn’t use that passkey.");
    expect((await stranger.post("/app/passkey", {}, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  test("are added only within ten minutes of signing in", async () => {
    const pat = await signInPerson();
    const page = await openBrowserFor(pat).open("/app/account");
    const laterResponse = await openBrowserFor(pat, createServiceAt(10 * 60_000)).send(page, add);
    expect(describeRedirect(laterResponse)).toBe("303 /app/reauthenticate/passkey");
    const response = parsePage(await openBrowserFor(pat).send(page, add));
    const credential = JSON.stringify(await new Authenticator().make(extractOptions(response)));
    const refused = await openBrowserFor(pat, createServiceAt(10 * 60_000)).send(response, "/app/account/passkeys", { credential });
    expect(describeRedirect(refused)).toBe("303 /app/reauthenticate/passkey");
    expect((await pat.get("/v1/me/passkeys")).body.data.passkeys).toEqual([]);
  });
});

describe("every page of the app", () => {
  const paths = [
    ...["/app", "/app?view=ended", "/app/details", "/app/history", "/app/account", "/app/agents", "/app/removals", "/app/export"],
    ...["/app/delete", "/app/deleted", "/app/nothing"],
  ];

  test("is not cached, indexed or framed", async () => {
    const pat = openBrowserFor(await signInPerson());
    for (const path of paths) {
      const { headers } = await pat.open(path);
      expect(headers.get("cache-control"), path).toBe("no-store");
      expect(headers.get("x-robots-tag"), path).toContain("noindex");
      expect(headers.get("content-security-policy"), path).toContain("frame-ancestors 'none'");
    }
    expect((await pat.open("/app/nothing")).status).toBe(404);
    expect((await openBrowserFor(await signInPerson()).post("/app/details/nothing", {})).status).toBe(405);
  });

  test("allows 120 requests a minute and then says how long to wait", async () => {
    const pat = openBrowserFor(await signInPerson({}), createServiceCall({ LIMIT_SESSION: "2/60" }));
    await pat.open("/app");
    await pat.open("/app/details");
    const page = await pat.open("/app/account");
    expect([page.status, getPageText(page).includes("Too many attempts")]).toEqual([429, true]);
    expect(getPageText(page)).toMatch(new RegExp(`Wait ${page.headers.get("retry-after")} seconds?,`));
    expect(getPageText(page)).toContain("Reload this page");
  });

  test("stays in the selected language", async () => {
    const pat = openBrowserFor(await signInPerson());
    expect(getPageText(await pat.open("/app?lang=es"))).toContain("Mis consentimientos");
    expect(getPageText(await pat.open("/app/details"))).toContain("Mis datos");
    expect(getPageText(await pat.open("/app/account?lang=fr"))).toContain("Votre adresse courriel");
    expect(getPageText(await pat.open("/app"))).toContain("Mes consentements");
  });

  test.each([
    ["from another site", { "sec-fetch-site": "cross-site" }, "right"],
    ["from a sibling host", { "sec-fetch-site": "same-site" }, "right"],
    ["of another origin, from a browser without Sec-Fetch-Site", { "sec-fetch-site": "", origin: "https://evil.example" }, "right"],
    ["without the token of the session", {}, ""],
    ["with the token of another form", {}, "other"],
    ["with the token of another person's session", {}, "theirs"],
  ])("refuses a form %s", async (_name, headers, token) => {
    const [pat, eve] = [await signInPerson(), await signInPerson()];
    const { share } = await grantShare(pat);
    const path = `/app/shares/${share.id}/stop`;
    const browser = openBrowserFor(pat);
    const right = parseFormFields(await browser.open(path), path).form as string;
    const other = parseFormFields(await browser.open("/app/details"), "/app/details").form as string;
    const ofEve = await openBrowserFor(eve).open("/app/details");
    const otherForm = parseFormFields(ofEve, "/app/details").form as string;
    const form = { right, other, theirs: otherForm, "": "" }[token] as string;
    expect((await browser.post(path, { form }, headers)).status).toBe(403);
    expect(await shareStatus(share.id)).toBe("active");
    if (token === "theirs") expect((await browser.post("/app/details", { form, phone: "" })).status).toBe(403);
  });

  test("refuses a form with too much text on a page that says so", async () => {
    const browser = openBrowserFor(await signInPerson());
    const refused = await browser.post("/app/details", { city: "x".repeat(24 * 1_024) });
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining("This form has too much text")]);
  });

  test("redirects a signed-out form to the sign-in page and changes nothing", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const path = `/app/shares/${share.id}/stop`;
    const page = await openBrowserFor(pat).open(path);
    await pat.post("/v1/auth/logout", {});
    const browser = openBrowserFor(pat);
    expect(describeRedirect(await browser.send(page, path))).toBe("303 /app");
    expect(await shareStatus(share.id)).toBe("active");
  });
});
