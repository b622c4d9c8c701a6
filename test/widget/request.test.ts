// Tests the script's exact request, the traces that it leaves on the page, its behavior under strict policies, and its size.

import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { buildWidget, gzipLimit } from "../../widget/build.mjs";
import { extractCertificates } from "./received.ts";
import { fill, buildInitScript, openWorld, buildPlainForm, press, waitForQuiet, buildScriptTag, tickAndClick } from "./support.ts";

const world = await openWorld();
// Only the POST request itself may reach the API: no preflight, prefetch or beacon.
afterAll(() => expect(world.strays).toEqual([]));

describe("the request", () => {
  it("has exactly these keys with the current values", async () => {
    const visit = await world.visit({ html: buildPlainForm(), path: "?utm=a&b=ü" });
    await visit.page.evaluate(() => {
      location.hash = "private";
      document.querySelector("#terms")!.textContent = "I agree to the text of this moment.";
    });
    await fill(visit.page, "[name=first_name]", "Zoë");
    await tickAndClick(visit.page);
    await visit.submitted();
    const [call] = visit.calls;
    expect(call!.body).toEqual({
      client_id: "pc_test_00widget",
      fields: { first_name: "Zoë", email: "pat@example.com", phone: "+1 202 555 0123" },
      disclosure_text: "I agree to the text of this moment.",
      entities: ["Acme Solar LLC", "Bright Homes, Inc."],
      purpose: "solar quote follow-up",
      page_url: `${visit.url.replace("ü", "%C3%BC")}`,
      presentation: { opt_in_type: "manual", checkbox_name: "agree", font_px: 16, visible: true },
      widget: { version: "1.2.0", automated: true },
      locale: "en",
      referrer: "",
      submission_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    });
    expect([call!.method, call!.path]).toEqual(["POST", "/v1/consent"]);
    await visit.close();
  });

  it("reports navigator.webdriver", async () => {
    for (const [value, automated] of [
      ["true", true],
      ["false", false],
      ["undefined", false],
      ["'odd'", true],
    ] as const) {
      const visit = await world.visit({
        html: buildPlainForm(),
        first: `Object.defineProperty(navigator, "webdriver", { get: () => ${value} })`,
      });
      await tickAndClick(visit.page);
      expect(extractCertificates(await visit.submitted())).toHaveLength(1);
      expect(visit.calls[0]!.body.widget).toEqual({ version: "1.2.0", automated });
      await visit.close();
    }
  });

  it("is text/plain from the page, without cookies and without a preflight", async () => {
    const visit = await world.visit({
      html: buildPlainForm(),
      // Both servers are on 127.0.0.1, and cookies ignore ports, so a request with credentials would send this cookie.
      before: (_page, context) => context.addCookies([{ name: "session", value: "secret", url: world.api }]),
    });
    await tickAndClick(visit.page);
    const received = await visit.submitted();
    expect(received.headers.cookie).toBe("session=secret");
    const { headers, method } = visit.calls[0]!;
    expect([method, headers["content-type"], headers.origin, headers.cookie, headers.authorization]).toEqual([
      "POST",
      "text/plain;charset=UTF-8",
      world.site,
      undefined,
      undefined,
    ]);
    expect(visit.calls).toHaveLength(1);
    expect(world.strays).toEqual([]);
    await visit.close();
  });

  it("cuts a very long page address at 2,048 characters", async () => {
    const visit = await world.visit({ html: buildPlainForm(), path: `?q=${"x".repeat(3000)}` });
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.calls[0]!.body.page_url).toBe(visit.url.slice(0, 2048));
    await visit.close();
  });

  it("contains the referrer", async () => {
    const visit = await world.visit({ html: buildPlainForm() });
    await visit.page.evaluate((url) => location.assign(`${url}?second`), visit.url);
    await visit.page.waitForURL("**?second");
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.calls[0]!.body.referrer).toBe(visit.url);
    await visit.close();
  });
});

