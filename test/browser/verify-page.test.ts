// biome-ignore-all lint/performance/useDomNodeTextContent: these tests are about the displayed text
// Tests the public page of a certificate in a real browser: how a visitor gets there, how the page checks the certificate, whether it is
// accessible, and how it prints.
import { createHash } from "node:crypto";
import type { Page, Response } from "playwright-core";
import decodeQR from "qr/decode.js";
import { beforeAll, describe, expect, test } from "vitest";
import { findIssuesInWindows, hasNoHorizontalScroll, findMissingIcons, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

/** One certificate of each kind, issued once for all read-only tests. */
let plain: string;
let perRecipient: string;
let withdrawn: string;

beforeAll(async () => {
  plain = await issue();
  withdrawn = await issue({ client_id: service.world.acme.clients.sandbox });
  await fetch(`${service.origin}/v1/certs/${withdrawn.split("/").at(-1)}/withdrawals`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${service.world.acme.keys.sandbox}` },
    body: JSON.stringify({ method: "phone", received_at: new Date().toISOString() }),
  });
  perRecipient = await issue({
    entities: ["Acme Solar LLC", "Bright Homes Inc", "Third Party Ltd", "\u0410cme S\u043elar LLC"],
    entities_accepted: ["Acme Solar LLC"],
    entities_rejected: ["Bright Homes Inc", "\u0410cme S\u043elar LLC"],
    disclosure_text:
      "First line.\r\nSecond line with a zero\u200bwidth space.\n\n\u0623\u0648\u0627\u0641\u0642 \u0639\u0644\u0649 \u0627\u0644\u0627\u062a\u0635\u0627\u0644 \u0628\u064a.",
  });
});

const disclosure =
  "I agree that Acme Solar LLC and Bright Homes Inc may call, text or email me about solar quotes. Consent is not a condition of purchase.";

/** Issues a certificate through the API and returns its page URL. */
const issue = async (change: Record<string, unknown> = {}): Promise<string> => {
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: { email: "pat@example.com", full_name: "Pat Sample", phone: "+1 202 555 0123" },
      disclosure_text: disclosure,
      entities: ["Acme Solar LLC", "Bright Homes Inc"],
      purpose: "solar quote follow-up",
      page_url: `${service.demoOrigin}/`,
      ...change,
    }),
  });
  const { data } = (await response.json()) as { data: { verify_url: string } };
  return data.verify_url;
};

/** Selects the fingerprint check after it has finished. */
const verdict = '#checks [data-proof="fingerprint"][data-outcome]';
const readVerdict = (page: Page): Promise<string | null> => page.locator(verdict).getAttribute("data-outcome");
const withOutcome = (outcome: "pass" | "fail"): string =>
  `#checks [data-proof="fingerprint"][data-outcome="${outcome}"][data-fingerprint-check="${outcome === "pass" ? "match" : "mismatch"}"]`;

/** Opens all `details` elements, so that they are checked too. */
const openAllDetails = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
  });

/** Takes screenshots of a certificate for the README: the top of the page in light and dark mode, and the whole page in light mode. */
const takeScreenshots = async (page: Page, colorScheme: "light" | "dark"): Promise<void> => {
  await page.waitForSelector('#verdict[data-verdict="pass"]'); // the verdict passes once the public log contains the certificate
  const clip = { x: 0, y: 0, width: 860, height: 774 }; // uses the aspect ratio of the README's other two screenshots
  const name = colorScheme === "light" ? "readme-certificate" : "readme-certificate-dark";
  await page.screenshot({ path: `docs/images/${name}.png`, fullPage: true, clip });
  if (colorScheme === "light") await page.screenshot({ path: "docs/images/verify-page-light.png", fullPage: true });
};

describe("from the demo site", () => {
  test("a form sent on the demo site leads to a certificate that checks itself", async () => {
    const { page, problems, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/`);
    await page.getByLabel("Name").fill("Pat Sample");
    await page.getByLabel("Email", { exact: true }).fill("pat@example.com");
    await page.getByLabel("Phone").fill("+1 202 555 0123");
    await page.getByLabel(/^I agree that/).check();
    await page.getByRole("button", { name: "Get my estimate" }).click();
    await page.waitForURL("**/thanks");
    await page.getByRole("link", { name: "Open the certificate" }).click();
    await page.waitForSelector(verdict);
    expect(await readVerdict(page)).toBe("pass");
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Acme Solar LLC");
    expect(await page.locator("blockquote").innerText()).toMatch(/^I agree that Acme Solar LLC and Bright Homes Inc may call/);
    expect(await page.getByRole("region", { name: "Who may contact them" }).locator('[data-bound="entity"]').allInnerTexts()).toEqual([
      "Acme Solar LLC",
      "Bright Homes Inc",
    ]);
    expect(await page.getByRole("region", { name: "About this consent" }).innerText()).toContain("p***@e***.com");
    expect(problems).toEqual([]);
    await close();
  });

  test("a form that asks for each recipient leads to a certificate that lists accepted and declined ones", async () => {
    const { page, problems, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/per-recipient`);
    await page.getByLabel("Name").fill("Pat Sample");
    await page.getByLabel("Email", { exact: true }).fill("pat@example.com");
    await page.getByLabel("Bright Homes Inc").check();
    await page.getByRole("button", { name: "Get my estimate" }).click();
    await page.getByRole("link", { name: "Open the certificate" }).click();
    await page.waitForSelector(verdict);
    expect(await readVerdict(page)).toBe("pass");
    const groups = await page.locator("[data-list]").allInnerTexts();
    expect(groups.map((text) => text.trim().replaceAll(/\s+/g, " "))).toEqual([
      "BH Bright Homes Inc Allowed",
      "AS Acme Solar LLC Declined",
    ]);
    expect(problems).toEqual([]);
    await close();
  });

  test("a form sent without consent arrives without a certificate", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/`);
    await page.getByLabel("Name").fill("Pat Sample");
    await page.getByLabel("Email", { exact: true }).fill("pat@example.com");
    await page.getByRole("button", { name: "Get my estimate" }).click();
    await page.waitForURL("**/thanks");
    expect(await page.getByRole("heading", { level: 2 }).first().innerText()).toBe("No certificate was issued");
    expect(await page.getByRole("link", { name: "Open the certificate" }).count()).toBe(0);
    await close();
  });
});

describe("the check in the visitor's browser", () => {
  const openTampered = async (url: string, change: (html: string) => string): Promise<{ verdict: string | null; text: string }> => {
    const { page, close } = await openPage(browser);
    await page.route(url, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: change(await response.text()) });
    });
    await page.goto(url);
    await page.waitForSelector(verdict);
    const result = { verdict: await readVerdict(page), text: await page.locator(verdict).innerText() };
    await close();
    return result;
  };

  test("matches with line breaks, invisible characters and other writing systems, because they are shown exactly", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(perRecipient);
    await page.waitForSelector(verdict);
    expect(await readVerdict(page)).toBe("pass");
    expect(await page.locator("blockquote [data-bound=disclosure]").evaluate((element) => element.textContent)).toContain(
      "line.\r\nSecond",
    );
    await close();
  });

  test("matches an unmodified page", async () => {
    expect((await openTampered(plain, (html) => html)).verdict).toBe("pass");
  });

  test("detects a changed record", async () => {
    const result = await openTampered(plain, (html) =>
      html.replace(/(data-bound="record"[^>]*>[^<]*&quot;purpose&quot;:&quot;)solar/, "$1lunar"),
    );
    expect(result.verdict).toBe("fail");
    expect(result.text).toContain("Doesn’t match. The record’s SHA-256 hash doesn’t match the fingerprint.");
  });

  test("detects a changed fingerprint", async () => {
    const result = await openTampered(plain, (html) =>
      html.replace(
        /(data-bound="fingerprint"[^>]*><span>)(.)/,
        (_all, before: string, digit: string) => before + (digit === "0" ? "1" : "0"),
      ),
    );
    expect(result.verdict).toBe("fail");
  });

  test("detects any member that the page shows differently from the record, and names it", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(perRecipient);
    await page.waitForSelector(withOutcome("pass"));
    const changes: [member: string, selector: string][] = [
      ["business", "h1 [data-bound='business.name']"],
      ["business", "#withdrawal [data-bound='business.name']"],
      ["business", "[data-bound='business.id']"],
      ["cert_id", "#details [data-bound='cert_id']"],
      ["disclosure_hash", "[data-bound='disclosure']"],
      ["disclosure_hash", "[data-bound='disclosure_hash']"],
      ["entities", "[data-list='entities'] [data-bound='entity']"],
      ["entities_accepted", "[data-list='entities_accepted'] [data-bound='entity']"],
      ["entities_rejected", "[data-list='entities_rejected'] [data-bound='entity']"],
      ["origin_domain", ".lede [data-bound='origin_domain']"],
      ["purpose", "[data-bound='purpose']"],
      ["subject_hash", "[data-bound='subject_hash']"],
      ["timestamp", ".timeline [data-bound='timestamp']"],
    ];
    for (const [member, selector] of changes) {
      await page
        .locator(selector)
        .first()
        .evaluate((element) => {
          if (element instanceof HTMLTimeElement) element.dateTime = `${element.dateTime}x`;
          else element.append("x");
        });
      await page.waitForSelector(withOutcome("fail"));
      expect(await page.locator(verdict).innerText(), selector).toMatch(
        new RegExp(`These parts of the page don’t match the record:.*\\b${member}\\b`),
      );
      await page
        .locator(selector)
        .first()
        .evaluate((element) => {
          if (element instanceof HTMLTimeElement) element.dateTime = element.dateTime.slice(0, -1);
          else element.lastChild?.remove();
        });
      await page.waitForSelector(withOutcome("pass"));
    }
    await close();
  });

  test("detects a recipient moved from declined to accepted", async () => {
    const result = await openTampered(perRecipient, (html) =>
      html
        .replace('data-list="entities_accepted"', 'data-list="x"')
        .replace('data-list="entities_rejected"', 'data-list="entities_accepted"'),
    );
    expect(result.verdict).toBe("fail");
    expect(result.text).toContain("entities_accepted, entities_rejected");
  });

  test("checks again when the page changes after loading", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(plain);
    await page.waitForSelector(withOutcome("pass"));
    const record = page.locator("#record");
    const original = await record.textContent();
    await record.evaluate((element) => {
      element.textContent = `${element.textContent} `;
    });
    await page.waitForSelector(withOutcome("fail"));
    await record.evaluate((element, text) => {
      element.textContent = text;
    }, original);
    await page.waitForSelector(withOutcome("pass"));
    await close();
  });

  test("copies the fingerprint without its visual gaps", async () => {
    const { page, close } = await openPage(browser, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(plain);
    await page.getByRole("button", { name: "Copy fingerprint" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^[0-9a-f]{64}$/);
    await close();
  });
});

describe("without scripts", () => {
  test("shows everything, has no dead controls, and explains how to check by hand", async () => {
    const { page, problems, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(perRecipient);
    expect(await page.locator(verdict).count()).toBe(0);
    expect(await page.locator("#verdict").innerText()).toBe("Not checked in this browser");
    expect(await page.locator("#check").innerText()).toContain("verify the certificate yourself as described below.");
    // Counts only buttons outside forms. Forms work without scripts.
    expect(
      await page.locator("button:visible").evaluateAll((buttons) => buttons.filter((one) => one.closest("form") === null).length),
    ).toBe(0);
    expect(await page.getByRole("heading", { level: 2 }).allInnerTexts()).toEqual([
      "What the person saw",
      "Who may contact them",
      "About this consent",
      "History",
      "Website policies",
      "Verification",
      "Did you give this consent?",
    ]);
    await page.getByText("Verify it yourself", { exact: true }).click();
    expect(await page.getByText("sha256sum record.json").isVisible()).toBe(true);
    const record = await page.locator("#record").textContent();
    const fingerprint = await page.locator("#fingerprint").textContent();
    expect(
      createHash("sha256")
        .update(record ?? "")
        .digest("hex"),
    ).toBe(fingerprint);
    expect(problems).toEqual([]);
    await close();
  });
});

describe("languages", () => {
  test.each([
    ["es-MX", "es", "Certificado de consentimiento", "No se ha modificado nada"],
    ["fr-CA", "fr-CA", "Certificat de consentement", "Rien n’a été modifié"],
    ["de-DE", "en", "Certificate of consent", "Record unchanged"],
  ])("to a browser with the locale %s, shows the page in %s", async (locale, language, kind, match) => {
    const { page, close } = await openPage(browser, { locale });
    await page.goto(plain);
    await page.waitForSelector(verdict);
    expect(await page.locator("html").getAttribute("lang")).toBe(language);
    expect(await (await page.locator(".eyebrow").innerText()).trim()).toBe(kind);
    expect(await page.locator(verdict).innerText()).toContain(match);
    expect(await page.locator("blockquote").innerText()).toBe(disclosure);
    await close();
  });

  test("keeps the selected language from page to page", async () => {
    const { page, close } = await openPage(browser, { locale: "en-US" });
    await page.goto(plain);
    await page.getByRole("link", { name: "Español" }).click();
    await page.getByRole("heading", { name: "Lo que vio la persona" }).waitFor();
    await page.getByRole("link", { name: "Cómo se compone un certificado" }).click();
    await page.getByRole("heading", { level: 1, name: "Cómo se compone un certificado" }).waitFor();
    await close();
  });
});

describe("accessibility", () => {
  const wide = { width: 900, height: 900 };
  const windows = [
    { colorScheme: "light", width: 900 },
    { colorScheme: "dark", width: 900 },
    { colorScheme: "light", width: 320 },
  ] as const;
  const getAddress = (kind: "perRecipient" | "withdrawn" | "nothing" | "format" | "demo"): string =>
    ({
      perRecipient,
      withdrawn,
      nothing: `${service.origin}/c/nothing`,
      format: `${service.origin}/c/format`,
      demo: `${service.demoOrigin}/per-recipient`,
    })[kind];

  test("passes axe without horizontal scrolling on every kind of certificate, with all sections open", async () => {
    const { page, close } = await openPage(browser, { viewport: wide });
    for (const kind of ["perRecipient", "withdrawn", "nothing", "format", "demo"] as const) {
      await page.goto(getAddress(kind));
      await openAllDetails(page);
      expect(await findIssuesInWindows(page, windows), kind).toEqual([]);
    }
    await close();
  });

  test("says first that a certificate is a test certificate and withdrawn", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(withdrawn);
    await page.waitForSelector(withOutcome("pass"));
    expect(await page.locator("main > .notice").allInnerTexts()).toEqual([
      "Test certificate\nThis certificate was created with test data. It isn’t evidence of consent.",
      expect.stringMatching(
        /^Consent withdrawn on [^.]+UTC\nEach recipient below must stop contacting this person by the end of \d{1,2} \w+ \d{4} \(UTC\)\. Acme Solar LLC hasn’t yet confirmed that contact has ended\.$/,
      ),
    ]);
    await close();
  });

  test("fits a narrow screen with names and texts without spaces", async () => {
    const endless = "W".repeat(200);
    const { page, close } = await openPage(browser, { viewport: { width: 320, height: 640 } });
    await page.goto(await issue({ entities: [endless], purpose: endless.repeat(2), disclosure_text: endless.repeat(5) }));
    await openAllDetails(page);
    expect(await hasNoHorizontalScroll(page)).toBe(true);
    await close();
  });

  test("shows the keyboard focus at every stop, starting with the skip link", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(plain);
    await page.waitForSelector(verdict);
    const stops: string[] = [];
    for (let stop = 0; stop < 25; stop += 1) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const element = document.activeElement;
        if (element === null || element === document.body) return null;
        const style = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        return {
          name: element.textContent?.trim() ?? "",
          isOutlined: style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2,
          isVisible: box.width > 1 && box.height > 1,
        };
      });
      if (focused === null) break;
      expect(focused).toMatchObject({ isOutlined: true, isVisible: true });
      stops.push(focused.name);
    }
    expect(stops.slice(0, 5)).toEqual(["Skip to content", "svc", "English", "Español", "Français"]);
    expect(stops).toContain("Verify it yourself");
    expect(stops).toContain("Email me a code");
    await close();
  });

  test("collapses a long list of recipients behind one click", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(await issue({ entities: Array.from({ length: 60 }, (_, at) => `Partner company ${at + 1}`) }));
    await page.waitForSelector(withOutcome("pass"));
    const last = page.locator('[data-bound="entity"]').getByText("Partner company 9", { exact: true });
    expect(await last.isVisible()).toBe(false);
    await page.getByText("48 more recipients").click();
    expect(await last.isVisible()).toBe(true);
    await close();
  });
});

describe("the proofs of the page", () => {
  const readOutcome = (page: Page, name: string): Promise<string | null> =>
    page.locator(`[data-proof="${name}"]`).getAttribute("data-outcome");

  /** Issues a certificate, waits until it is anchored, and returns its page URL. */
  const issueAnchored = async (): Promise<string> => {
    const url = await issue();
    for (let attempt = 0; attempt < 40; attempt += 1) {
      await service.runtime.scheduled("* * * * *");
      const response = await fetch(`${service.origin}/v1/certs/${url.split("/").at(-1)}/verify`);
      const { data } = (await response.json()) as { data: { anchor: { status: string } } };
      if (data.anchor.status === "anchored") return url;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    throw new Error("not anchored");
  };

  test("are checked by the verifier (signature and ledger) without any request", async () => {
    const url = await issueAnchored();
    const { page, problems, close } = await openPage(browser);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(url);
    await page.waitForSelector("#verdict[data-verdict]");
    expect(await readOutcome(page, "signature")).toBe("pass");
    expect(await readOutcome(page, "ledger")).toBe("pass");
    expect(await readOutcome(page, "others")).toBe("skipped");
    expect(await page.locator('[data-proof="ledger"]').innerText()).toMatch(/^In the public log\s+Entry [\d,]+, recorded \d/);
    expect(await page.locator("#verdict").innerText()).toBe("All checks passed");
    expect(await page.locator("#check-heading").innerText()).toBe("Record is genuine");
    expect(await readVerdict(page)).toBe("pass");
    expect(requests.every((path) => path.startsWith("/c/cc_") || path.startsWith("/a/"))).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  test("turn from pending to recorded in an open page without a reload, and without another counted view", async () => {
    const { page, problems, close } = await openPage(browser);
    await page.clock.install(); // the page waits five seconds before it checks again
    const url = await issue();
    let isRecorded = false;
    await page.route("**/c/cc_*", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const pending = text
        .replace(
          /&quot;anchor&quot;:\{&quot;status&quot;:&quot;anchored&quot;/,
          "&quot;anchor&quot;:{&quot;status&quot;:&quot;pending&quot;",
        )
        .replace(/<li class="done">(?=((?!<li).)*Recorded in the public log)/s, '<li class="wait" data-pending="">')
        .replace("Recorded in the public log", "Not in the public log yet")
        .replace(/<symbol id="i-file-text".*?<\/symbol>/s, ""); // as if the policies had not been captured yet
      await route.fulfill({ response, body: isRecorded ? text : pending });
    });
    await page.goto(url);
    await page.waitForSelector("#verdict[data-verdict]");
    expect(await readOutcome(page, "ledger")).toBe("incomplete");
    await page.locator("#withdraw-email").fill("pat@exam");
    for (let attempt = 0; attempt < 40; attempt += 1) {
      await service.runtime.scheduled("* * * * *");
      const response = await fetch(`${service.origin}/v1/certs/${url.split("/").at(-1)}/verify`);
      const { data } = (await response.json()) as { data: { anchor: { status: string } } };
      if (data.anchor.status === "anchored") break;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    isRecorded = true;
    await page.clock.runFor(6_000);
    await page.waitForSelector('#checks [data-proof="ledger"][data-outcome="pass"]');
    expect(await readVerdict(page)).toBe("pass");
    expect(await page.locator("#timeline").innerText()).toMatch(/Recorded in the public log[\s\S]*Opened once/);
    expect(await page.locator("#withdraw-email").inputValue()).toBe("pat@exam");
    expect(await findMissingIcons(page)).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });

  test("are reported as incomplete while the anchor is pending", async () => {
    const { page, close } = await openPage(browser);
    await page.route("**/c/cc_*", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const pending = text.replace(
        /&quot;anchor&quot;:\{&quot;status&quot;:&quot;anchored&quot;/,
        "&quot;anchor&quot;:{&quot;status&quot;:&quot;pending&quot;",
      );
      await route.fulfill({ response, body: pending });
    });
    await page.goto(plain);
    await page.waitForSelector("#verdict[data-verdict]");
    expect(await readOutcome(page, "ledger")).toBe("incomplete");
    await close();
  });

  test.each([
    ["the signature", /&quot;value&quot;:&quot;[A-Za-z0-9+/]{8}/, "&quot;value&quot;:&quot;AAAAAAAA", "signature"],
    ["the ledger's checkpoint", /(&quot;signed_root&quot;:&quot;[^&]*\\n)\d+\\n/, "$1999\\n", "ledger"],
  ] as const)("are reported as failed when %s is replaced", async (_, from, replacement, name) => {
    const url = await issueAnchored();
    const { page, close } = await openPage(browser);
    await page.route("**/c/cc_*", async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      expect(text).toMatch(from);
      await route.fulfill({ response, body: text.replace(from, replacement) });
    });
    await page.goto(url);
    await page.waitForSelector("#verdict[data-verdict]");
    expect(await readOutcome(page, name)).toBe("fail");
    expect(await page.locator(`[data-proof="${name}"]`).innerText()).toContain("Doesn’t match");
    expect(await page.locator("#check").innerText()).toMatch(/^Don’t rely on this page\s+Doesn’t match/);
    await close();
  });
});

describe("text from outside", () => {
  test("shows forty hostile names and texts as text: nothing runs, nothing loads, and the page matches", async () => {
    const hostile = Array.from(
      { length: 40 },
      (_, at) => `</bdi></main><script>alert(${at})</script><img src=x onerror=alert(${at})>"'\`{{${at}}}<svg/onload=alert(${at})>`,
    );
    const url = await issue({ entities: hostile, disclosure_text: hostile.join("\r\n"), purpose: hostile[0] as string });
    const { page, problems, close } = await openPage(browser);
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(url);
    await page.waitForSelector(verdict);
    expect(await readVerdict(page)).toBe("pass");
    expect(await page.locator("script").count()).toBe(1);
    expect(await page.locator("main img").count()).toBe(0);
    expect(requests.every((path) => path.startsWith("/c/cc_") || path.startsWith("/a/"))).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });
});

