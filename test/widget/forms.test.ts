// Tests real-world forms (test/widget/forms), each submitted in three ways: certified, with the API refusing the request, and without
// consent. Compares what the backend receives with what it receives from the same page without the widget.

import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { omitCertificate, extractCertificates } from "./received.ts";
import { type Attributes, fill, openWorld, press } from "./support.ts";

const world = await openWorld();

interface RealForm {
  file: string;
  form?: string;
  box: string;
  disclosure: string;
  fill: Record<string, string>;
  /** Runs after the form is filled in and before the consent box is checked, for the steps of a multistep form. */
  between?: (page: Page) => Promise<unknown>;
  send: string;
  /** The fields that the certificate must contain. */
  fields: Record<string, string>;
  /** True if the page itself refuses to submit the form while the box is unchecked. */
  isGated?: boolean;
  more?: Attributes;
}

const email = "pat@example.com";
const phone = "+1 202 555 0123";

const realForms: RealForm[] = [
  {
    file: "contact-form-7",
    form: ".wpcf7-form",
    box: "[name=acceptance-1]",
    disclosure: ".wpcf7-list-item-label",
    fill: { "[name=your-name]": "Pat Doe", "[name=your-email]": email, "[name=tel-319]": phone, "[name=your-message]": "Call me\nsoon" },
    send: ".wpcf7-submit",
    fields: { full_name: "Pat Doe", email, phone },
    isGated: true,
  },
  {
    file: "wpforms",
    form: "#wpforms-form-23",
    box: "#wpforms-23-field_4_1",
    disclosure: "label[for=wpforms-23-field_4_1]",
    fill: {
      "#wpforms-23-field_0": "Pat",
      "#wpforms-23-field_0-last": "Doe",
      "#wpforms-23-field_1": email,
      "#wpforms-23-field_2": phone,
      "#wpforms-23-field_3": "Two questions",
    },
    send: ".wpforms-submit",
    fields: { first_name: "Pat", last_name: "Doe", email, phone },
  },
  {
    file: "gravity-forms",
    form: "#gform_1",
    box: "#input_1_9_1",
    disclosure: "label[for=input_1_9_1]",
    fill: {
      "#input_1_1_3": "Pat",
      "#input_1_1_6": "Doe",
      "#input_1_2": email,
      "#input_1_3": phone,
      "#input_1_4_1": "1 Main St",
      "#input_1_4_2": "Apt 2",
      "#input_1_4_3": "New York",
      "#input_1_4_4": "New York",
      "#input_1_4_5": "10001",
    },
    send: "#gform_submit_button_1",
    fields: {
      first_name: "Pat",
      last_name: "Doe",
      email,
      phone,
      address_line1: "1 Main St",
      address_line2: "Apt 2",
      city: "New York",
      state: "New York",
      zip: "10001",
    },
  },
  {
    file: "elementor",
    form: ".elementor-form",
    box: "#form-field-acc",
    disclosure: ".elementor-field-type-acceptance",
    fill: { "#form-field-name": "Pat Doe", "#form-field-email": email, "#form-field-field_8c1": "202-555-0123" },
    send: ".elementor-button-text",
    fields: { full_name: "Pat Doe", email, phone: "202-555-0123" },
  },
  {
    file: "hubspot",
    form: ".hs-form",
    box: "#LEGAL_CONSENT-9d",
    disclosure: ".legal-consent-container",
    fill: { "#firstname-9d": "Pat", "#lastname-9d": "Doe", "#email-9d": email, "#mobilephone-9d": phone },
    send: ".hs-button",
    fields: { first_name: "Pat", last_name: "Doe", email, phone },
  },
  {
    file: "react-controlled",
    box: "[name=agree]",
    disclosure: ".terms",
    fill: { "[name=firstName]": "Pat", "[name=email]": email, "[name=phone]": phone },
    send: "button",
    fields: { first_name: "Pat", email, phone },
  },
  {
    file: "vue-async-validator",
    box: "[name=agree]",
    disclosure: ".terms",
    fill: { "[name=fullName]": "Pat Doe", "[name=email]": email },
    send: "button",
    fields: { full_name: "Pat Doe", email },
  },
  {
    file: "jquery-ajax",
    box: "#agree",
    disclosure: ".terms",
    fill: { "[name=name]": "Pat Doe", "[name=email]": email, "[name=phone]": phone },
    send: "[name=go]",
    fields: { full_name: "Pat Doe", email, phone },
  },
  {
    file: "htmx",
    box: "[name=terms]",
    disclosure: ".terms",
    fill: { '[name="contact[first_name]"]': "Pat", '[name="contact[email]"]': email, '[name="contact[phone]"]': phone },
    send: "#plus",
    fields: { first_name: "Pat", email, phone },
  },
  {
    file: "shopify",
    form: "#ContactForm",
    box: "#agree",
    disclosure: "label[for=agree]",
    fill: {
      "#ContactForm-name": "Pat Doe",
      "#ContactForm-email": email,
      "#ContactForm-phone": "202 555-0123",
      "#ContactForm-body": "Ünïcödé ✓",
    },
    send: "button.button",
    fields: { full_name: "Pat Doe", email, phone: "202 555-0123" },
  },
  {
    file: "rails",
    box: "#user_terms",
    disclosure: "label[for=user_terms]",
    fill: {
      "#user_first_name": "Pat",
      "#user_last_name": "Doe",
      "#user_email": email,
      "#user_password": "hunter22",
      '[name$="[street]"]': "1 Main St",
      '[name$="[city]"]': "Reno",
      '[name$="[state]"]': "NV",
      '[name$="[zip]"]': "89501",
      '[name$="[number]"]': phone,
    },
    send: "[name=commit]",
    fields: {
      first_name: "Pat",
      last_name: "Doe",
      email,
      address_line1: "1 Main St",
      city: "Reno",
      state: "NV",
      zip: "89501",
      phone,
    },
  },
  {
    file: "turbo",
    box: "[type=checkbox]",
    disclosure: ".terms",
    fill: { '[name="quote[name]"]': "Pat Doe", '[name="quote[email]"]': email },
    send: "button",
    fields: { full_name: "Pat Doe", email },
  },
  {
    file: "bootstrap",
    box: "#invalidCheck",
    disclosure: "label[for=invalidCheck]",
    fill: { "#validationCustom01": "Pat", "#validationCustom02": email, "#validationCustom03": "Reno" },
    send: "button",
    fields: { first_name: "Pat", email, city: "Reno" },
  },
  {
    file: "wizard",
    box: "[name=tcpa]",
    disclosure: ".terms",
    fill: { "[name=zip]": "89501" },
    between: async (page) => {
      await press(page, '[data-step="1"] [data-next]');
      await press(page, "[value=own]");
      await fill(page, "[name=fullName]", "Pat Doe");
      await press(page, '[data-step="2"] [data-next]');
      await fill(page, "[name=e]", email);
      await fill(page, "[name=p]", phone);
    },
    send: '[data-step="3"] button',
    fields: { zip: "89501", full_name: "Pat Doe", email, phone },
  },
  {
    file: "netlify",
    box: "[name=agree]",
    disclosure: ".terms",
    fill: { "[name=name]": "Pat Doe", "[name=email]": email },
    send: "button",
    fields: { full_name: "Pat Doe", email },
  },
  {
    file: "recaptcha-v3",
    box: "[name=agree]",
    disclosure: ".terms",
    fill: { "[name=email]": email, "[name=phone]": phone },
    send: "button",
    fields: { email, phone },
  },
  {
    file: "aspnet",
    box: "#ctl00_Main_chkAgree",
    disclosure: "label[for=ctl00_Main_chkAgree]",
    fill: { "#ctl00_Main_txtFirstName": "Pat", "#ctl00_Main_txtEmail": email, "#ctl00_Main_txtPhone": phone },
    send: "#ctl00_Main_btnSend",
    fields: { first_name: "Pat", email, phone },
  },
];