describe("the script leaves no trace", () => {
  it("before a submission: no request, no checked box, no hidden input, no event", async () => {
    const visit = await world.visit({ html: buildPlainForm() });
    const requests: string[] = [];
    visit.page.on("request", (request) => requests.push(request.url()));
    const ticks = await visit.page.evaluate(() => document.querySelectorAll(":checked").length);
    await fill(visit.page, "[name=email]", "typed@example.com");
    await press(visit.page, "#consent");
    await visit.page.hover("#send");
    await waitForQuiet();
    expect([requests, ticks, visit.calls, visit.events]).toEqual([[], 0, [], []]);
    await visit.close();
  });

  it("never sets the checked state of anything", async () => {
    const inside =
      '<input type="checkbox" data-sp1-entity="Acme Solar LLC"><input type="checkbox" data-sp1-entity="Bright Homes, Inc." id="bright">';
    const visit = await world.visit({
      html: `${buildPlainForm({ inside, form: 'target="sink"' })}<iframe name="sink"></iframe>`,
      before: (page) =>
        page.addInitScript(() => {
          const ownDescriptor = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "checked")!;
          const noted: string[] = [];
          Object.assign(window, { noted });
          Object.defineProperty(HTMLInputElement.prototype, "checked", {
            ...ownDescriptor,
            set(value) {
              noted.push("checked");
              ownDescriptor.set!.call(this, value);
            },
          });
          for (const name of ["setAttribute", "toggleAttribute"] as const) {
            const method = Element.prototype[name] as (...args: unknown[]) => never;
            Element.prototype[name] = function (this: Element, ...args: unknown[]) {
              if (/checked/.test(String(args[0]))) noted.push(name);
              return method.apply(this, args);
            };
          }
        }),
    });
    await press(visit.page, "#bright");
    await tickAndClick(visit.page);
    await visit.submitted();
    expect(visit.calls[0]!.body).toMatchObject({ entities_accepted: ["Bright Homes, Inc."], entities_rejected: ["Acme Solar LLC"] });
    expect(await visit.page.evaluate("noted")).toEqual([]);
    expect(await visit.page.evaluate(() => document.querySelectorAll(":checked").length)).toBe(2);
    await visit.close();
  });

  it("after a submission: no cookie, no storage, no database, no cache, no global but Svc", async () => {
    const html = `${buildPlainForm({ form: 'target="sink"' })}<iframe name="sink"></iframe>`;
    const listGlobals = (page: Page) => page.evaluate(() => Object.getOwnPropertyNames(window));
    const plain = await world.visit({ html, widget: false, before: async () => {} });
    const visit = await world.visit({ html, before: async () => {} });
    await tickAndClick(visit.page);
    await visit.submitted();
    expect((await listGlobals(visit.page)).filter((name) => name === "Svc" || name.startsWith("svc"))).toEqual(["Svc"]);
    const known = new Set(await listGlobals(plain.page));
    expect((await listGlobals(visit.page)).filter((name) => !known.has(name))).toEqual(["Svc"]);
    expect(
      await visit.page.evaluate(async () => [
        document.cookie,
        localStorage.length,
        sessionStorage.length,
        (await indexedDB.databases()).length,
        (await caches.keys()).length,
      ]),
    ).toEqual(["", 0, 0, 0, 0]);
    expect(await visit.context.cookies()).toEqual([]);
    await Promise.all([plain.close(), visit.close()]);
  });
});

describe("strict pages", () => {
  it("cause no violation with nonces, strict-dynamic, Trusted Types and no inline styles", async () => {
    const visit = await world.visit({
      html: `<script nonce="n1">addEventListener('securitypolicyviolation', (event) => { (window.violations = window.violations || []).push(event.violatedDirective) })</script>
        {{widget}}${buildPlainForm({ form: 'target="sink"' })}<iframe name="sink"></iframe>`,
      script: buildScriptTag("{{src}}").replace("<script", '<script nonce="n1"'),
      headers: {
        "content-security-policy": `default-src 'none'; script-src 'nonce-n1' 'strict-dynamic'; connect-src ${world.api}; frame-src 'self';
          form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`.replace(/\s+/g, " "),
      },
    });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(await visit.page.evaluate("window.violations")).toBeUndefined();
    await visit.close();
  });

  it("load the script with the published integrity value, and the form still works with a wrong value", async () => {
    for (const [integrity, expected] of [
      [world.widget.integrity, 1],
      [`sha384-${createHash("sha384").update("other").digest("base64")}`, 0],
    ] as const) {
      const visit = await world.visit({
        html: buildPlainForm(),
        script: buildScriptTag("{{src}}").replace("<script", `<script crossorigin="anonymous" integrity="${integrity}"`),
      });
      await tickAndClick(visit.page);
      expect(extractCertificates(await visit.submitted())).toHaveLength(expected);
      await visit.close();
    }
  });

  it.each([
    ["requestSubmit", "delete HTMLFormElement.prototype.requestSubmit"],
    ["AbortController", "delete window.AbortController"],
  ])("a browser without %s submits its forms normally", async (_what, script) => {
    const visit = await world.visit({
      html: buildPlainForm(),
      script: buildScriptTag("{{src}}") + buildInitScript(""),
      first: script,
    });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect([visit.calls, visit.errors]).toEqual([[], []]);
    await visit.close();
  });

  it("certifies on a page that has extended Array.prototype and Object.prototype", async () => {
    const visit = await world.visit({
      html: buildPlainForm(),
      first: "Array.prototype.extra = function () {}; Object.prototype.more = function () {}",
    });
    await tickAndClick(visit.page);
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls[0]!.body.fields).toEqual({ first_name: "Pat", email: "pat@example.com", phone: "+1 202 555 0123" });
    await visit.close();
  });
});

