// Tests forms like those on real websites: with country pickers beside phone numbers, two numbers, more fields than a certificate can hold,
// and text that the API cannot store. Each test puts a form on the page and checks what the API received.
import { beforeEach, describe, expect, it } from "vitest";
import { openWorld } from "./support.ts";

const world = await openWorld();
const visit = await world.visit({ html: '<body><div id="place"></div></body>', widget: { "data-client-id": undefined } });
beforeEach(() => {
  visit.calls.length = 0;
});

const always = { clientId: "pc_test_00widget", purpose: "p", entities: "Acme, Inc.|Beta", disclosureText: "I agree." };

/** Puts the controls in a form, runs the script on the page and certifies the form. Returns the body that the API received. */
async function certifyForm(controls: string, options: object = {}, script = "") {
  await visit.page.evaluate(
    async ({ markup, settings, run }) => {
      document.querySelector("#place")!.innerHTML = `<form>${markup}</form>`;
      new Function(run)();
      const { Svc } = window as unknown as {
        Svc: { initConsent(options: object): { certify(form: HTMLFormElement): Promise<unknown>; destroy(): void } };
      };
      const handle = Svc.initConsent(settings);
      await handle.certify(document.querySelector("form")!);
      handle.destroy();
    },
    { markup: controls, settings: { ...always, ...options }, run: script },
  );
  return visit.calls[0]?.body;
}
const readFields = async (controls: string, options: object = {}, script = "") => (await certifyForm(controls, options, script))?.fields;

const buildPhoneInput = (value = "079 123 45 67", more = 'name="phone"'): string => `<input type="tel" ${more} value="${value}">`;
const countries = [
  ["us", "1", "United States"],
  ["ch", "41", "Switzerland"],
  ["gb", "44", "United Kingdom"],
] as const;
const list = (selected: string, itemClass = "iti__country"): string =>
  countries
    .map(
      ([code, dial, name]) =>
        `<li class="${itemClass}${code === selected ? " iti__active" : ""}" data-dial-code="${dial}" data-country-code="${code}" ${
          code === selected ? 'aria-selected="true"' : ""
        }><span class="iti__country-name">${name}</span><span class="iti__dial-code">+${dial}</span></li>`,
    )
    .join("");
const email = '<input name="email" value="pat@example.com">';

