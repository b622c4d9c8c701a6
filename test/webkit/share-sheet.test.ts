// The WebKit part of the browser matrix, run by `npm run browsers`. It covers the same flow as test/browser/share-sheet.test.ts. WebKitGTK
// has no passkeys and its driver cannot mock responses, so this file leaves out the rows of the matrix that need them.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLocalService, type LocalService } from "../support/local-service.ts";
import { signInToOrigin } from "../support/local-session.ts";
import { findNewestCode } from "../support/email-code.ts";
import { shareButtonSelector } from "../support/share-visit.ts";
import { startWebKit, waitFor, type WebKitWindow, type WebKit, type WebKitDriver } from "../support/webkit.ts";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
let service: LocalService;
let driver: WebKitDriver;
let person: WebKit;
beforeAll(async () => {
  [service, driver] = await Promise.all([startLocalService({ DEV_RATE_SCALE: "1000" }), startWebKit()]);
});
afterAll(async () => {
  driver.stop();
  await service.stop();
});

/** Runs a test in its own browser. */
const withBrowser = (work: (page: WebKitWindow) => Promise<void>) => async () => {
  person = await driver.open();
  try {
    await work(person.first);
  } finally {
    await person.close();
  }
};

const waitForCode = (email: string): Promise<string> =>
  waitFor("code", async () => {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    return findNewestCode(((await response.json()) as { messages: { text: string }[] }).messages);
  });

/**
 * Waits until the sheet accepts clicks. It ignores clicks for half a second after its window appears, because they may have been meant for
 * the page below.
 */
const waitUntilSettled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600));

/** Waits longer than any timer on the page: its polling, and its one-second wait for a response. */
const waitUntilIdle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));

const createEmailAddress = (): string => `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
const share = ".answer [formaction]";
const next = ".answer button.primary";
let cookie = "";

/** Signs in a person with saved details and returns the email address. */
const signInPerson = async (page: WebKitWindow): Promise<string> => {
  const email = createEmailAddress();
  cookie = await signInToOrigin(service.origin, email, "consumer");
  const body = JSON.stringify({ email, first_name: "Pat", last_name: "Example" });
  const headers = { "content-type": "application/json", cookie };
  expect((await fetch(`${service.origin}/v1/me/fields`, { method: "PUT", headers, body })).status).toBe(200);
  await page.goTo(`${service.origin}/docs`);
  const [name, value] = cookie.split("=") as [string, string];
  await person.addCookie(name, value);
  return email;
};

const countOwnShares = async (): Promise<number> => {
  const response = await fetch(`${service.origin}/v1/me/shares`, { headers: { cookie } });
  return ((await response.json()) as { data: { count: number } }).data.count;
};

/** Signs in as a new person, continues to the decision, and calls `look` on each step. */
const continueToDecision = async (sheet: WebKitWindow, look: () => Promise<void> = async () => {}): Promise<string> => {
  const email = createEmailAddress();
  await sheet.see("#sheet-email");
  await look();
  await waitUntilSettled();
  await sheet.type("#sheet-email", email);
  await sheet.click(next);
  await sheet.see("#sheet-code");
  await look();
  await sheet.type("#sheet-code", await waitForCode(email));
  await sheet.click(next);
  await sheet.see("#field-first_name");
  await look();
  await sheet.type("#field-first_name", "Pat");
  await sheet.type("#field-last_name", "Example");
  await waitUntilSettled();
  return email;
};

const openSheet = (page: WebKitWindow): Promise<WebKitWindow> => person.opened(() => page.click(shareButtonSelector));

const waitUntilClosed = (sheet: WebKitWindow): Promise<boolean> => waitFor("end of the sheet", async () => !(await sheet.isOpen()));

const decideIn = async (sheet: WebKitWindow): Promise<void> => {
  await sheet.see(share);
  await waitUntilSettled();
  await sheet.click(share);
  await waitUntilClosed(sheet);
};

const waitForFilledForm = (page: WebKitWindow): Promise<Record<string, string>> =>
  waitFor("share in the form", async () => {
    const values = await page.run<Record<string, string> | null>(
      "return document.forms[0] ? Object.fromEntries(new FormData(document.forms[0])) : null",
    );
    return values?.svc_share_id === undefined ? undefined : values;
  });

/** Expects the filled-in form and an active share that the business can read. */
const expectShared = async (page: WebKitWindow, email: string): Promise<void> => {
  const values = await waitForFilledForm(page);
  expect(Object.values(values)).toContain(email);
  const headers = { authorization: `Bearer ${service.world.acme.keys.live}` };
  const response = await fetch(`${service.origin}/v1/shares/${values.svc_share_id}`, { headers });
  expect((await response.json()) as object).toMatchObject({ data: { status: "active", scope_groups: ["email", "name"] } });
};

/** Records events on the page until it is reloaded. */
const recordEvents = (page: WebKitWindow): Promise<void> =>
  page.run(`window.heard = []; for (const type of ["svc:share", "svc:share-error", "svc:closed"])
    document.addEventListener(type, ({ detail }) => heard.push(type + (detail && detail.code ? " " + detail.code : "")))`);
const readEvents = (page: WebKitWindow): Promise<string[]> => page.run("return window.heard");

const policies = ["none", "same-origin", "same-origin-allow-popups", "noopener-allow-popups"];

test.each(policies.map((policy, row) => [row * 3 + 1, policy] as const))(
  "B%i: fills the form (page's opener policy %s, sign-in fresh)",
  (_row, policy) =>
    withBrowser(async (page) => {
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      const sheet = await openSheet(page);
      const email = await continueToDecision(sheet);
      expect(await sheet.run("return window.opener === null")).toBe(policy === "same-origin");
      await decideIn(sheet);
      await expectShared(page, email);
      expect(await person.count()).toBe(1);
    })(),
);

test.each(policies.map((policy, row) => [row * 3 + 2, policy] as const))(
  "B%i: fills the form with exactly one share (page's opener policy %s, sign-in code)",
  (_row, policy) =>
    withBrowser(async (page) => {
      const email = await signInPerson(page);
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      await decideIn(await openSheet(page));
      await expectShared(page, email);
      expect(await countOwnShares()).toBe(1);
    })(),
);

test(
  "offers no passkey in a browser that does not support them",
  withBrowser(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    expect(await sheet.run("return 'PublicKeyCredential' in window")).toBe(false);
    expect(await sheet.run("return [...document.querySelectorAll('[data-offers-passkey]')].map((offer) => offer.hidden)")).toEqual([true]);
  }),
);

test(
  "B14: continues in the page's own tab when the page severs its windows and sends no referrer",
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share?opener=same-origin&referrer=none`);
    const lost = await openSheet(page);
    expect(await lost.see("[data-unconfirmed] h1")).toContain("We can’t confirm this request");
    await waitFor("new label on the button", async () => (await page.see(shareButtonSelector)).includes("or continue here"));
    await page.click(shareButtonSelector);
    await page.see(share);
    await waitUntilSettled();
    await page.click(share);
    await expectShared(page, email);
    expect(await countOwnShares()).toBe(1);
  }),
);