describe("on paper", () => {
  const countPages = (pdf: Buffer): number => pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;

  test.each(["A4", "Letter"] as const)("prints a certificate on one sheet of %s, even if it is withdrawn", async (format) => {
    const { page, close } = await openPage(browser, { colorScheme: "dark" });
    for (const url of [plain, perRecipient, withdrawn]) {
      await page.goto(url);
      await page.waitForSelector("#verdict[data-verdict]");
      expect(countPages(await page.pdf({ format })), url).toBe(1);
    }
    await close();
  });

  test("prints black on white, without controls, and with a scannable QR code of the URL", async () => {
    const { page, close } = await openPage(browser, { colorScheme: "dark" });
    await page.goto(plain);
    await page.waitForSelector(verdict);
    expect(await page.locator(".qr").isVisible()).toBe(false);
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).color)).toBe("rgb(20, 23, 28)");
    for (const left of [".langs", ".copy", ".jump", "#check > footer", "#by-hand", "#withdrawal"]) {
      expect(await page.locator(left).first().isVisible(), left).toBe(false);
    }
    expect(await page.locator(".printed .url").innerText()).toBe(plain);
    // Renders the QR code to pixels, then decodes it as a camera would.
    const painted = await page.locator(".qr").evaluate(async (svg) => {
      const side = 400;
      const copy = svg.cloneNode(true) as SVGElement;
      copy.setAttribute("width", String(side));
      copy.setAttribute("height", String(side));
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = side;
      canvas.height = side;
      const context = canvas.getContext("2d") as CanvasRenderingContext2D;
      context.fillStyle = "white";
      context.fillRect(0, 0, side, side);
      context.drawImage(image, 0, 0);
      // Returns one string, because the driver would serialize each of the 640,000 array elements separately.
      return { side, data: Array.from(context.getImageData(0, 0, side, side).data, (byte) => String.fromCharCode(byte)).join("") };
    });
    const data = Uint8ClampedArray.from(painted.data, (char) => char.charCodeAt(0));
    expect(decodeQR({ width: painted.side, height: painted.side, data })).toBe(plain);
    await close();
  });
});