describe("a number typed beside a country picker gets the picker's dial code", () => {
  it.each<[string, string]>([
    [
      "intl-tel-input 12",
      `<div class="intl-tel-input allow-dropdown"><div class="flag-container"><div class="selected-flag" title="Switzerland (Schweiz): +41"><div class="iti-flag ch"></div></div></div>${buildPhoneInput()}</div>`,
    ],
    [
      "intl-tel-input 17 with a separate dial code",
      `<div class="iti iti--allow-dropdown iti--separate-dial-code"><div class="iti__flag-container"><div class="iti__selected-flag" title="Switzerland (Schweiz): +41"><div class="iti__flag iti__ch"></div><div class="iti__selected-dial-code">+41</div></div><ul class="iti__country-list">${list("ch")}</ul></div>${buildPhoneInput()}</div>`,
    ],
    [
      "intl-tel-input 17 without one",
      `<div class="iti iti--allow-dropdown"><div class="iti__flag-container"><div class="iti__selected-flag" title="Switzerland (Schweiz): +41"><div class="iti__flag iti__ch"></div></div><ul class="iti__country-list iti__hide">${list("ch")}</ul></div>${buildPhoneInput()}</div>`,
    ],
    [
      "intl-tel-input 25",
      `<div class="iti iti--allow-dropdown iti--show-flags"><div class="iti__country-container"><button type="button" class="iti__selected-country" title="Switzerland" aria-label="Change country, selected Switzerland (+41)"><div class="iti__selected-country-primary"><div class="iti__flag iti__ch"></div></div></button><div class="iti__dropdown-content iti__hide"><input type="text" class="iti__search-input" placeholder="Search"><ul class="iti__country-list">${list("ch")}</ul></div></div>${buildPhoneInput()}</div>`,
    ],
    [
      "intl-tel-input 20, whose button does not show the code",
      `<div class="iti"><div class="iti__country-container"><button type="button" class="iti__selected-country" title="Switzerland"></button><div class="iti__dropdown-content iti__hide"><ul class="iti__country-list">${list("ch")}</ul></div></div>${buildPhoneInput()}</div>`,
    ],
    [
      "react-phone-input-2",
      `<div class="react-tel-input">${buildPhoneInput()}<div class="flag-dropdown"><div class="selected-flag" title="Switzerland: + 41" role="button"><div class="flag ch"></div></div></div></div>`,
    ],
    [
      "vue-tel-input",
      `<div class="vue-tel-input"><div class="vti__dropdown"><span class="vti__selection"><span class="vti__flag ch"></span><span class="vti__country-code">+41</span></span></div>${buildPhoneInput()}</div>`,
    ],
    ["a list of codes", `<select name="code"><option>+1</option><option selected>+41</option></select>${buildPhoneInput()}`],
    [
      "a list of countries with codes",
      `<select name="country_code"><option value="US">United States (+1)</option><option value="CH" selected>Switzerland (+41)</option></select>${buildPhoneInput()}`,
    ],
    [
      "a list with the code in front",
      `<select id="dialCode"><option value="1">+1 United States</option><option value="41" selected>+41 Switzerland</option></select>${buildPhoneInput()}`,
    ],
    [
      "a list with bare digits",
      `<select name="phone_code"><option value="1">United States</option><option value="41" selected>Switzerland</option></select>${buildPhoneInput()}`,
    ],
    ["an input for the code", `<input name="country_code" value="+41">${buildPhoneInput()}`],
    ["an input with 00", `<input name="dial_code" value="0041">${buildPhoneInput()}`],
    [
      "a button that shows a flag and the code",
      `<div class="relative"><button type="button" class="px-2">🇨🇭 +41</button>${buildPhoneInput()}</div>`,
    ],
    [
      "a list that wraps the control twice",
      `<div><div class="col"><select name="prefix"><option selected>+41</option></select></div><div class="col"><div class="wrap">${buildPhoneInput()}</div></div></div>`,
    ],
  ])("of %s", async (_name, picker) => {
    expect((await readFields(picker + email)) as Record<string, string>).toMatchObject({
      phone: "+41 079 123 45 67",
      email: "pat@example.com",
    });
  });

  it("of its own picker, when there are two", async () => {
    const buildPhonePicker = (code: string, more: string, value: string) =>
      `<div class="iti"><div class="iti__selected-flag"><div class="iti__selected-dial-code">${code}</div></div>${buildPhoneInput(value, more)}</div>`;
    expect(
      await readFields(buildPhonePicker("+41", 'name="phone"', "079 123 45 67") + buildPhonePicker("+44", 'name="mobile"', "07911 123456")),
    ).toEqual({
      phone: "+41 079 123 45 67",
      mobile: "+44 07911 123456",
    });
  });

  it("as selected when the form is submitted", async () => {
    const select = `<select name="cc_phone_code"><option>+1</option><option>+41</option></select>${buildPhoneInput()}`;
    expect(await readFields(select, {}, 'document.querySelector("select").value = "+41"')).toEqual({ phone: "+41 079 123 45 67" });
  });
});

describe("a number is sent as typed", () => {
  it.each<[string, string, string]>([
    [
      "that has its country code",
      `<select name="code"><option>+1</option></select>${buildPhoneInput("+41 79 123 45 67")}`,
      "+41 79 123 45 67",
    ],
    ["that starts with 00", `<select name="code"><option>+1</option></select>${buildPhoneInput("0041 79 123 45 67")}`, "0041 79 123 45 67"],
    [
      "that has its country code after a full-width plus sign",
      `<select name="code"><option>+1</option></select>${buildPhoneInput("＋41 79 123 45 67")}`,
      "＋41 79 123 45 67",
    ],
    [
      "that starts with 00 in full width",
      `<select name="code"><option>+1</option></select>${buildPhoneInput("００41 79 123 45 67")}`,
      "００41 79 123 45 67",
    ],
    ["without a picker", buildPhoneInput("(202) 555-0123"), "(202) 555-0123"],
    ["beside a list of something else", `<select name="guests"><option>+1 guest</option></select>${buildPhoneInput()}`, "079 123 45 67"],
    [
      "beside a list of countries without codes",
      `<select name="country"><option value="CH">Switzerland</option></select>${buildPhoneInput()}`,
      "079 123 45 67",
    ],
    [
      "beside a list of countries with the numbers of a database",
      `<select name="country_id"><option value="223" selected>United States</option></select>${buildPhoneInput()}`,
      "079 123 45 67",
    ],
    [
      "beside another contact detail's list",
      `<div><div>${buildPhoneInput()}</div>${email}<select name="code"><option>+1</option></select></div>`,
      "079 123 45 67",
    ],
    ["beside a security code", `<input name="security_code" value="123">${buildPhoneInput()}`, "079 123 45 67"],
    ["beside a one-time code", `<input name="sms_code" value="0041">${buildPhoneInput()}`, "079 123 45 67"],
    ["beside text that looks like a dial code", `<span class="selected-plan">+3 months</span>${buildPhoneInput()}`, "079 123 45 67"],
  ])("%s", async (_name, controls, phone) => {
    expect((await readFields(controls)) as Record<string, string>).toMatchObject({ phone });
  });
});

