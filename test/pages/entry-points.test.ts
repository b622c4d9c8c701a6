// Tests the pages where people start: the home page, a certificate number typed from paper, the ways to withdraw, and unknown URLs.
import { beforeAll, describe, expect, test } from "vitest";
import { createBrowserSession, describeRedirect, getPageText } from "../support/browser-session.ts";
import { requestEmailCode, findEmailCode, clearCodes, listMailTo } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, issueCertificate, productionSettings, createServiceCall, type TestResponse, type Call } from "../support/world.ts";
import { findByTagName, read, extractText } from "./page.ts";

let certId = "";
beforeAll(async () => {
  certId = (await issueCertificate()).cert_id;
});

const formatPrintedId = (id: string): string => id.toUpperCase().replaceAll(/(.{5})/g, "$1 ");
const describeResponse = async (path: string): Promise<string> => {
  const { status, headers } = await call(path, { redirect: "manual" });
  return `${status} ${headers.get("location")}`;
};

describe("a typed certificate number", () => {
  test("leads to its page", async () => {
    const wanted = `302 /c/${certId}`;
    expect(await describeResponse(`/c/${certId.toUpperCase()}`)).toBe(wanted);
    expect(await describeResponse(`/c/${encodeURIComponent(formatPrintedId(certId))}`)).toBe(wanted);
    expect(await describeResponse(`/c/${certId}/`)).toBe(wanted);
  });

  test("is accepted by the form with a surrounding URL and with letters that look like digits", async () => {
    const misread = `cc_${certId.slice(3).replaceAll("0", "O").replaceAll("1", "l")}`;
    for (const typed of [certId, formatPrintedId(certId), misread, `https://verify.example.com/c/${certId}/`, `${certId}?lang=es`]) {
      expect(await describeResponse(`/c?number=${encodeURIComponent(typed)}`), typed).toBe(`303 /c/${certId}`);
    }
    expect(await describeResponse(`/c?number=${certId}&lang=es`)).toBe(`303 /c/${certId}?lang=es`);
    expect(await describeResponse(`/withdraw?number=${certId}&lang=es`)).toBe(`303 /c/${certId}?lang=es#withdrawal-heading`);
  });

  test("shows the form again if it is invalid, and never shows text supplied by a link", async () => {
    for (const path of [
      "/c?number=nothing-of-ours",
      "/withdraw?number=nothing-of-ours",
      "/c?number=//evil.example/cc_nothing-of-ours",
      "/c?number=",
    ]) {
      const crossSitePage = await read(path, { redirect: "manual", headers: { "sec-fetch-site": "cross-site" } });
      expect([crossSitePage.status, crossSitePage.headers.get("location")], path).toEqual([400, null]);
      expect(extractText(crossSitePage.document)).toContain("Error: That isn’t a certificate ID.");
      expect(crossSitePage.text).toMatch(/<title>Error: /);
      expect(crossSitePage.text).not.toContain("nothing-of-ours");
      const sameOriginPage = await read(path, { headers: { "sec-fetch-site": "same-origin" } });
      const [field] = findByTagName(sameOriginPage.document, "input").filter(({ attribs }) => attribs.name === "number");
      expect(path.endsWith(field?.attribs.value ?? ""), path).toBe(true);
      expect(field?.attribs["aria-invalid"]).toBe("true");
    }
  });

  test("shows the not-found page if it is invalid in a page URL", async () => {
    const response = await call("/c/nothing-of-ours/", { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([404, null]);
    expect(response.text).not.toContain("nothing-of-ours");
  });

  test("is also accepted on the host of the certificate page", async () => {
    const response = await createServiceCall(productionSettings, "https://verify.svc.test")(`/c?number=${certId}`, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([303, `/c/${certId}`]);
  });
});

describe("withdrawing without the number", () => {
  const createNewcomerEmail = (): string => `nobody-${crypto.randomUUID()}@person.example`;

  test("sends an email code and leads to the person's own consents, without scripts", async () => {
    const email = createNewcomerEmail();
    const browser = createBrowserSession();
    const page = await browser.open("/withdraw");
    expect(getPageText(page)).toMatch(/With a certificate ID.*With your email/);
    expect(page.headers.get("set-cookie")).toBeNull();
    expect(describeRedirect(await browser.send(page, "/withdraw", { email }))).toBe("303 /app/sign-in");
    await waitUntilSettled();
    const step = await browser.open("/app/sign-in");
    expect(getPageText(step)).toContain(`We sent a 6-digit code to ${email}`);
    expect(describeRedirect(await browser.send(step, "/app/code", { code: "000000" }))).toBe("303 /app/sign-in?outcome=failed");
    expect(describeRedirect(await browser.send(step, "/app/code", { code: await findEmailCode(email) }))).toBe("303 /app/sign-in");
    expect(describeRedirect(await browser.open("/app/sign-in"))).toBe("303 /app");
    expect(getPageText(await browser.open("/app"))).toContain(email);
  });

  test("leads to the typed address while another person is signed in", async () => {
    const [first, second] = [createNewcomerEmail(), createNewcomerEmail()];
    const browser = createBrowserSession();
    for (const email of [first, second]) {
      expect(describeRedirect(await browser.post("/withdraw", { email }))).toBe("303 /app/sign-in");
      await waitUntilSettled();
      const step = await browser.open("/app/sign-in");
      expect(getPageText(step)).toContain(`We sent a 6-digit code to ${email}`);
      await browser.send(step, "/app/code", { code: await findEmailCode(email) });
    }
    const ownText = getPageText(await browser.open("/app"));
    expect([ownText.includes(second), ownText.includes(first)]).toEqual([true, false]);
  });

  test("gives the same response whether or not an address is on a certificate", async () => {
    const known = createNewcomerEmail();
    await issueCertificate({ fields: { email: known } });
    await clearCodes();
    const readResponseKinds = async (email: string, network: string): Promise<unknown> => {
      const { status, text, headers } = await createBrowserSession("", call, { "cf-connecting-ip": network }).post("/withdraw", { email });
      const { "x-request-id": _, "set-cookie": cookie, ...rest } = Object.fromEntries(headers);
      return [status, text, rest, cookie?.replace(/=[^;]+/, "=")];
    };
    expect(await readResponseKinds(known, "203.0.113.5")).toEqual(await readResponseKinds(createNewcomerEmail(), "203.0.113.6"));
    expect((await listMailTo(known)).length).toBe(1);
  });

  test("has the limits of signing in: one code a minute, thirty requests an hour per network", async () => {
    const email = createNewcomerEmail();
    await requestEmailCode(email, "consumer");
    for (let count = 0; count < 3; count += 1) expect((await createBrowserSession().post("/withdraw", { email })).status).toBe(303);
    await waitUntilSettled();
    expect((await listMailTo(email)).length).toBe(1);
    const strict = createBrowserSession("", createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_AUTH_REQUEST_PER_IP: "2/3600" }));
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await strict.post("/withdraw", { email: createNewcomerEmail() })).status);
    expect(statuses).toEqual([303, 303, 429]);
  });

  test("refuses a form from another site and explains an invalid address", async () => {
    const email = createNewcomerEmail();
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "", origin: "https://evil.example" }]) {
      const refused = await createBrowserSession().post("/withdraw", { email }, headers);
      // The page mentions no certificate, because the form belongs to none.
      expect([refused.status, refused.text]).toEqual([403, expect.not.stringContaining("certificate")]);
    }
    await waitUntilSettled();
    expect(await listMailTo(email)).toEqual([]);
    const bad = await createBrowserSession().post("/withdraw?lang=es", { email: "pat" });
    expect([bad.status, bad.headers.get("set-cookie")]).toEqual([400, null]);
    expect(bad.text).toMatch(/<title>Error: Retirar un consentimiento[\s\S]*aria-invalid="true"/);
    expect(bad.text).toContain('value="pat"');
  });

  test("happens on the sign-in host in the selected language, while the number leads to the certificate host", async () => {
    expect(describeRedirect(await createCallToHost("verify")("/withdraw?lang=fr-CA", { redirect: "manual" }))).toBe(
      "303 https://app.svc.test/withdraw?lang=fr-CA",
    );
    const page = await read("/withdraw?lang=fr-CA", asPerson, createCallToHost("app"));
    expect(extractText(page.document)).toContain("Avec votre adresse courriel");
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https://verify.svc.test;");
    const response = await createBrowserSession("", createCallToHost("app")).post("/withdraw?lang=fr-CA", { email: createNewcomerEmail() });
    expect(describeRedirect(response)).toBe("303 /app/sign-in?lang=fr-CA");
    expect(response.headers.get("set-cookie")).toMatch(/^__Host-svc_sign_in=[^;]+;.*HttpOnly; Secure; SameSite=Lax/);
    const numbered = await createCallToHost("app")(`/withdraw?number=${certId}`, { redirect: "manual" });
    expect(describeRedirect(numbered)).toBe(`303 https://verify.svc.test/c/${certId}#withdrawal-heading`);
    expect((await createBrowserSession("", createCallToHost("verify")).post("/withdraw", { email: createNewcomerEmail() })).status).toBe(
      403,
    );
  });
});

