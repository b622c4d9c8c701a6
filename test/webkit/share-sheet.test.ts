// The matrix of browsers in WebKit, by `npm run browsers`: the whole flow on the whole service, as test/browser/share-sheet.test.ts has it for
// the others. WebKitGTK knows no passkeys and no answers that a test makes up, so rows that need these are not here.
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

/** Runs with a browser of its own. */
const visiting = (work: (page: WebKitWindow) => Promise<void>) => async () => {
  person = await driver.open();
  try {
    await work(person.first);
  } finally {
    await person.close();
  }
};

const codeFor = (email: string): Promise<string> =>
  waitFor("code", async () => {
    const answer = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    return findNewestCode(((await answer.json()) as { messages: { text: string }[] }).messages);
  });

/** A press within half a second of the window coming up is taken for one that was meant for the page below. */
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 600));

/** Longer than everything the page might still do by itself: its poll and the second it gives an answer. */
const quietly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));

const freshAddress = (): string => `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
const share = ".decision button.primary";
let cookie = "";

/** Somebody with details, and a session in this browser. */
const signedIn = async (page: WebKitWindow): Promise<string> => {
  const email = freshAddress();
  cookie = await signInToOrigin(service.origin, email, "consumer");
  const body = JSON.stringify({ email, first_name: "Pat", last_name: "Example" });
  const headers = { "content-type": "application/json", cookie };
  expect((await fetch(`${service.origin}/v1/me/fields`, { method: "PUT", headers, body })).status).toBe(200);
  await page.goTo(`${service.origin}/docs`);
  const [name, value] = cookie.split("=") as [string, string];
  await person.addCookie(name, value);
  return email;
};

const ownShares = async (): Promise<number> => {
  const answer = await fetch(`${service.origin}/v1/me/shares`, { headers: { cookie } });
  return ((await answer.json()) as { data: { count: number } }).data.count;
};

/** From the sheet's first step to its decision, with a look at each. */
const upToDecision = async (sheet: WebKitWindow, look: () => Promise<void> = async () => {}): Promise<string> => {
  const email = freshAddress();
  await sheet.see("#sheet-email");
  await look();
  await settle();
  await sheet.type("#sheet-email", email);
  await sheet.click("button.primary");
  await sheet.see("#sheet-code");
  await look();
  await sheet.type("#sheet-code", await codeFor(email));
  await sheet.click("button.primary");
  await sheet.see("#field-first_name");
  await look();
  await sheet.type("#field-first_name", "Pat");
  await sheet.type("#field-last_name", "Example");
  await sheet.click("button.primary");
  await sheet.see(".decision");
  await look();
  await settle();
  return email;
};

const openSheet = (page: WebKitWindow): Promise<WebKitWindow> => person.opened(() => page.click(shareButtonSelector));

const gone = (sheet: WebKitWindow): Promise<boolean> => waitFor("end of the sheet", async () => !(await sheet.isOpen()));

const decideIn = async (sheet: WebKitWindow): Promise<void> => {
  await sheet.see(".decision");
  await settle();
  await sheet.click(share);
  await gone(sheet);
};

const filled = (page: WebKitWindow): Promise<Record<string, string>> =>
  waitFor("share in the form", async () => {
    const values = await page.run<Record<string, string> | null>(
      "return document.forms[0] ? Object.fromEntries(new FormData(document.forms[0])) : null",
    );
    return values?.svc_share_id === undefined ? undefined : values;
  });

/** The form is filled, there is one share, and it is what the business can read. */
const expectShared = async (page: WebKitWindow, email: string): Promise<void> => {
  const values = await filled(page);
  expect(Object.values(values)).toContain(email);
  const headers = { authorization: `Bearer ${service.world.acme.keys.live}` };
  const answer = await fetch(`${service.origin}/v1/shares/${values.svc_share_id}`, { headers });
  expect((await answer.json()) as object).toMatchObject({ data: { status: "active", scope_groups: ["email", "name"] } });
};

/** What this loading of the page hears. */
const listen = (page: WebKitWindow): Promise<void> =>
  page.run(`window.heard = []; for (const type of ["svc:share", "svc:share-error", "svc:closed"])
    document.addEventListener(type, ({ detail }) => heard.push(type + (detail && detail.code ? " " + detail.code : "")))`);
const heard = (page: WebKitWindow): Promise<string[]> => page.run("return window.heard");

const policies = ["none", "same-origin", "same-origin-allow-popups", "noopener-allow-popups"];

test.each(policies.map((policy, row) => [row * 3 + 1, policy] as const))(
  "B%i: the page's opener policy %s, signing in fresh",
  (_row, policy) =>
    visiting(async (page) => {
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      const sheet = await openSheet(page);
      const email = await upToDecision(sheet);
      expect(await sheet.run("return window.opener === null")).toBe(policy === "same-origin");
      await decideIn(sheet);
      await expectShared(page, email);
      expect(await person.count()).toBe(1);
    })(),
);

test.each(policies.map((policy, row) => [row * 3 + 2, policy] as const))(
  "B%i: the page's opener policy %s, signing in code",
  (_row, policy) =>
    visiting(async (page) => {
      const email = await signedIn(page);
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      await decideIn(await openSheet(page));
      await expectShared(page, email);
      expect(await ownShares()).toBe(1);
    })(),
);

test(
  "a browser without passkeys is offered none",
  visiting(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    expect(await sheet.run("return 'PublicKeyCredential' in window")).toBe(false);
    expect(await sheet.run("return [...document.querySelectorAll('[data-offers-passkey]')].map((offer) => offer.hidden)")).toEqual([true]);
  }),
);

test(
  "B14: a page that cuts its windows off and sends no referrer is asked again in its own tab",
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share?opener=same-origin&referrer=none`);
    const lost = await openSheet(page);
    expect(await lost.see("[data-lost] h2")).toContain("This window has lost touch with");
    await waitFor("other words on the button", async () => (await page.see(shareButtonSelector)).includes("or continue here"));
    await page.click(shareButtonSelector);
    await page.see(".decision");
    await settle();
    await page.click(share);
    await expectShared(page, email);
    expect(await ownShares()).toBe(1);
  }),
);