test.each([
  ["Open in a new tab", "none"],
  ["Open in a new tab", "same-origin"],
  ["Continue here", "none"],
  ["Continue here", "same-origin"],
])("B15: leads to the sheet and back by “%s” when no window opens (opener policy %s)", (linkText, policy) =>
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    await page.see(shareButtonSelector);
    await page.run("window.open = () => null");
    await page.click(shareButtonSelector);
    await page.see(".svc-share a");
    const link = `.svc-share a[target="${linkText === "Continue here" ? "_self" : "_blank"}"]`;
    expect(await page.see(link)).toBe(linkText);
    const sheet = linkText === "Continue here" ? page : await person.opened(() => page.click(link));
    if (sheet === page) await page.click(link);
    await sheet.see(share);
    await waitUntilSettled();
    await sheet.click(share);
    await expectShared(page, email);
    expect(await countOwnShares()).toBe(1);
  })(),
);

test(
  "B16, B18: fills the form in the same tab, and Back shows that the decision was made",
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await page.run("window.open = (url) => { location.href = url; return null }");
    await page.click(shareButtonSelector);
    await page.see(share);
    await waitUntilSettled();
    await page.click(share);
    await expectShared(page, email);
    expect((await page.url()).search).toBe("");
    await page.back();
    await waitFor("page that says so", async () => (await page.see("h1, h2")) === "You already responded");
    expect(await countOwnShares()).toBe(1);
  }),
);

test.each(["none", "same-origin"])(
  "B17: fills the form after the page was reloaded while the sheet was open (opener policy %s)",
  (policy) =>
    withBrowser(async (page) => {
      const email = await signInPerson(page);
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      const sheet = await openSheet(page);
      await sheet.see(share);
      await page.reload();
      await page.see(shareButtonSelector);
      await decideIn(sheet);
      await expectShared(page, email);
      expect(await countOwnShares()).toBe(1);
    })(),
);