const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const asPerson: RequestInit = { headers: { accept: html, "sec-fetch-dest": "document" } };
const describeKind = ({ status, headers }: TestResponse): string => `${status} ${headers.get("content-type")?.split(";")[0]}`;
const createCallToHost = (name: string): Call => createServiceCall(productionSettings, `https://${name}.svc.test`);

describe("GET /", () => {
  test("is a page on every public host and nowhere else", async () => {
    for (const name of ["api", "verify", "app"])
      expect(describeKind(await createCallToHost(name)("/", asPerson)), name).toBe("200 text/html");
    for (const name of ["cdn", "mcp", "evil"]) expect((await createCallToHost(name)("/", asPerson)).status, name).toBe(404);
    expect(describeKind(await call("/", asPerson))).toBe("200 text/html");
  });

  test("gives programs the URL of the API description", async () => {
    const addresses = { docs: "https://api.svc.test/docs", openapi: "https://api.svc.test/v1/openapi.json" };
    for (const accept of ["application/json", "*/*", "", "application/json, text/html;q=0.9", "text/html;q=0"]) {
      const response = await createCallToHost("verify")("/", { headers: { accept } });
      expect(response.status, accept).toBe(200);
      expect(response.body).toEqual({ ok: true, data: addresses, request_id: response.headers.get("x-request-id") });
      expect(response.headers.get("vary")).toContain("Accept");
    }
  });

  test("links only to pages that exist on the host that serves them, including the number form", async () => {
    for (const name of ["api", "verify", "app"]) {
      const page = await read("/", asPerson, createCallToHost(name));
      const addresses = [
        ...findByTagName(page.document, "a").map(({ attribs }) => attribs.href),
        ...findByTagName(page.document, "form").map(({ attribs }) => attribs.action),
        // Leaves out the verifier, which is a static file.
      ].filter((address) => address?.startsWith("https://") && !address.endsWith(".mjs"));
      expect(new Set(addresses)).toEqual(
        new Set([
          "https://app.svc.test/withdraw",
          "https://app.svc.test/app",
          "https://app.svc.test/portal",
          "https://app.svc.test/portal/sign-up",
          "https://api.svc.test/docs",
          "https://api.svc.test/docs/first-hour",
          "https://verify.svc.test/c/format",
          "https://verify.svc.test/c",
        ]),
      );
      for (const address of new Set(addresses)) {
        const { origin: targetOrigin, pathname } = new URL(address as string);
        const response = await createServiceCall(productionSettings, targetOrigin)(pathname, asPerson);
        if (pathname === "/portal")
          expect(response.headers.get("location")).toBe("/portal/sign-in"); // without a session, the portal redirects
        else expect(response.status, address).toBe(200);
      }
      expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https://verify.svc.test;");
    }
  });

  test("names the security contact if one is configured", async () => {
    const contact = "https://api.svc.test/.well-known/security.txt";
    expect((await createCallToHost("verify")("/", asPerson)).text).not.toContain(contact);
    const named = createServiceCall({ ...productionSettings, SECURITY_CONTACT: "mailto:security@svc.test" }, "https://verify.svc.test");
    expect((await named("/", asPerson)).text).toContain(contact);
  });

  test("links to the support address in each language, if one is configured", async () => {
    const hrefs = async (language: string, SUPPORT_EMAIL: string) => {
      const service = createServiceCall({ ...productionSettings, SUPPORT_EMAIL }, "https://verify.svc.test");
      return findByTagName((await read(`/?lang=${language}`, asPerson, service)).document, "a").map(({ attribs }) => attribs.href);
    };
    for (const language of ["en", "es", "fr"]) {
      expect(await hrefs(language, "help@svc.test"), language).toContain("mailto:help@svc.test");
      expect((await hrefs(language, "")).join(), language).not.toContain("mailto:");
    }
  });

  test("is available in each language, sets no cookie, and can be indexed", async () => {
    for (const [language, words] of [
      ["en", "Consent you can prove, and take back"],
      ["es", "Un consentimiento que se puede demostrar y retirar"],
      ["fr", "Un consentement que l’on peut prouver, et retirer"],
    ]) {
      const page = await read(`/?lang=${language}`, asPerson);
      expect(extractText(page.document)).toContain(words as string);
      expect([page.headers.get("set-cookie"), page.headers.get("x-robots-tag")]).toEqual([null, null]);
    }
  });

  test("shows the demo's keys in development and nothing about a demo in production", async () => {
    const demo = JSON.stringify({ site_base: "http://localhost:8788", sandbox_client_id: "pc_test_x", test_api_key: "sk_test_x" });
    const page = await read("/", asPerson, createServiceCall({ DEV_DEMO: demo }));
    for (const shown of ["This is a demo", "sandbox_client_id", "pc_test_x", "test_api_key", "sk_test_x"])
      expect(extractText(page.document)).toContain(shown);
    expect(page.text).toContain('href="http://localhost:8788/"');
    const production = await createCallToHost("verify")("/", asPerson);
    expect(production.text).not.toMatch(/This is a demo|\/dev\/mail/);
  });

  test("counts as a public read and returns 429 as a page", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_PUBLIC_READ_PER_IP: "2/60" });
    const kinds: string[] = [];
    for (const path of ["/", "/withdraw", "/c?number=x", "/docs", "/docs/webhooks", "/status"])
      kinds.push(describeKind(await service(path, asPerson)));
    expect(kinds).toEqual(["200 text/html", "200 text/html", ...Array(4).fill("429 text/html")]);
    expect(describeKind(await service("/"))).toBe("429 application/json");
  });
});