test.each([
  ["Open in a new tab", "none"],
  ["Open in a new tab", "same-origin"],
  ["Continue here", "none"],
  ["Continue here", "same-origin"],
])("B15: where no window opens, “%s” leads to the sheet and back, the page's opener policy being %s", (words, policy) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    await page.see(shareButtonSelector);
    await page.run("window.open = () => null");
    await page.click(shareButtonSelector);
    await page.see(".svc-share a");
    const link = `.svc-share a[target="${words === "Continue here" ? "_self" : "_blank"}"]`;
    expect(await page.see(link)).toBe(words);
    const sheet = words === "Continue here" ? page : await person.opened(() => page.click(link));
    if (sheet === page) await page.click(link);
    await sheet.see(".decision");
    await settle();
    await sheet.click(share);
    await expectShared(page, email);
    expect(await ownShares()).toBe(1);
  })(),
);

test(
  "B16, B18: in the same tab the form is filled, and Back shows a decision that was made, not one to make",
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await page.run("window.open = (url) => { location.href = url; return null }");
    await page.click(shareButtonSelector);
    await page.see(".decision");
    await settle();
    await page.click(share);
    await expectShared(page, email);
    expect((await page.url()).search).toBe("");
    await page.back();
    await waitFor("page that says so", async () => (await page.see("h1, h2")) === "You have already decided this");
    expect(await ownShares()).toBe(1);
  }),
);

test.each(["none", "same-origin"])("B17: the page is loaded again while the sheet is open, its opener policy being %s", (policy) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    const sheet = await openSheet(page);
    await sheet.see(".decision");
    await page.reload();
    await page.see(shareButtonSelector);
    await decideIn(sheet);
    await expectShared(page, email);
    expect(await ownShares()).toBe(1);
  })(),
);

test(
  "B18: the sheet is loaded again and left by Back at the code, and goes on from there",
  visiting(async (page) => {
    const email = freshAddress();
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    await settle();
    await sheet.type("#sheet-email", email);
    await sheet.click("button.primary");
    await sheet.see("#sheet-code");
    await sheet.reload();
    await sheet.see("#sheet-code");
    await sheet.back();
    await sheet.type("#sheet-code", await codeFor(email));
    await sheet.click("button.primary");
    await sheet.type("#field-first_name", "Pat");
    await sheet.type("#field-last_name", "Example");
    await sheet.click("button.primary");
    await sheet.see(".decision");
    await sheet.reload();
    await decideIn(sheet);
    await expectShared(page, email);
  }),
);