const pageOf = (file: string) => readFile(new URL(`forms/${file}.html`, import.meta.url), "utf8");

const attributesOf = ({ form, box, disclosure, more }: RealForm): Attributes => ({
  "data-form-selector": form,
  "data-checkbox-selector": box,
  "data-disclosure-selector": disclosure,
  ...more,
});

async function fillIn(page: Page, { fill: values, between, box, send }: RealForm, isTicked: boolean) {
  for (const [selector, value] of Object.entries(values)) await fill(page, selector, value);
  await between?.(page);
  if (isTicked) await press(page, box);
  await press(page, send);
}

const all = realForms.map((form) => [form.file, form] as const);

describe("with consent, a form sends the same as without the widget, plus a certificate unless the API refuses", () => {
  it.each(all)("%s", async (_file, form) => {
    const html = await pageOf(form.file);
    const refusal = { status: 500, body: { ok: false, error: { code: "internal_error", message: "x" }, request_id: "req_9" } };
    const [plain, held, refused] = await Promise.all([
      world.visit({ html, widget: false }),
      world.visit({ html, widget: attributesOf(form), delayMs: 60 }),
      world.visit({ html, widget: attributesOf(form), respond: () => refusal }),
    ]);
    await Promise.all([plain, held, refused].map(({ page }) => fillIn(page, form, true)));
    const [expected, certified, uncertified] = await Promise.all([plain.submitted(), held.submitted(), refused.submitted()]);

    expect(omitCertificate(certified)).toEqual(omitCertificate(expected));
    expect(extractCertificates(certified)).toEqual([expect.stringMatching(/^cc_\d+$/)]);
    expect(held.calls.map(({ body }) => [body.fields, body.disclosure_text])).toEqual([
      [form.fields, expect.stringContaining("Acme Solar LLC")],
    ]);
    expect(held.events.map(({ type }) => type)).toEqual(["svc:consent"]);

    // Without a certificate, nothing may differ. Not even an empty placeholder is allowed.
    expect([uncertified.method, uncertified.type, uncertified.entries, uncertified.json]).toEqual([
      expected.method,
      expected.type,
      expected.entries,
      expected.json,
    ]);
    expect(refused.events.map(({ type, detail }) => [type, detail.code])).toEqual([["svc:consent-error", "internal_error"]]);
    expect([...held.errors, ...refused.errors]).toEqual(plain.errors.concat(plain.errors));
    await Promise.all([plain.close(), held.close(), refused.close()]);
  });
});

describe("without consent, a form sends the same as without the widget, and nothing goes to the API", () => {
  it.each(all.filter(([, form]) => !form.isGated))("%s", async (_file, form) => {
    const html = await pageOf(form.file);
    const [plain, held] = await Promise.all([world.visit({ html, widget: false }), world.visit({ html, widget: attributesOf(form) })]);
    await Promise.all([plain, held].map(({ page }) => fillIn(page, form, false)));
    const [expected, received] = await Promise.all([plain.submitted(), held.submitted()]);
    expect([received.method, received.type, received.entries, received.json]).toEqual([
      expected.method,
      expected.type,
      expected.entries,
      expected.json,
    ]);
    expect([held.calls, held.events, held.errors]).toEqual([[], [], []]);
    await Promise.all([plain.close(), held.close()]);
  });
});
