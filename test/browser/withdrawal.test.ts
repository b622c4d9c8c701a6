// Tests withdrawals in a real browser: with and without scripts, by code and by link, with the keyboard, in three languages, and in wide
// and narrow windows.
import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { BrowserContextOptions, Page } from "playwright-core";
import {
  findAccessibilityIssues,
  findIssuesInWindows,
  hasNoHorizontalScroll,
  openPage,
  type Appearance,
  type OpenPage,
} from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

interface IssuedLinks {
  readonly certId: string;
  readonly email: string;
  readonly verifyUrl: string;
  readonly manageUrl: string;
}

let people = 0;
const issue = async (fields?: Record<string, string>, entities = ["Acme Solar LLC"]): Promise<IssuedLinks> => {
  people += 1;
  const email = `pat.${people}@example.com`;
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: fields ?? { email, full_name: "Pat Sample" },
      disclosure_text: "I agree that Acme Solar LLC may call me about solar quotes.",
      entities,
      purpose: "solar quote follow-up",
      page_url: `${service.demoOrigin}/`,
    }),
  });
  const { data } = (await response.json()) as { data: { cert_id: string; verify_url: string; manage_url: string } };
  return { certId: data.cert_id, email, verifyUrl: data.verify_url, manageUrl: data.manage_url };
};

const getStatus = async (certId: string): Promise<string> =>
  ((await (await fetch(`${service.origin}/v1/certs/${certId}/verify`)).json()) as { data: { status: string } }).data.status;

/**
 * Returns the newest email with a code to this address, from /dev/mail. The service sends the email after its response, so this waits for
 * it.
 */
const waitForMail = async (email: string): Promise<string> => {
  for (;;) {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await response.json()) as { messages: { text: string }[] };
    const mail = messages.find(({ text }) => /^\d{6}$/m.test(text));
    if (mail !== undefined) return mail.text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const findCode = (email: string): Promise<string> => findEmailCode(service.origin, email);
const toWrongCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, "0");

const saveScreenshot = async (page: Page, name: string): Promise<void> => {
  if (process.env.UPDATE_SCREENSHOTS !== "1") return;
  mkdirSync("docs/images", { recursive: true });
  await page.screenshot({ path: `docs/images/${name}.png`, fullPage: true });
};
const narrow: BrowserContextOptions = { viewport: { width: 360, height: 740 }, hasTouch: true };

const clickAndWait = async (page: Page, name: string): Promise<void> => {
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name }).click()]);
};

const withdrawInBrowser = async ({ page }: OpenPage, issued: IssuedLinks): Promise<void> => {
  await page.goto(issued.verifyUrl);
  await page.getByLabel("Your email address").fill(issued.email);
  await clickAndWait(page, "Email me a code");
  await page.getByLabel("6-digit code").fill(await findCode(issued.email));
  await clickAndWait(page, "Withdraw my consent");
  expect(page.url()).toMatch(/\/withdrawn$/);
};

