// Tests that the integration helper finds the same form in a page's source that a browser finds on the page. The tests use real-world
// forms, and names with characters that are special in CSS.
import { readdirSync, readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mapForm } from "../../core/integration/mapping.ts";
import { parseFormPage } from "../../workers/adapters/form-page.ts";
import { launchBrowser } from "../support/browser.ts";

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await launchBrowser();
  page = await (await browser.newContext({ javaScriptEnabled: true })).newPage();
});
afterAll(() => browser.close());

const folder = "test/widget/forms";
const readSource = (name: string): string =>
  readFileSync(`${folder}/${name}.html`, "utf8")
    .replace(/<script[\s\S]*?<\/script>/g, "") // removes scripts, because the source does not contain the markup that they render
    .replaceAll(/\{\{[a-z]+\}\}/gi, "");
const names = readdirSync(folder).map((file) => file.replace(".html", ""));

/** The fields that the page script collects (test/widget/forms.test.ts). Forms that scripts build and forms in dialogs are not listed. */
const keysOf: Readonly<Record<string, readonly string[]>> = {
  aspnet: ["first_name", "email", "phone"],
  bootstrap: ["first_name", "email", "city"],
  "contact-form-7": ["full_name", "email", "phone"],
  elementor: ["full_name", "email", "phone"],
  "gravity-forms": ["first_name", "last_name", "email", "phone", "address_line1", "address_line2", "city", "state", "zip"],
  htmx: ["first_name", "email", "phone"],
  "jquery-ajax": ["full_name", "email", "phone"],
  netlify: ["full_name", "email"],
  rails: ["first_name", "last_name", "email", "address_line1", "city", "state", "zip", "phone"],
  "recaptcha-v3": ["email", "phone"],
  shopify: ["full_name", "email", "phone"],
  turbo: ["full_name", "email"],
  wizard: ["zip", "full_name", "email", "phone"],
  wpforms: ["first_name", "last_name", "email", "phone"],
};

const countMatches = (selector: string): Promise<number> => page.evaluate((css) => document.querySelectorAll(css).length, selector);

describe("real-world forms", () => {
  test.each(Object.entries(keysOf))("maps %s as the page script would", (name, keys) => {
    const mapping = mapForm(parseFormPage(readSource(name)), ["Acme Solar LLC"]);
    expect(mapping?.fields.map(({ key }) => key).sort()).toEqual([...keys].sort());
  });

  test.each(names)("finds exactly the intended element by every selector of %s", async (name) => {
    const source = readSource(name);
    const { forms } = parseFormPage(source);
    await page.setContent(source);
    for (const form of forms) {
      if (form.selector !== null) expect([form.selector, await countMatches(form.selector)]).toEqual([form.selector, 1]);
      for (const control of form.controls) {
        if (control.selector === null) continue;
        const isRight = await page.evaluate(
          ([css, formCss, type]) => {
            const owner = formCss === null ? null : document.querySelector(formCss);
            const inputs = [...document.querySelectorAll<HTMLInputElement>(css as string)].filter(
              ({ form: inputForm }) => owner === null || inputForm === owner,
            );
            return inputs.length === 1 && inputs[0]?.type === type;
          },
          [control.selector, form.selector, control.type] as const,
        );
        expect([control.selector, isRight]).toEqual([control.selector, true]);
      }
      for (const { selector, text } of form.texts) {
        if (selector === null) continue;
        const shown = await page.evaluate((css) => {
          const all = [...document.querySelectorAll(css)];
          for (const unread of all.flatMap((element) => [...element.querySelectorAll("script, option, textarea, button")])) unread.remove();
          return all.map(({ textContent }) => (textContent ?? "").replace(/\s+/g, " ").trim());
        }, selector);
        expect([selector, shown]).toEqual([selector, [text]]);
      }
    }
  });
});

test("escapes names that are special in CSS", async () => {
  const odd = [
    "1st",
    "-",
    "--x",
    "-1",
    "a b",
    "a.b[c]",
    'q"uote',
    "back\\slash",
    "ünïcode",
    "😀",
    "a:not(b)",
    "x>y",
    "*",
    "line\nbreak",
    "tab\t",
    "#",
    "a\u0001b",
  ];
  const escapeAttribute = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
  const source = `<form id="f">${odd.map((name, at) => `<input id="${escapeAttribute(name)}" name="${escapeAttribute(name)}" data-at="${at}"><input name="n${escapeAttribute(name)}">`).join("")}</form>`;
  await page.setContent(source);
  const controls = parseFormPage(source).forms[0]?.controls ?? [];
  expect(controls).toHaveLength(odd.length * 2);
  for (const control of controls) {
    const at = await page.evaluate(
      (css) => [...document.querySelectorAll<HTMLInputElement>(css)].map(({ name }) => name),
      control.selector as string,
    );
    expect([control.selector, at]).toEqual([control.selector, [control.name]]);
  }
});