describe("the build", () => {
  it("stays within its size limit", () => {
    expect(gzipLimit).toBe(7168);
    for (const [name, { bytes, gzipBytes, brotliBytes }] of [
      ["svc.js", world.widget] as const,
      ["svc-share.js", world.widget.share] as const,
    ]) {
      console.log(`${name}: ${bytes} bytes, ${gzipBytes} gzip, ${brotliBytes} brotli (limit ${gzipLimit} gzip)`);
      expect(gzipBytes).toBeLessThanOrEqual(gzipLimit);
      expect(brotliBytes).toBeLessThan(gzipBytes);
    }
  });

  it("writes each file twice, once with its hash in the name, and returns the right hash and integrity", async () => {
    const outDir = await mkdtemp(join(tmpdir(), "svc-build-"));
    const { share, ...svc } = await buildWidget({ outDir });
    expect((await readdir(join(outDir, "v1"))).sort()).toEqual(
      [`svc-${svc.hash12}.js`, `svc-share-${share.hash12}.js`, "svc-share.js", "svc.js"].sort(),
    );
    for (const [name, { hash12, integrity, bytes }] of [["svc", svc] as const, ["svc-share", share] as const]) {
      const script = await readFile(join(outDir, `v1/${name}.js`));
      expect(await readFile(join(outDir, `v1/${name}-${hash12}.js`))).toEqual(script);
      expect(hash12).toBe(createHash("sha256").update(script).digest("hex").slice(0, 12));
      expect(integrity).toBe(`sha384-${createHash("sha384").update(script).digest("base64")}`);
      expect(bytes).toBe(script.length);
    }
    await rm(outDir, { recursive: true });
  });

  it("names the share part in svc.js by its hash", () => {
    expect(world.scriptText).toContain(`svc-share-${world.widget.share.hash12}.js`);
  });

  it("builds the app URL into the share part", async () => {
    const outDir = await mkdtemp(join(tmpdir(), "svc-build-"));
    const { hash12, share } = await buildWidget({ outDir, appUrl: "https://app.example.com" });
    expect(await readFile(join(outDir, "v1/svc-share.js"), "utf8")).toContain("https://app.example.com");
    expect([hash12, share.hash12]).not.toEqual([world.widget.hash12, world.widget.share.hash12]);
    await rm(outDir, { recursive: true });
  });

  it("contains no eval, no storage access and no code that checks a box", () => {
    expect(world.scriptText).not.toMatch(
      /eval\(|new Function|innerHTML|localStorage|sessionStorage|indexedDB|document\.cookie|sendBeacon|keepalive/,
    );
    expect(world.scriptText).not.toMatch(/\.checked\s*=[^=]|"checked"/);
  });
});

describe("the time a submission takes", () => {
  it("is printed: from the submit event to the second one, with an API that responds immediately", async () => {
    const visit = await world.visit({
      html: `<script>addEventListener('submit', () => { window.started = performance.now() }, true)</script>{{widget}}
        ${buildPlainForm({ form: 'target="sink"' })}<iframe name="sink"></iframe><script>window.spent = []
        lead.addEventListener('submit', (event) => { event.preventDefault(); spent.push(performance.now() - first); first = 0 })
        let first = 0; send.addEventListener('click', () => { first = performance.now() })</script>`,
    });
    await press(visit.page, "#consent");
    for (let round = 1; round <= 20; round++) {
      await fill(visit.page, "[name=first_name]", `Pat ${round}`);
      await press(visit.page, "#send");
      await visit.page.waitForFunction((count) => (window as unknown as { spent: number[] }).spent.length === count, round);
    }
    const spent = (await visit.page.evaluate<number[]>("spent")).sort((a, b) => a - b);
    console.log(
      `submit to re-submit, API on the same machine: median ${spent[10]!.toFixed(1)} ms, slowest of 20 ${spent[19]!.toFixed(1)} ms`,
    );
    expect(spent).toHaveLength(20);
    await visit.close();
  });
});