describe("a mapped value beside a country picker", () => {
  const withPicker = (more: string, value: string): string =>
    `<select name="code"><option>+1</option><option selected>+41</option></select>${buildPhoneInput(value, more)}`;

  it.each(["home_phone", "cell", "tel", "work_tel", "whatsapp", "landline"])("gets the dial code under the key %s", async (key) => {
    expect(await readFields(withPicker(`data-svc-field="${key}"`, "079 123 45 67"))).toEqual({ [key]: "+41 079 123 45 67" });
  });

  it.each([
    ["an extension", "phone_extension", "12"],
    ["a code", "cancellation_code", "4910234"],
    ["a name with digits", "telegram_id", "pat10234"],
    ["a remark", "miscellaneous", "Order 10234"],
    ["a model", "phone_model", "Pixel 8"],
    ["a refusal", "phone", "none"],
  ])("is sent as typed if it is not a phone number: %s", async (_what, key, value) => {
    expect(await readFields(withPicker(`data-svc-field="${key}"`, value))).toEqual({ [key]: value });
  });

  it("gets the dial code if it has other digits than 0 to 9", async () => {
    expect(await readFields(withPicker('name="phone"', "０７９ １２３ ４５ ６７"))).toEqual({ phone: "+41 ０７９ １２３ ４５ ６７" });
  });
});

describe("the hidden input with the complete number", () => {
  const picker = `<div class="iti">${buildPhoneInput()}<input type="hidden" name="full_phone" value="+41791234567"></div>`;

  it("is read if it is mapped", async () => {
    expect(await readFields(picker, { fieldMap: { "[name=full_phone]": "phone" } })).toEqual({ phone: "+41791234567" });
    visit.calls.length = 0;
    expect(await readFields(picker.replace('name="full_phone"', 'name="full_phone" data-svc-field="phone"'))).toEqual({
      phone: "+41791234567",
    });
  });

  it("is not read if it is not mapped, is still empty, or holds something else", async () => {
    expect(await readFields(picker)).toEqual({ phone: "079 123 45 67" });
    for (const value of ["", "tracking-7", "4111111111111111"]) {
      visit.calls.length = 0;
      const form = picker.replace("+41791234567", value);
      expect(await readFields(form, { fieldMap: { "[name=full_phone]": "phone" } })).toEqual({ phone: "079 123 45 67" });
    }
    visit.calls.length = 0;
    expect(await readFields(picker, { fieldMap: { "[name=full_phone]": "message" } })).toEqual({ phone: "079 123 45 67" });
  });
});

describe("two numbers", () => {
  it.each([
    ["phone first", `${buildPhoneInput("+1 202 555 0123")}${buildPhoneInput("+1 202 555 0124", 'name="mobile"')}`],
    [
      "mobile first",
      `${buildPhoneInput("+1 202 555 0124", 'name="mobile_number"')}${buildPhoneInput("+1 202 555 0123", 'name="home_phone"')}`,
    ],
    ["a cell phone", `${buildPhoneInput("+1 202 555 0123")}${buildPhoneInput("+1 202 555 0124", 'id="cellPhone"')}`],
  ])("are both sent: %s", async (_name, controls) => {
    expect(await readFields(controls)).toEqual({ phone: "+1 202 555 0123", mobile: "+1 202 555 0124" });
  });

  it("are one if only the mobile number is filled in", async () => {
    expect(await readFields(`${buildPhoneInput("")}${buildPhoneInput("+1 202 555 0124", 'name="mobile"')}`)).toEqual({
      phone: "+1 202 555 0124",
    });
  });
});