describe("page assets", () => {
  test("styles, scripts and icon come from this origin with their media type, and are cached forever", async () => {
    const { page, close } = await openPage(browser);
    const files: Response[] = [];
    page.on("response", (response) => {
      if (new URL(response.url()).pathname.startsWith("/a/")) files.push(response);
    });
    await page.goto(plain);
    await page.waitForSelector(verdict);
    const seen = await Promise.all(
      files.map(async (response) => {
        const headers = await response.allHeaders();
        return [response.status(), headers["content-type"], headers["cache-control"], headers["x-content-type-options"]].join(" | ");
      }),
    );
    const icon = await fetch(new URL((await page.locator("link[rel=icon]").getAttribute("href")) as string, service.origin));
    const ofIcon = ["content-type", "cache-control", "x-content-type-options"].map((name) => icon.headers.get(name));
    seen.push([icon.status, ...ofIcon].join(" | "));
    const headers = "public, max-age=31536000, immutable | nosniff";
    expect([...new Set(seen)].sort()).toEqual(
      [
        `200 | image/svg+xml | ${headers}`,
        `200 | text/css; charset=utf-8 | ${headers}`,
        `200 | text/javascript; charset=utf-8 | ${headers}`,
      ].sort(),
    );
    await close();
  });

  test.each(["/v1/svc.js", "/v1/svc-share.js", "/svc-verify.mjs", "/favicon.ico"])(
    "return 405 with Allow when %s is posted to",
    async (path) => {
      const response = await fetch(`${service.origin}${path}`, { method: "POST", body: "{}" });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    },
  );
});

describe("the colors of the page", () => {
  test("follow the color scheme of the browser", async () => {
    const measureBrightness = async (colorScheme: "light" | "dark"): Promise<number> => {
      const { page, close } = await openPage(browser, { colorScheme, viewport: { width: 860, height: 900 } });
      await page.goto(plain);
      await page.waitForSelector(verdict);
      if (process.env.UPDATE_SCREENSHOTS === "1") await takeScreenshots(page, colorScheme);
      const ground = await page.evaluate(() => {
        const paint = new OffscreenCanvas(1, 1).getContext("2d");
        if (paint === null) throw new Error("no canvas");
        paint.fillStyle = getComputedStyle(document.documentElement).backgroundColor; // accepts any color notation used in the stylesheet
        paint.fillRect(0, 0, 1, 1);
        return [...paint.getImageData(0, 0, 1, 1).data.slice(0, 3)];
      });
      await close();
      return Math.round(ground.reduce((sum, part) => sum + part, 0) / 3);
    };
    expect(await measureBrightness("light")).toBeGreaterThan(200);
    expect(await measureBrightness("dark")).toBeLessThan(60);
  });
});
