// Tests the app's account pages over HTTP: agent tokens, removals, data export, account deletion and reauthentication.
import { env } from "cloudflare:workers";
import { DomUtils } from "htmlparser2";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parseRemovalId } from "../../core/ids.ts";
import { recordRemovalProgress } from "../../workers/operations/consumers/record-removal-progress.ts";
import { callMethod } from "../support/agents.ts";
import {
  createBrowserSession,
  parseFormFields,
  parsePage,
  describeRedirect,
  getPageText,
  type BrowserSession,
} from "../support/browser-session.ts";
import { mockProvider } from "../support/billing.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { findEmailCode, clearCodes, createDifferentCode } from "../support/people.ts";
import { platform } from "../support/scenarios.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, describeOutcome, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { call, createServiceCall, world } from "../support/world.ts";
import type { ReadPage } from "./page.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const openBrowserFor = (
  { headers }: SignedPerson,
  ...more: [Parameters<typeof createBrowserSession>[1]?, Parameters<typeof createBrowserSession>[2]?]
): BrowserSession => createBrowserSession(headers.cookie, ...more);
const listFormActions = ({ document }: ReadPage): readonly string[] =>
  DomUtils.getElementsByTagName("form", document).map(({ attribs }) => attribs.action ?? "");

/** Posts a page's form twice: with another person's session, and from another site. */
const submitAsStranger = async (
  browser: BrowserSession,
  page: ReadPage,
  action: string,
  fields: Record<string, string> = {},
): Promise<number[]> => {
  const stranger = openBrowserFor(await signInPerson({}));
  const sent = { ...parseFormFields(page, action), ...fields };
  const responses = [
    await stranger.post(action, sent),
    await browser.post(action, sent, { "sec-fetch-site": "cross-site" }),
    await browser.post(action, { ...sent, form: "" }),
  ];
  return responses.map(({ status }) => status);
};