describe("the person on a certificate", () => {
  test.each([
    ["with scripts", {}],
    ["without scripts", { javaScriptEnabled: false }],
    ["without scripts on a phone", { ...narrow, javaScriptEnabled: false }],
  ] as const)("withdraws %s with the code from the email", async (_name, options) => {
    const issued = await issue();
    const opened = await openPage(browser, options);
    await withdrawInBrowser(opened, issued);
    const { page, problems, close } = opened;
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Consent withdrawn");
    expect(await getStatus(issued.certId)).toBe("revoked");
    const receipt = page.getByRole("link", { name: "Save the signed receipt" });
    const saved = await fetch((await receipt.getAttribute("href")) as string);
    expect(((await saved.json()) as { data: { receipt: object } }).data.receipt).toMatchObject({
      cert_id: issued.certId,
      method: "email_code",
    });
    await page.getByRole("link", { name: "Back to the certificate" }).click();
    expect((await page.locator(".standing").textContent())?.trim()).toMatch(/^Withdrawn/);
    expect(problems).toEqual([]);
    await close();
  });

  test("can try again after a wrong code without retyping the address; a reload is not an attempt", async () => {
    const issued = await issue();
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(issued.verifyUrl);
    await page.getByLabel("Your email address").fill(issued.email);
    await clickAndWait(page, "Email me a code");
    const code = await findCode(issued.email);
    const submitCode = async (text: string): Promise<void> => {
      await page.getByLabel("6-digit code").fill(text);
      await clickAndWait(page, "Withdraw my consent");
    };
    await submitCode("12 34");
    expect(await page.getByRole("alert").textContent()).toContain("Enter the 6-digit code");
    expect(await page.getByLabel("6-digit code").inputValue()).toBe("12 34");
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await submitCode(toWrongCode(code));
      await page.reload();
      await page.reload();
    }
    expect(await page.getByRole("alert").textContent()).toContain("The email address or code is incorrect");
    expect(await page.title()).toMatch(/^Error: /);
    await submitCode(`${code.slice(0, 3)} ${code.slice(3)}`);
    await page.waitForURL("**/withdrawn");
    expect(await getStatus(issued.certId)).toBe("revoked");
    await close();
  });

  test("gets an invalid address back with an error", async () => {
    const issued = await issue();
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(issued.verifyUrl);
    const field = page.getByLabel("Your email address");
    await field.evaluate((input: HTMLInputElement) => input.setAttribute("type", "text")).catch(() => null);
    await page.request.post(`${issued.verifyUrl}/withdraw`, { form: { email: "pat" } }).then(async (response) => {
      expect(response.status()).toBe(400);
      expect(await response.text()).toContain('value="pat"');
    });
    await close();
  });

  test.each([
    ["everything", "with scripts", {}],
    ["everything", "without scripts on a telephone", { ...narrow, javaScriptEnabled: false }],
    ["one", "without scripts", { javaScriptEnabled: false }],
  ] as const)("chooses the scope if other certificates have the same address: %s, %s", async (meant, name, options) => {
    const fields = { email: `${meant}.${name.length}@example.com` };
    const [first, second] = [await issue(fields), await issue(fields)];
    const { page, problems, close } = await openPage(browser, options);
    await page.goto(first.verifyUrl);
    await page.getByLabel("Your email address").fill(fields.email);
    await clickAndWait(page, "Email me a code");
    await page.getByLabel("6-digit code").fill(await findCode(fields.email));
    await clickAndWait(page, "Withdraw my consent");
    expect(await page.getByRole("status").first().textContent()).toMatch(/^One other active certificate from/);
    expect(await getStatus(first.certId)).toBe("active");
    expect(await page.getByLabel(/^All consent you gave to/).isChecked()).toBe(true);
    expect(await hasNoHorizontalScroll(page)).toBe(true);
    if (meant === "one") await page.getByLabel("Only this consent").check();
    await page.reload();
    if (meant === "one") await page.getByLabel("Only this consent").check();
    await clickAndWait(page, "Withdraw my consent");
    expect(page.url()).toMatch(/\/withdrawn$/);
    expect([await getStatus(first.certId), await getStatus(second.certId)]).toEqual(["revoked", meant === "one" ? "active" : "revoked"]);
    const text = (await page.locator("main").textContent())?.replaceAll(/\s+/g, " ");
    expect(text).toContain(meant === "one" ? "with your email address is still active." : "No other active certificates from");
    if (meant === "one") {
      await page.getByText("Show issue dates").click();
      await page.locator(`a[href="/c/${second.certId}"]`).click();
      await page.waitForURL(second.verifyUrl);
    }
    expect(problems).toEqual([]);
    await close();
  });

  test("withdraws with one click through the link from the form, and removes its token from the address bar", async () => {
    const issued = await issue();
    const requested: string[] = [];
    const { page, problems, close } = await openPage(browser);
    page.on("request", (request) => requested.push(`${request.url()} ${request.postData() ?? ""}`));
    await page.goto(issued.manageUrl);
    const button = page.locator("#withdraw-link").getByRole("button", { name: "Withdraw my consent" });
    await button.waitFor();
    expect(await page.locator(".btn.primary:visible").allTextContents()).toEqual(["Withdraw my consent"]);
    expect(page.url()).toBe(issued.verifyUrl);
    expect(await getStatus(issued.certId)).toBe("active"); // opening the link does not withdraw anything
    const token = issued.manageUrl.split("#m=")[1] as string;
    expect(requested.filter((request) => request.includes(token))).toEqual([]);
    await button.click();
    await page.waitForURL("**/withdrawn");
    expect(await getStatus(issued.certId)).toBe("revoked");
    expect(requested.filter((request) => request.includes(token))).toEqual([`${issued.verifyUrl}/withdraw/link token=${token}`]);
    expect(problems).toEqual([]);
    await close();
  });

  test("keeps the link from the form when the person selects another language", async () => {
    const issued = await issue();
    const { page, problems, close } = await openPage(browser);
    await page.goto(issued.manageUrl);
    await page.locator('.langs a[lang="es"]').first().click();
    await page.waitForURL(`${issued.verifyUrl}?lang=es`);
    await page.locator("#withdraw-link button").click();
    await page.waitForURL("**/withdrawn?lang=es");
    expect(await getStatus(issued.certId)).toBe("revoked");
    expect(problems).toEqual([]);
    await close();
  });

  test.each<[string, (url: string, token: string) => string]>([
    ["the encoded fragment", (url, token) => `${url}%23m=${token}`],
    ["the fragment encoded twice", (url, token) => `${url}%2523m%253D${token}`],
    ["the encoded fragment with a parameter of the gateway", (url, token) => `${url}%23m=${token}?utm_source=mail`],
    ["an encoded equals sign", (url, token) => `${url}#m%3D${token}`],
    ["the query", (url, token) => `${url}?m=${token}`],
    ["the query, encoded", (url, token) => `${url}?lang=en%23m=${token}`],
    ["a line break in the token", (url, token) => `${url}#m=${token.slice(0, 20)}%0D%0A${token.slice(20)}`],
    ["a space in the token", (url, token) => `${url}#m=${token.slice(0, 20)} ${token.slice(20)}`],
    ["the traces of quoted-printable", (url, token) => `${url}#m=3D${token}`],
    ["the full stop of the sentence", (url, token) => `${url}#m=${token}.`],
    ["an angle bracket", (url, token) => `${url}#m=${token}>`],
  ])("finds the token of a link that a mail gateway rewrote: in or with %s", async (_name, rewrite) => {
    const issued = await issue();
    const token = issued.manageUrl.split("#m=")[1] as string;
    const { page, close } = await openPage(browser);
    await page.goto(rewrite(issued.verifyUrl, token));
    const button = page.locator("#withdraw-link").getByRole("button", { name: "Withdraw my consent" });
    await button.waitFor();
    expect(page.url()).not.toContain(token.slice(0, 20));
    expect(await getStatus(issued.certId)).toBe("active"); // opening the link does not withdraw anything
    await button.click();
    await page.waitForURL("**/withdrawn");
    expect(await getStatus(issued.certId)).toBe("revoked");
    await close();
  });

  test("withdraws by the emailed link on another machine, although someone else requested the code and used it up", async () => {
    const issued = await issue();
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${service.origin}/v1/certs/${issued.certId}/opt-out/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await post("request", { email: issued.email });
    const wrong = toWrongCode(await findCode(issued.email));
    for (let attempt = 0; attempt < 5; attempt += 1) await post("confirm", { email: issued.email, code: wrong });
    const link = /^http\S+#m=\S+$/m.exec(await waitForMail(issued.email))?.[0] ?? "";
    const { page, problems, close } = await openPage(browser, narrow);
    await page.goto(link);
    await clickAndWait(page, "Withdraw my consent");
    expect(page.url()).toMatch(/\/withdrawn$/);
    expect(await getStatus(issued.certId)).toBe("revoked");
    expect(problems).toEqual([]);
    await close();
  });

  test("gets the form that sends a code when the link is wrong", async () => {
    const issued = await issue();
    const { page, close } = await openPage(browser);
    await page.goto(`${issued.verifyUrl}#m=${"A".repeat(43)}`);
    await page.locator("#withdraw-link").getByRole("button").click();
    await page.waitForURL("**/withdraw?outcome=link");
    expect(await page.getByRole("alert").textContent()).toContain("This link is for another certificate");
    expect(await page.getByLabel("Your email address").isVisible()).toBe(true);
    await close();
  });

  test("is referred to the link and the business when the certificate has no address", async () => {
    const issued = await issue({ full_name: "Pat Sample" });
    const { page, close } = await openPage(browser);
    await page.goto(issued.verifyUrl);
    expect(await page.locator("#withdrawal").textContent()).toContain("has no email address");
    expect(await page.getByLabel("Your email address").count()).toBe(0);
    await close();
  });

  test("withdraws with the keyboard only", async () => {
    const issued = await issue();
    const second = await issue({ email: issued.email });
    const { page, close } = await openPage(browser);
    await page.goto(issued.verifyUrl);
    await page.getByLabel("Your email address").focus();
    await page.keyboard.type(issued.email);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/withdraw");
    const code = await findCode(issued.email);
    const getFocusedId = () => page.evaluate(() => document.activeElement?.id ?? "");
    for (let tabs = 0; tabs < 20 && (await getFocusedId()) !== "withdraw-code"; tabs += 1) await page.keyboard.press("Tab");
    await page.keyboard.type(code);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Keep my consent");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Withdraw my consent");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    for (let tabs = 0; tabs < 20 && (await getFocusedId()) !== "scope-business"; tabs += 1) await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown"); // selects the option for this consent only
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/withdrawn");
    expect([await getStatus(issued.certId), await getStatus(second.certId)]).toEqual(["revoked", "active"]);
    await close();
  });
});