test(
  "B18: continues after the sheet was reloaded and left with Back at the code step",
  withBrowser(async (page) => {
    const email = createEmailAddress();
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    await waitUntilSettled();
    await sheet.type("#sheet-email", email);
    await sheet.click(next);
    await sheet.see("#sheet-code");
    await sheet.reload();
    await sheet.see("#sheet-code");
    await sheet.back();
    await sheet.type("#sheet-code", await waitForCode(email));
    await sheet.click(next);
    await sheet.type("#field-first_name", "Pat");
    await sheet.type("#field-last_name", "Example");
    await sheet.click(next);
    await sheet.see(share);
    await sheet.reload();
    await decideIn(sheet);
    await expectShared(page, email);
  }),
);

test.each(["none", "same-origin"])(
  "B19: opens one window and makes one share when the button and the decision are double-clicked (opener policy %s)",
  (policy) =>
    withBrowser(async (page) => {
      const email = await signInPerson(page);
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      const sheet = await person.opened(() => page.click(shareButtonSelector, 2));
      await sheet.see(share);
      expect(await person.count()).toBe(2);
      await waitUntilSettled();
      await sheet.click(share, 2);
      await waitUntilClosed(sheet);
      await expectShared(page, email);
      expect(await countOwnShares()).toBe(1);
    })(),
);

test.each(["none", "same-origin"])("B20: answers each of two tabs with its own share (opener policy %s)", (policy) =>
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    const other = await person.newWindow();
    await other.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    const sheets = [await openSheet(page), await openSheet(other)] as const;
    await decideIn(sheets[1]);
    await expectShared(other, email);
    expect(await page.run("return document.querySelector('[name=svc_share_id]')")).toBeNull();
    await decideIn(sheets[0]);
    await expectShared(page, email);
    expect((await waitForFilledForm(page)).svc_share_id).not.toBe((await waitForFilledForm(other)).svc_share_id);
  })(),
);

test.each(["“Not now”", "closing the window"])("B22: ends the request by %s, and reports it to the page once", (how) =>
  withBrowser(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await recordEvents(page);
    const sheet = await openSheet(page);
    await sheet.see("[data-not-now]");
    await waitFor("sheet that is loaded", () => sheet.run<boolean>("return document.readyState === 'complete'"));
    if (how === "closing the window") await sheet.close();
    else await sheet.click("[data-not-now]");
    await waitFor("svc:closed event", async () => (await readEvents(page)).length > 0);
    await waitUntilIdle();
    expect(await readEvents(page)).toEqual(["svc:closed"]);
    expect(await person.count()).toBe(1);
  })(),
);

test(
  "B23: refuses a decision after eleven minutes, and starts again at the same URL",
  withBrowser(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    const email = await continueToDecision(sheet);
    await service.later(11 * 60_000);
    await sheet.click(share);
    await waitFor("sheet that is over", async () => (await sheet.see("h1, h2")).includes("This took longer than 10 minutes"));
    await sheet.click(next);
    await decideIn(sheet);
    await expectShared(page, email);
  }),
);

test.each([
  ["another state", "{ ...answer, state: 'x'.repeat(43) }"],
  ["another type", "{ ...answer, type: 'svc:done' }"],
  ["not an object", "'svc:code'"],
])("B25: ignores a message that is not the sheet's answer: %s", (_name, forged) =>
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await recordEvents(page);
    const sheet = await openSheet(page);
    await sheet.see(share);
    const state = (await sheet.url()).searchParams.get("state");
    await sheet.run(
      `const answer = { type: 'svc:code', state: arguments[0], code: 'ac_00stranger' }; opener.postMessage(${forged}, '*')`,
      state,
    );
    await page.run("postMessage({ type: 'svc:code', state: arguments[0], code: 'ac_00stranger' }, '*')", state);
    await waitUntilIdle();
    expect(await readEvents(page)).toEqual([]);
    await decideIn(sheet);
    await expectShared(page, email);
  })(),
);

test.each([
  ["names the host", ""],
  ["trusts by nonce", "?trust=nonce"],
])("B29: fills the form on a page whose policy %s, with Trusted Types and without inline styles", (_name, query) =>
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share${query}`);
    await decideIn(await openSheet(page));
    await expectShared(page, email);
  })(),
);

test.each(["none", "same-origin"])("B30: fills the form when storage is disabled (opener policy %s)", (policy) =>
  withBrowser(async (page) => {
    const email = await signInPerson(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    await page.see(shareButtonSelector);
    await page.run("Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })");
    await decideIn(await openSheet(page));
    await expectShared(page, email);
  })(),
);

test(
  "B31: passes axe on every step, and fits the narrowest window of MiniBrowser",
  withBrowser(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    await sheet.resize(320, 700);
    let checkedSteps = 0;
    await continueToDecision(sheet, async () => {
      await sheet.run(axe);
      expect(await sheet.run("return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))")).toEqual(
        [],
      );
      expect(await sheet.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
      checkedSteps += 1;
    });
    expect(checkedSteps).toBe(4);
  }),
);