describe("agent tokens", () => {
  test("shows a token once, in the response to the form, even if the form is sent again", async () => {
    const browser = openBrowserFor(await signInPerson({}));
    const page = await browser.open("/app/agents");
    expect(getPageText(page)).toContain("No assistants have access");
    const created = parsePage(await browser.send(page, "/app/agents", { name: "My helper" }));
    expect([created.status, created.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const secret = /pat_[\w-]{20,}/.exec(created.text)?.[0] as string;
    expect(getPageText(created)).toContain("Copy your token now. You won’t be able to see it again.");
    const getAgentStatus = async (): Promise<number> => (await callMethod(secret, "tools/list")).status;
    expect(await getAgentStatus()).toBe(200);
    const repeatedPage = parsePage(await browser.send(page, "/app/agents", { name: "My helper" }));
    expect(repeatedPage.text).not.toMatch(/pat_[\w-]{20,}/);
    expect(getPageText(repeatedPage)).toContain("This token was already shown. If you lost it, create a new one.");
    const list = await browser.open("/app/agents");
    expect(list.text).not.toContain(secret);
    expect(getPageText(list).split("My helper").length).toBe(2);
    expect(getPageText(list)).toContain("Not used yet");
    expect(describeRedirect(await browser.send(list, "/app/agents/remove"))).toBe("303 /app/agents");
    const after = getPageText(await browser.open("/app/agents"));
    expect(after).toContain("Assistant disconnected.");
    expect(after).toContain("No assistants have access");
    expect(await getAgentStatus()).toBe(401);
  });

  test("creates one token when the form is submitted several times at the same time", async () => {
    const browser = openBrowserFor(await signInPerson({}));
    const page = await browser.open("/app/agents");
    const responses = await Promise.all(Array.from({ length: 8 }, () => browser.send(page, "/app/agents", { name: "One" })));
    expect(responses.filter(({ text }) => /pat_[\w-]{20,}/.test(text))).toHaveLength(1);
    expect(listFormActions(await browser.open("/app/agents")).filter((action) => action === "/app/agents/remove")).toHaveLength(1);
  });

  test("refuses a name that is too long, an eleventh token, and another person's token ID", async () => {
    const browser = openBrowserFor(await signInPerson({}));
    const page = await browser.open("/app/agents");
    const refused = await browser.send(page, "/app/agents", { name: "x".repeat(81) });
    expect([refused.status, refused.text.includes("Use up to 80 characters, with no line breaks.")]).toEqual([400, true]);
    expect(refused.text).toMatch(/<title>Error: /);
    expect(refused.text).toContain(`value="${"x".repeat(81)}"`);
    for (let count = 0; count < 10; count += 1)
      await browser.send(await browser.open("/app/agents"), "/app/agents", { name: `Nr ${count}` });
    expect(getPageText(await browser.open("/app/agents"))).toContain("Remove one first.");
    const over = await browser.send(page, "/app/agents", { name: "Eleventh" });
    expect([over.status, over.text.includes("Remove one first.")]).toEqual([409, true]);
    const eve = openBrowserFor(await signInPerson({}));
    await eve.send(await eve.open("/app/agents"), "/app/agents", { name: "Hers" });
    const otherTokenId = parseFormFields(await eve.open("/app/agents"), "/app/agents/remove").id as string;
    await browser.send(await browser.open("/app/agents"), "/app/agents/remove", { id: otherTokenId });
    expect(getPageText(await eve.open("/app/agents"))).toContain("Hers");
  });

  test("U5: refuses forms from other sites to create or remove a token", async () => {
    const browser = openBrowserFor(await signInPerson({}));
    const page = await browser.open("/app/agents");
    expect(await submitAsStranger(browser, page, "/app/agents", { name: "Eve" })).toEqual([403, 403, 403]);
    await browser.send(page, "/app/agents", { name: "Mine" });
    const list = await browser.open("/app/agents");
    expect(await submitAsStranger(browser, list, "/app/agents/remove")).toEqual([403, 403, 403]);
    expect(getPageText(await browser.open("/app/agents"))).toContain("Mine");
  });
});

describe("data broker removals", () => {
  const signInOnPlan = async (): Promise<SignedPerson> => {
    const person = await signInPerson({});
    const { id } = (await person.get("/v1/me")).body.data;
    await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?").bind(id).run();
    return person;
  };

  test("explains that removals need a paid plan and requests nothing without it", async () => {
    const person = await signInPerson({});
    const page = await openBrowserFor(person).open("/app/removals");
    expect(getPageText(page)).toContain("No data removals yet");
    expect(getPageText(page)).toContain("Data removal is part of a paid plan.");
    expect(listFormActions(page)).not.toContain("/app/removals");
    const upgrade = "/app/removals/upgrade";
    expect(page.text).toContain(`href="${upgrade}"`);
    mockProvider();
    expect(describeRedirect(await openBrowserFor(person).open(upgrade))).toBe("303 https://checkout.stripe.com/c/pay/cs_test");
    expect((await openBrowserFor(person, undefined, { "sec-fetch-site": "cross-site" }).open(upgrade)).status).toBe(403);
    vi.restoreAllMocks();
    mockProvider(() => Response.error());
    expect((await openBrowserFor(person).open(upgrade)).status).toBe(503);
    vi.restoreAllMocks();
    const none = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "STRIPE_PRICE_BUSINESS", "STRIPE_PRICE_WHITE_GLOVE"];
    const nothingSold = createServiceCall(Object.fromEntries(none.map((name) => [name, ""])));
    const without = await openBrowserFor(person, nothingSold).open("/app/removals");
    expect(getPageText(without)).toContain("This plan isn’t available right now.");
    expect(without.text).not.toContain(upgrade);
    expect(describeRedirect(await openBrowserFor(person, nothingSold).open(upgrade))).toBe("303 /app/removals");
    const { form } = parseFormFields(await openBrowserFor(await signInOnPlan()).open("/app/removals"), "/app/removals") as { form: string };
    expect((await openBrowserFor(person).post("/app/removals", { form, "target.spokeo": "on", authorize: "on" })).status).toBe(403);
    expect((await person.get("/v1/me/removals")).body.data.removals).toEqual([]);
  });

  test("shows the wait in hours, in each language, when the daily limit is reached", async () => {
    const browser = openBrowserFor(await signInOnPlan(), createServiceCall({ LIMIT_REMOVALS: "1/86400" }));
    const requestRemovals = async (language: string) =>
      browser.send(await browser.open(`/app/removals?lang=${language}`), "/app/removals", { "target.spokeo": "on", authorize: "on" });
    vi.useFakeTimers({ toFake: ["Date"] }); // stops the clock, so that all responses contain the same waiting time
    expect((await requestRemovals("en")).status).toBe(303);
    for (const [language, wait] of [
      ["en", "Wait 24 hours, then try again."],
      ["es", "Espere 24 horas e inténtelo de nuevo."],
      ["fr-CA", "Attendez 24 heures, puis réessayez."],
    ] as const) {
      const refused = await requestRemovals(language);
      expect([refused.status, refused.headers.get("retry-after"), getPageText(parsePage(refused)).includes(wait)]).toEqual([
        429,
        "86400",
        true,
      ]);
    }
  });

  test("needs a target and an authorization, and keeps the input when one is missing", async () => {
    const person = await signInOnPlan();
    const browser = openBrowserFor(person);
    const page = await browser.open("/app/removals");
    for (const [fields, message] of [
      [{ authorize: "on", notes: "Patricia" }, "Choose at least one data broker."],
      [{ "target.spokeo": "on", notes: "Patricia" }, "Confirm that we may contact them on your behalf."],
      [{ "target.spokeo": "on", authorize: "on", notes: `Patricia ${"x".repeat(500)}` }, "Use up to 500 characters, with no line breaks."],
    ] as const) {
      const refused = await browser.send(page, "/app/removals", fields);
      expect([refused.status, refused.text.includes(message)]).toEqual([400, true]);
      expect(refused.text).toMatch(/<title>Error: /);
      expect(refused.text).toContain('value="Patricia');
      expect(refused.text.includes('id="target-spokeo" checked')).toBe("target.spokeo" in fields);
      expect(refused.text).not.toContain('id="authorize" checked');
    }
    expect((await person.get("/v1/me/removals")).body.data.removals).toEqual([]);
    expect(await submitAsStranger(browser, page, "/app/removals", { "target.spokeo": "on", authorize: "on" })).toEqual([403, 403, 403]);
    const response = await browser.send(page, "/app/removals", { "target.spokeo": "on", "target.radaris": "on", authorize: "on" });
    expect(describeRedirect(response)).toMatch(/^303 \/app\/removals\/rmv_/);
    const shown = getPageText(await browser.open(response.headers.get("location") as string));
    expect(shown).toContain("Data removal requested. The results will appear here.");
    expect(shown).toContain("You’ll get a signed affidavit once every broker has responded.");
    expect(getPageText(await browser.open("/app/removals"))).toContain("Radaris, Spokeo");
    const [removal] = (await person.get("/v1/me/removals")).body.data.removals;
    expect(removal.targets.map(({ name }: { name: string }) => name)).toEqual(["radaris", "spokeo"]);
  });

  test("offers the affidavit on the page that the email links to, to that person only", async () => {
    const person = await signInOnPlan();
    const browser = openBrowserFor(person);
    const response = await browser.send(await browser.open("/app/removals"), "/app/removals", { "target.spokeo": "on", authorize: "on" });
    const path = response.headers.get("location") as string;
    const early = await browser.open(`${path}/affidavit`);
    expect(describeRedirect(early)).toBe(`303 ${path}`);
    const services = createServicesWith(platform, {});
    const recorded = await recordRemovalProgress(
      services,
      parseRemovalId(path.split("/").at(-1) as string),
      new Map([["spokeo", "completed"]]),
    );
    expect(recorded.ok).toBe(true);
    const page = await browser.open(path);
    expect(getPageText(page)).toContain("Download affidavit (PDF)");
    expect(page.text).toContain(`href="${path}/affidavit"`);
    const file = await call(`${path}/affidavit`, { headers: person.headers });
    expect([file.status, file.headers.get("content-type"), file.text.slice(0, 5)]).toEqual([200, "application/pdf", "%PDF-"]);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="affidavit-rmv_\w+\.pdf"$/);
    const eve = openBrowserFor(await signInPerson({}));
    expect([(await eve.open(path)).status, (await eve.open(`${path}/affidavit`)).status]).toEqual([404, 404]);
    expect(getPageText(await eve.open(path))).toContain("Data removal not found");
  });
});

