// Tests the documentation in a real browser: whether it is accessible in wide and narrow windows, in light and dark mode, and without
// scripts. Also runs the curl commands of the reference. Only the example client and domain are replaced.
import { spawnSync } from "node:child_process";
import { DomUtils, parseDocument } from "htmlparser2";
import type { Page } from "playwright-core";
import type { ApiDocument } from "../../workers/pages/docs/openapi-document.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { findIssuesInWindows, hasNoHorizontalScroll, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { signInToOrigin } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({ LIMIT_PUBLIC_READ_PER_IP: "10000/60" });
/** Paths below /docs: the pages about operation groups, and the pages about operations. */
let groups: readonly string[];
let operations: readonly string[];

beforeAll(async () => {
  const { tags, paths } = (await (await fetch(`${service.origin}/v1/openapi.json`)).json()) as ApiDocument;
  groups = tags.map(({ name }) => `/api/${name}`);
  operations = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ tags: [group], operationId }) => `/api/${group}/${operationId}`);
});

interface Call {
  readonly text: string;
  readonly session: string;
}

/** Returns the arguments that a real shell passes to curl, so that the test covers the quoting. One shell parses all commands. */
const parseCurlArguments = (calls: readonly Call[], apiKey: string): string[][] => {
  const lines = calls.map(({ text, session }) => `SVC_SESSION='${session}'\n${text}\n`);
  const script = `curl() { printf '%s\\0' "$#" "$@"; }\n${lines.join("")}`;
  const { stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: { SVC_API_KEY: apiKey } });
  expect(stderr).toBe("");
  const words = stdout.split("\0").slice(0, -1);
  const found: string[][] = [];
  while (words.length > 0) found.push(words.splice(0, Number(words.shift())));
  expect(found.length).toBe(calls.length);
  return found;
};

/** Returns the curl commands of a page. Does not open the page in the browser, because rendering it takes much longer. */
const listCurlCommands = async (path: string): Promise<readonly string[]> => {
  const document = parseDocument(await (await fetch(`${service.origin}/docs${path}`)).text());
  return DomUtils.getElementsByTagName("code", document)
    .filter((code) => DomUtils.getAttributeValue(code, "id") === "curl")
    .map(DomUtils.textContent);
};

/** Signs in a person from the demo data and returns the session token. */
const signInDemoUser = async (email: string, realm: "business" | "consumer"): Promise<string> =>
  (await signInToOrigin(service.origin, email, realm)).replace(/^svc_session=/, "");