describe("every withdrawal page", () => {
  const light = { colorScheme: "light", width: 900 } as const;
  const dark = { colorScheme: "dark", width: 900 } as const;
  const small = { colorScheme: "light", width: 360 } as const;

  test.each([
    ["en", [light, dark, small]],
    ["es", [light, small]], // one color scheme is enough, because colors do not depend on the language
    ["fr-CA", [light, small]],
  ] as const)("is accessible without horizontal scrolling: %s", async (language, windows) => {
    const issued = await issue();
    await issue({ email: issued.email });
    const { page, problems, close } = await openPage(browser);
    const check = async (at: string): Promise<void> => {
      const saveScreenshots = async (_: Page, { colorScheme, width }: Appearance): Promise<string[]> => {
        if (language === "en" && at === "code" && colorScheme === "light" && width !== small.width)
          await saveScreenshot(page, "withdraw-light");
        return [];
      };
      expect(await findIssuesInWindows(page, windows, { also: saveScreenshots }), at).toEqual([]);
      expect(await page.locator("html").getAttribute("lang")).toBe(language);
      if (language === "en" && at === "choice") await saveScreenshot(page, "withdraw-choice-light");
    };
    await page.goto(`${issued.verifyUrl}?lang=${language}`);
    await check("certificate");
    await page.locator("#withdraw-email").fill(issued.email);
    await page.locator("#withdrawal form:not(#withdraw-link) button").click();
    await page.waitForURL("**/withdraw?lang=*");
    await check("code");
    const code = await findCode(issued.email);
    await page.locator("#withdraw-code").fill(toWrongCode(code));
    await page.locator("form .primary").click();
    await page.waitForURL("**/withdraw?outcome=failed*");
    await check("error");
    await page.locator("#withdraw-code").fill(code);
    await page.locator("form .primary").click();
    await page.waitForURL("**/withdraw?lang=*");
    await page.locator(".step details summary").click();
    await check("choice");
    await page.locator("#scope-certificate").check();
    await page.locator("form .primary").click();
    await page.waitForURL("**/withdrawn?lang=*");
    await page.locator(".step details summary").click();
    await check("done");
    await page.goto(`${issued.verifyUrl}?lang=${language}`);
    await check("withdrawn");
    expect(problems).toEqual([]);
    await close();
  });
});