describe("an unknown URL", () => {
  test("shows people a page with entry points on every host", async () => {
    for (const callHost of [call, createCallToHost("api"), createCallToHost("app"), createCallToHost("verify"), createCallToHost("cdn")]) {
      const page = await read("/nothing/of-ours", asPerson, callHost);
      expect(describeKind(page)).toBe("404 text/html");
      expect(extractText(page.document)).toContain("Page not found");
      expect(extractText(page.document)).toContain("Check a certificate");
      expect(page.text).not.toContain("of-ours");
    }
  });

  test("or a form that no page has gets a page with one link, and programs get JSON", async () => {
    for (const path of ["/", "/docs", "/portal/sandbox/clock", "/app/nothing", "/stop/nothing/of/ours"]) {
      const page = await read(path, { method: "POST", ...asPerson });
      expect([path, describeKind(page), page.headers.get("allow")]).toEqual([path, "405 text/html", "GET, HEAD"]);
      expect(
        findByTagName(page.document, "main")
          .flatMap((main) => findByTagName(main, "a"))
          .map(extractText),
      ).toEqual(["Open this page"]);
      expect(describeKind(await call(path, { method: "POST" }))).toBe("405 application/json");
    }
    expect(describeKind(await call("/v1/health", { method: "POST", ...asPerson }))).toBe("405 application/json");
    expect(describeKind(await call("/oauth/token", asPerson))).toBe("405 application/json");
  });

  test("returns JSON to programs, and to everyone under /v1", async () => {
    for (const callHost of [call, createCallToHost("api"), createCallToHost("app")]) {
      expect(describeKind(await callHost("/nothing"))).toBe("404 application/json");
      expect(describeKind(await callHost("/v1/nothing", asPerson))).toBe("404 application/json");
    }
  });
});