describe("data export", () => {
  test("downloads the same file as the API, only from a form of this site and at most five times an hour", async () => {
    const person = await signInPerson();
    await grantShare(person);
    await waitUntilSettled();
    const browser = openBrowserFor(person);
    const page = await browser.open("/app/export");
    expect(getPageText(page)).toContain("One file with everything we keep about you:");
    expect((await browser.open("/app/history")).text).not.toContain("You downloaded your data");
    expect(await submitAsStranger(browser, page, "/app/export")).toEqual([403, 403, 403]);
    const file = await browser.send(page, "/app/export");
    expect([file.status, file.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="svc-export-\d{4}-\d\d-\d\d\.json"$/);
    const api = (await person.get("/v1/me/export")).body;
    expect(Object.keys(file.body)).toEqual(Object.keys(api));
    expect(file.body.profile.email).toBe(person.email);
    expect(file.body.shares).toEqual(api.shares);
    await waitUntilSettled();
    expect((await browser.open("/app/history")).text).toContain("You downloaded your data");
    const more = [];
    for (let count = 0; count < 4; count += 1) more.push((await browser.send(page, "/app/export")).status);
    expect(more).toEqual([200, 200, 200, 429]);
  });
});

describe("account deletion", () => {
  test("explains what ends, what is erased and what is kept, requires the confirmation word, and signs out", async () => {
    const person = await signInPerson();
    const { share } = await grantShare(person);
    const browser = openBrowserFor(person);
    const page = await browser.open("/app/delete");
    expect(getPageText(page)).toContain("1 share will stop. The business must stop contacting you by the end of");
    expect(getPageText(page)).toContain("We’ll keep the certificates for the forms you submitted");
    expect(page.text.indexOf("Keep my account")).toBeLessThan(page.text.indexOf('class="btn danger primary">Delete'));
    const refused = await browser.send(page, "/app/delete", { confirm: "yes" });
    expect([refused.status, refused.text.includes("Type the word “delete”.")]).toEqual([400, true]);
    expect(refused.text).toMatch(/<title>Error: /);
    expect(refused.text).toContain('value="yes"');
    expect(await submitAsStranger(browser, page, "/app/delete", { confirm: "delete" })).toEqual([403, 403, 403]);
    expect((await person.get("/v1/me")).status).toBe(200);
    expect(describeRedirect(await browser.send(page, "/app/delete", { confirm: " Delete " }))).toBe("303 /app/deleted");
    expect(browser.jar.has("svc_session")).toBe(false);
    expect(getPageText(await browser.open("/app/deleted"))).toContain("Your account has been deleted");
    expect(describeOutcome(await person.get("/v1/me"))).toBe("401 unauthorized");
    const key = { headers: { authorization: `Bearer ${world.acme.keys.live}` } };
    expect((await call(`/v1/shares/${share.id}`, key)).body.data.status).toBe("revoked");
  });

  test("requires a sign-in within the last five minutes and offers to send an email code", async () => {
    const person = await signInPerson({});
    await clearCodes();
    const browser = openBrowserFor(person);
    const { form } = parseFormFields(await browser.open("/app/delete"), "/app/delete") as { form: string };
    const { id } = (await person.get("/v1/me")).body.data;
    await env.DB.prepare("UPDATE sessions SET verified_at = verified_at - 300000 WHERE user_id = ?").bind(id).run();
    const page = await browser.open("/app/delete");
    expect(getPageText(page)).toContain("confirm it’s you before you delete your account.");
    expect(listFormActions(page)).not.toContain("/app/delete");
    expect(describeRedirect(await browser.post("/app/delete", { form, confirm: "delete" }))).toBe("303 /app/reauthenticate/delete");
    expect((await person.get("/v1/me")).status).toBe(200);
    const step = await browser.open("/app/reauthenticate/delete");
    expect(getPageText(step)).toContain(`We’ll email a 6-digit code to ${person.email}.`);
    expect(describeRedirect(await browser.send(step, "/app/sign-in"))).toBe("303 /app/reauthenticate/delete");
    const code = await findEmailCode(person.email);
    const typing = await browser.open("/app/reauthenticate/delete");
    expect(describeRedirect(await browser.send(typing, "/app/code", { code: createDifferentCode(code) }))).toBe(
      "303 /app/reauthenticate/delete?outcome=failed",
    );
    expect(getPageText(await browser.open("/app/reauthenticate/delete?outcome=failed"))).toContain("Error: That code is incorrect");
    expect(describeRedirect(await browser.send(typing, "/app/code", { code }))).toBe("303 /app/reauthenticate/delete");
    expect(describeRedirect(await browser.open("/app/reauthenticate/delete"))).toBe("303 /app/delete");
    const shown = await browser.open("/app/delete");
    expect(describeRedirect(await browser.send(shown, "/app/delete", { confirm: "delete" }))).toBe("303 /app/deleted");
  });

  test("accepts the confirmation word of the page's language", async () => {
    const browser = openBrowserFor(await signInPerson({}), undefined, { "accept-language": "es" });
    const page = await browser.open("/app/delete");
    expect(page.text).toContain("«eliminar»");
    expect(describeRedirect(await browser.send(page, "/app/delete", { confirm: "eliminar" }))).toBe("303 /app/deleted");
    expect(getPageText(await browser.open("/app/deleted"))).toContain("Se eliminó su cuenta");
  });
});

test("shows the sign-in page at each account URL without a session", async () => {
  for (const path of ["/app/agents", "/app/removals", "/app/export", "/app/delete", "/app/reauthenticate/delete"]) {
    const page = await createBrowserSession().open(path);
    expect([page.status, parseFormFields(page, "/app/sign-in").next]).toEqual([200, path]);
  }
});