test.each(["none", "same-origin"])(
  "B19: double clicks on the button and on the decision are one window and one share, the opener policy being %s",
  (policy) =>
    visiting(async (page) => {
      const email = await signedIn(page);
      await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
      const sheet = await person.opened(() => page.click(shareButtonSelector, 2));
      await sheet.see(".decision");
      expect(await person.count()).toBe(2);
      await settle();
      await sheet.click(share, 2);
      await gone(sheet);
      await expectShared(page, email);
      expect(await ownShares()).toBe(1);
    })(),
);

test.each(["none", "same-origin"])("B20: two tabs, two requests: no answer crosses, the opener policy being %s", (policy) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    const other = await person.newWindow();
    await other.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    const sheets = [await openSheet(page), await openSheet(other)] as const;
    await decideIn(sheets[1]);
    await expectShared(other, email);
    expect(await page.run("return document.querySelector('[name=svc_share_id]')")).toBeNull();
    await decideIn(sheets[0]);
    await expectShared(page, email);
    expect((await filled(page)).svc_share_id).not.toBe((await filled(other)).svc_share_id);
  })(),
);

test.each(["“Not now”", "closing the window"])("B22: %s ends the request, tells the page so once, and leaves nothing", (how) =>
  visiting(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await listen(page);
    const sheet = await openSheet(page);
    await sheet.see("[data-not-now]");
    await waitFor("sheet that is loaded", () => sheet.run<boolean>("return document.readyState === 'complete'"));
    if (how === "closing the window") await sheet.close();
    else await sheet.click("[data-not-now]");
    await waitFor("word of the end", async () => (await heard(page)).length > 0);
    await quietly();
    expect(await heard(page)).toEqual(["svc:closed"]);
    expect(await person.count()).toBe(1);
  })(),
);

test(
  "B23: a sheet that was left alone for eleven minutes decides nothing, and begins again at its own address",
  visiting(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    const email = await upToDecision(sheet);
    await service.later(11 * 60_000);
    await sheet.click(share);
    await waitFor("sheet that is over", async () => (await sheet.see("h1, h2")).includes("This took longer than 10 minutes"));
    await sheet.click("button.primary");
    await decideIn(sheet);
    await expectShared(page, email);
  }),
);

test.each([
  ["another state", "{ ...answer, state: 'x'.repeat(43) }"],
  ["another type", "{ ...answer, type: 'svc:done' }"],
  ["not an object", "'svc:code'"],
])("B25: a message that is not the answer is ignored: %s", (_name, forged) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share`);
    await page.see(shareButtonSelector);
    await listen(page);
    const sheet = await openSheet(page);
    await sheet.see(".decision");
    const state = (await sheet.url()).searchParams.get("state");
    await sheet.run(
      `const answer = { type: 'svc:code', state: arguments[0], code: 'ac_00stranger' }; opener.postMessage(${forged}, '*')`,
      state,
    );
    await page.run("postMessage({ type: 'svc:code', state: arguments[0], code: 'ac_00stranger' }, '*')", state);
    await quietly();
    expect(await heard(page)).toEqual([]);
    await decideIn(sheet);
    await expectShared(page, email);
  })(),
);

test.each([
  ["names the host", ""],
  ["trusts by nonce", "?trust=nonce"],
])("B29: the form is filled on a page whose policy %s, with Trusted Types and without inline styles", (_name, query) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share${query}`);
    await decideIn(await openSheet(page));
    await expectShared(page, email);
  })(),
);

test.each(["none", "same-origin"])("B30: where storage is switched off the form is filled, the opener policy being %s", (policy) =>
  visiting(async (page) => {
    const email = await signedIn(page);
    await page.goTo(`${service.demoOrigin}/share?opener=${policy}`);
    await page.see(shareButtonSelector);
    await page.run("Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError') } })");
    await decideIn(await openSheet(page));
    await expectShared(page, email);
  })(),
);

test(
  "B31: every step passes axe and fits the narrowest window that MiniBrowser makes",
  visiting(async (page) => {
    await page.goTo(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.see("#sheet-email");
    await sheet.resize(320, 700);
    let looks = 0;
    await upToDecision(sheet, async () => {
      await sheet.run(axe);
      expect(await sheet.run("return axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))")).toEqual(
        [],
      );
      expect(await sheet.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
      looks += 1;
    });
    expect(looks).toBe(4);
  }),
);