describe("the API reference", () => {
  const expandAll = (page: Page): Promise<void> =>
    page.evaluate(() => {
      for (const folded of document.querySelectorAll("details")) folded.open = true;
    });

  /**
   * Opens each `details` element that contains a new kind of element: one that is neither in `known` nor in a `details` element opened
   * before. Returns the new kinds. The page has two hundred `details` elements, but they contain only a few kinds of elements.
   */
  const expandEachKind = (page: Page, known: readonly string[]): Promise<string[]> =>
    page.evaluate((before) => {
      const shown = new Set(before);
      for (const folded of document.querySelectorAll("details")) {
        const ownParts = [...folded.querySelectorAll("*")].filter((part) => part.closest("details") === folded);
        const kinds = ownParts.map((part) => `${part.parentElement?.tagName} ${part.tagName} ${part.className}`);
        folded.open = kinds.some((kind) => !shown.has(kind));
        folded.classList.toggle("unfolded-for-all", folded.open);
        if (folded.open) for (const kind of kinds) shown.add(kind);
        // A nested element is visible only if its ancestors are open.
        for (let around = folded.open ? folded.parentElement : null; around !== null; around = around.parentElement)
          if (around instanceof HTMLDetailsElement) around.open = true;
      }
      return [...shown].slice(before.length);
    }, known);

  const collapseAll = (page: Page): Promise<void> =>
    page.evaluate(() => {
      for (const unfolded of document.querySelectorAll("details")) unfolded.open = false;
    });

  /** Opens all sections and lists the window widths at which the page scrolls horizontally. Leaves the sections open. */
  const listTooNarrowWidths = async (page: Page, widths: readonly number[]): Promise<readonly number[]> => {
    await expandAll(page);
    const tooNarrow: number[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      if (!(await hasNoHorizontalScroll(page))) tooNarrow.push(width);
    }
    return tooNarrow;
  };

  test("is accessible in light and dark, wide and narrow, with all sections open, and never scrolls horizontally", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: wideAndNarrowAppearances[0].width, height: 900 } });
    for (const guide of [
      "widget",
      "sharing",
      "webhooks",
      "sandbox",
      "kit",
      "withdrawal",
      "evidence-pack",
      "fingerprints",
      "policies",
      "errors",
      "events",
      "limits",
      "page-script",
      "agents",
    ]) {
      await page.goto(`${service.origin}/docs/${guide}`);
      expect(await findIssuesInWindows(page, wideAndNarrowAppearances), guide).toEqual([]);
    }
    const kinds: string[] = [];
    const tooNarrow: string[] = [];
    for (const path of ["", ...groups, "/api/events/event-types", ...operations]) {
      await page.goto(`${service.origin}/docs${path}`);
      const widths = operations.includes(path) ? [320, 1_280] : [320, 480, 800, 991, 992, 1_280, 1_920];
      tooNarrow.push(...(await listTooNarrowWidths(page, widths)).map((width) => `${path} ${width}`));
      const ids = await page.locator("[id]").evaluateAll((parts) => parts.map(({ id }) => id));
      const repeated = ids.filter((id, at) => ids.indexOf(id) !== at);
      expect(repeated, path).toEqual([]);
      const added = await expandEachKind(page, kinds);
      kinds.push(...added);
      // Many operation pages consist of the same elements, so only pages with a new kind of element are checked in full.
      if (operations.includes(path) && added.length === 0) continue;
      expect(await findIssuesInWindows(page, wideAndNarrowAppearances), path).toEqual([]);
      if (added.length === 0) continue;
      await collapseAll(page); // the new kinds of sections are also checked while they are closed
      expect(await findIssuesInWindows(page, wideAndNarrowAppearances, { within: ".unfolded-for-all" }), path).toEqual([]);
    }
    expect(tooNarrow).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  }, 420_000); // running every axe rule on the whole reference takes several times longer on a busy machine

  test("follows links of the contents and opens members without scripts", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${service.origin}/docs`);
    await page.getByRole("link", { name: "Certificates", exact: true }).last().click();
    await page.waitForURL(/\/docs\/api\/certificates$/);
    const link = page.locator("#docs-nav").getByRole("link", { name: /^Verify a certificate/ });
    expect(await link.isVisible()).toBe(false); // at 900 pixels the navigation is a drawer
    await page.getByRole("button", { name: "Contents" }).click();
    await link.click();
    await page.waitForURL(/\/verifyCertificate$/);
    await page.getByRole("button", { name: "Contents" }).click();
    await page.locator("#docs-nav").getByRole("link", { name: "Response 200" }).click();
    await page.keyboard.press("Escape"); // closes the drawer
    expect(page.url()).toMatch(/#response-200$/);
    const operation = page.getByRole("main");
    const anchored = operation.getByText("Type of the recorded event, for example", { exact: false }).first();
    expect(await anchored.isVisible()).toBe(false);
    await operation
      .getByText(/^\d+ members of anchor$/)
      .first()
      .click();
    expect(await anchored.isVisible()).toBe(true);
    await close();
  });

  test("shows the contents next to the text in a wide window, and links from guide to guide", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false, viewport: { width: 1_280, height: 900 } });
    await page.goto(`${service.origin}/docs`);
    const contents = page.getByRole("navigation", { name: "Documentation" });
    await contents.getByRole("link", { name: "Webhooks and the event feed", exact: true }).click();
    await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Check a signature" }).click();
    await page
      .locator("#content")
      .getByRole("link", { name: /first hour$/i })
      .click();
    await page.getByRole("heading", { name: "4 Receive withdrawals" }).waitFor();
    await close();
  });

  test("marks the section in view in the list of sections", async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
    await page.goto(`${service.origin}/docs/webhooks`);
    const current = page.locator(".toc [aria-current]");
    for (const part of ["check-a-signature", "endpoint-urls"]) {
      await page.locator(`#${part}`).evaluate((heading) => heading.scrollIntoView());
      await page.locator(`.toc [aria-current="location"][href="#${part}"]`).waitFor();
      expect(await current.count()).toBe(1);
    }
    await close();
  });

  /** Errors that this setup causes, because it has one owner, no internet access, no test key and no plan. */
  const known = [
    /^\/v1\/business\/portal\/members\/me last_owner$/,
    /^\/v1\/business\/portal\/integrate page_unreachable$/,
    /^\/v1\/business\/portal\/domains domain_taken$/, // the demo business has already verified the example's domain
    /^\/v1\/business\/portal\/recipients not_found$/, // the example's business does not exist here
    /^\/v1\/webhooks\/stripe invalid_request$/, // the request has no signature from the payment provider
    /^\/v1\/share\/redeem code_invalid$/,
    /^\/v1\/share\/sandbox-consent sandbox_only$/,
    /^\/v1\/share\/consent (?:invalid_request|answered)$/, // the demo person has not saved a phone number
    /^\/v1\/sandbox\/\w+ sandbox_only$/,
    /^\/v1\/me\/certificates\/withdraw cert_not_found$/,
    /^\/v1\/me\/removals plan_required$/,
  ];

  test("shows curl commands that run with this deployment's client and domain", async () => {
    const calls: string[] = [];
    for (const path of operations) calls.push(...(await listCurlCommands(path)));
    const owner = await signInDemoUser(service.world.ownerEmail, "business");
    const consumer = await signInDemoUser(service.world.consumerEmail, "consumer");
    // Uses a separate person, because deleting an account ends its sessions.
    const leaving = await signInDemoUser("leaving@example.com", "consumer");
    // The examples' client and domain do not exist here, so the test replaces them. It sends everything else as the shell parses it.
    const prepared = calls.map((call): Call => {
      const text = call
        .replace(/pc_live_\w+/, service.world.acme.clients.live)
        .replace(/pc_test_\w+/, service.world.acme.clients.sandbox)
        .replaceAll(/https(:\/\/|%3A%2F%2F)(?:www\.)?acme-solar\.example/g, "https$1www.example.com");
      const isPersons = /\/v1\/(?:me\b|share\/consent|shares\/\w+\/revoke)/.test(text);
      const isLeaving = text.includes("DELETE") && /\/v1\/me(?![/\w])/.test(text);
      return { text, session: isLeaving ? leaving : isPersons ? consumer : owner };
    });
    const requests = parseCurlArguments(prepared, service.world.acme.keys.live).map(async ([address = "", ...options]) => {
      const findOption = (name: string): string | undefined => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
      const headers = options.flatMap((option, at) =>
        options[at - 1] === "-H" ? [option.split(/: (.*)/).slice(0, 2) as [string, string]] : [],
      );
      // Over plain HTTP, the name of the cookie has no prefix. The sign-out request is sent without a cookie, because it would end
      // the session that the other calls use.
      const cookie = address.endsWith("/logout") ? undefined : findOption("--cookie")?.replace("__Host-", "");
      if (cookie !== undefined) headers.push(["cookie", cookie]);
      const body = findOption("--data");
      const init = { method: findOption("-X") ?? (body === undefined ? "GET" : "POST"), headers, ...(body !== undefined && { body }) };
      const response = await fetch(address, { ...init, redirect: "manual" });
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      const { ok, error } = isJson
        ? ((await response.json()) as { ok?: boolean; error?: { code: string } })
        : { ok: response.status < 400, error: undefined };
      return `${new URL(address).pathname.replace(/(?:cc|whk|dlv|ssn|psk|tok|shr|dom|key|mem|biz|rmv|req)_\w+|text/, "…")} ${ok === false ? error?.code : "answered"}`;
    });
    const responses = await Promise.all(requests);
    const { paths } = (await (await fetch(`${service.origin}/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(responses.length).toBe(Object.values(paths).flatMap(Object.keys).length);
    expect(responses).toContain("/v1/consent answered");
    expect(responses).toContain("/v1/certs answered");
    expect(responses).toContain("/v1/webhooks answered");
    // These errors are expected, because the examples' records, code and passkeys do not exist here.
    const expected = [
      / answered$/,
      /…(?:\/[a-z/-]+)? (?:cert_)?not_found$/,
      /^\/v1\/auth\/(?:verify-code|passkey\/verify) login_failed$/,
      /^\/v1\/me\/passkeys passkey_refused$/,
      ...known,
    ];
    expect(responses.filter((response) => !expected.some((pattern) => pattern.test(response)))).toEqual([]);
  });
});