describe("a form with more than a certificate can contain", () => {
  const questions = Array.from({ length: 21 }, (_, at) => `<input id="q${at}" value="answer ${at}">`).join("");
  const fieldMap = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`#q${at}`, `question_${at}`]));

  it("is certified with the 20 most certain ones, and the request says so", async () => {
    const body = await certifyForm(email + buildPhoneInput("+1 202 555 0123") + questions, {
      fieldMap: { ...fieldMap, "[name=email]": "email", "[type=tel]": "phone" },
    });
    expect(Object.keys(body!.fields as object)).toHaveLength(20);
    expect(body).toMatchObject({ fields: { email: "pat@example.com", phone: "+1 202 555 0123", question_17: "answer 17" } });
    expect(body!.fields_truncated).toBe(true);
  });

  it("keeps mapped fields before guessed ones", async () => {
    const fields = (await certifyForm(email + questions, { fieldMap }))!.fields as object;
    expect(Object.keys(fields)).toEqual(Array.from({ length: 20 }, (_, at) => `question_${at}`));
  });

  it("is not marked with exactly 20 fields", async () => {
    const { "#q20": _, ...twenty } = fieldMap;
    expect(await certifyForm(questions, { fieldMap: twenty })).not.toHaveProperty("fields_truncated");
  });

  const note = (length: number): string => `${email}<textarea id="note">${"x".repeat(length)}</textarea>`;
  const noteMap = { "#note": "message", "[name=email]": "email" };

  it("is certified without a value of 501 characters, and the request says so", async () => {
    const body = await certifyForm(note(501), { fieldMap: noteMap });
    expect(body).toMatchObject({ fields_truncated: true });
    expect(body!.fields).toEqual({ email: "pat@example.com" });
  });

  it("is not marked with a value of 500 characters", async () => {
    const body = await certifyForm(note(500), { fieldMap: noteMap });
    expect(body).not.toHaveProperty("fields_truncated");
    expect(body!.fields).toEqual({ email: "pat@example.com", message: "x".repeat(500) });
  });
});

describe("text that the API cannot store", () => {
  it.each([
    ["an attribute that is wrapped in the source", "solar\n      quote follow-up", "solar quote follow-up"],
    ["a tab and a line separator", "solar\tquote\u2028follow-up", "solar quote follow-up"],
    ["soft hyphens and zero-width spaces", "so\u00adlar\u200b quote\u2060 follow-up\ufeff", "solar quote follow-up"],
    ["direction marks and overrides", "\u200esolar \u202equote\u202c \u2066follow-up\u2069", "solar quote follow-up"],
    ["control characters and half an emoji", "solar\u0000 quote\u0007 follow-up\ud83c", "solar quote follow-up"],
    ["emoji, Persian joiners and variation selectors", "👩‍💻 می\u200cخواهم ☀️ 葛\u{e0100}", "👩‍💻 می\u200cخواهم ☀️ 葛\u{e0100}"],
  ])("is left out of the purpose and the recipients: %s", async (_name, typed, sent) => {
    const body = await certifyForm(email, { purpose: typed, entities: `${typed}|Beta` });
    expect([body?.purpose, body?.entities]).toEqual([sent, [sent, "Beta"]]);
  });

  it("is left out of a recipient's box as well, so that the box still matches its name", async () => {
    const box = '<input type="checkbox" data-sp1-entity="Acme,&#10;   In&shy;c." checked>';
    expect((await certifyForm(email + box, { entities: "Acme, Inc.|Beta" }))?.entities_accepted).toEqual(["Acme, Inc."]);
  });

  it("does not prevent the form from being certified, wherever it occurs", async () => {
    const body = await certifyForm(
      `<input name="first_name"><input type="checkbox" id="box" checked><p id="d">I agree\u0096 to calls\u202e.</p>${email}`,
      { checkboxSelector: "#box", disclosureSelector: "#d", disclosureText: undefined },
      `document.documentElement.lang = "en-${"x".repeat(31)}\u{1f600}";
       document.querySelector("#box").name = "${"n".repeat(199)}\u{1f600}";
       document.querySelector("[name=first_name]").value = "Pat \\ud83d";
       document.querySelector("#d").append("\\ude00");`,
    );
    // The API replaces the unpaired surrogate and reports this.
    expect(visit.calls[0]!.text).toContain(String.raw`"first_name":"Pat \ud83d"`);
    expect(body).toMatchObject({
      disclosure_text: "I agree\ufffd to calls\ufffd.\ufffd",
      locale: `en-${"x".repeat(31)}\ufffd`,
      presentation: { checkbox_name: `${"n".repeat(199)}\ufffd` },
    });
  });

  it("includes a disclosure larger than any real text", async () => {
    const body = await certifyForm(`<p id="d" style="font-size: 4000px">I agree.</p>${email}`, { disclosureSelector: "#d" });
    expect(body).toMatchObject({ presentation: { font_px: 1000 } });
  });
});