describe("cross-site forms", () => {
  test("are refused and change nothing", async () => {
    const issued = await issue();
    const response = await fetch(`${issued.verifyUrl}/withdraw/link`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      body: `token=${issued.manageUrl.split("#m=")[1]}`,
    });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("This form was sent from another site");
    expect(await getStatus(issued.certId)).toBe("active");
  });
});

describe("withdrawing from single recipients", () => {
  const three = ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"];
  const words = {
    en: ["Email me a code", "Withdraw consent for only some recipients", "Withdraw my consent", "Consent withdrawn for some recipients"],
    es: [
      "Enviarme un código",
      "Retirar el consentimiento solo a algunos destinatarios",
      "Retirar mi consentimiento",
      "Consentimiento retirado a algunos destinatarios",
    ],
    "fr-CA": [
      "M’envoyer un code",
      "Retirer le consentement pour certains destinataires seulement",
      "Retirer mon consentement",
      "Consentement retiré pour certains destinataires",
    ],
  } as const;

  test.each([
    ["en", {}],
    ["es", { javaScriptEnabled: false }],
    ["fr-CA", { ...narrow, javaScriptEnabled: false }],
  ] as const)("by checkboxes, in %s", async (language, options) => {
    const [send, only, submit, confirmation] = words[language];
    const issued = await issue(undefined, three);
    const { page, problems, close } = await openPage(browser, options);
    await page.goto(`${issued.verifyUrl}?lang=${language}`);
    await page.locator("#withdraw-email").fill(issued.email);
    await clickAndWait(page, send);
    await page.locator("#withdraw-code").fill(await findCode(issued.email));
    await page.getByText(only).click();
    await page.getByLabel("Bright Homes Inc").check();
    expect(await hasNoHorizontalScroll(page)).toBe(true);
    if (language === "en") {
      await saveScreenshot(page, "withdraw-recipients-light");
      expect(await findAccessibilityIssues(page)).toEqual([]);
    }
    await clickAndWait(page, submit);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(confirmation);
    expect(await getStatus(issued.certId)).toBe("active");
    expect(await hasNoHorizontalScroll(page)).toBe(true);
    if (language === "en") expect(await findAccessibilityIssues(page)).toEqual([]);
    await page.goto(`${issued.verifyUrl}?lang=${language}`);
    if (language === "en") {
      await page.locator('#checks [data-proof="fingerprint"][data-outcome="pass"]').waitFor();
      expect(await findAccessibilityIssues(page)).toEqual([]);
    }
    expect(await page.locator("#recipients").textContent()).toContain("Bright Homes Inc");
    expect(problems).toEqual([]);
    await close();
  });

  test("by the link: for the selected recipients, or for all if none is selected", async () => {
    const issued = await issue(undefined, three);
    const { page, close } = await openPage(browser);
    await page.goto(issued.manageUrl);
    await page.getByText("Withdraw consent for only some recipients").click();
    await page.getByLabel("Zenith Roofing").check();
    expect(await findAccessibilityIssues(page)).toEqual([]);
    await clickAndWait(page, "Withdraw my consent");
    expect(await getStatus(issued.certId)).toBe("active");
    await close();
  });
});
