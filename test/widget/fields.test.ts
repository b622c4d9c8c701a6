// Tests what a certificate contains: which controls are read and under which keys, which controls are never read, the choices in the
// recipient checkboxes, and the displayed disclosure. All tests use one page. Each test puts its own form on the page and certifies it.

import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { extractCertificates } from "./received.ts";
import { openWorld, press } from "./support.ts";

const world = await openWorld();
const visit = await world.visit({ html: '<body><div id="place"></div></body>', widget: { "data-client-id": undefined } });
beforeEach(() => {
  visit.calls.length = 0;
  visit.events.length = 0;
});

const always = { clientId: "pc_test_00widget", purpose: "p", entities: "Acme, Inc.|Beta", disclosureText: "I agree." };

/** Puts the markup on the page, certifies its first form (or #this) and returns the request body that the API received, if any. */
async function certifyForm(html: string, options: object = {}, prepare: (page: Page) => Promise<unknown> = async () => {}) {
  await visit.page.evaluate((markup) => {
    document.querySelector("#place")!.innerHTML = markup;
  }, html);
  await prepare(visit.page);
  await visit.page.evaluate(
    async (settings) => {
      const form = document.querySelector<HTMLFormElement>("#this") ?? document.querySelector("form")!;
      const { Svc } = window as unknown as {
        Svc: { initConsent(options: object): { certify(form: HTMLFormElement): Promise<unknown>; destroy(): void } };
      };
      const handle = Svc.initConsent({ ...settings, form });
      await handle.certify(form);
      handle.destroy();
    },
    { ...always, ...options },
  );
  return visit.calls[0]?.body;
}

type Certified = Awaited<ReturnType<typeof certifyForm>>;

const getOptInType = (body: Certified): string | undefined => (body!.presentation as { opt_in_type?: string }).opt_in_type;

async function readFields(controls: string, options: object = {}) {
  return (await certifyForm(`<form>${controls}</form>`, options))?.fields;
}

describe("a control is recognized by", () => {
  const recognizedControls: [by: string, control: string, key: string | undefined, value?: string][] = [
    ["autocomplete", '<input name="x1" autocomplete="email">', "email", "a@b.example"],
    ["autocomplete with section and address kind", '<input name="x1" autocomplete="section-a shipping home tel">', "phone", "5550123"],
    ["autocomplete with webauthn", '<input name="x1" autocomplete="email webauthn">', "email", "a@b.example"],
    ["autocomplete in capitals", '<input name="x1" autocomplete="Given-Name">', "first_name"],
    ["autocomplete name", '<input name="x1" autocomplete="name">', "full_name"],
    ["autocomplete family-name", '<input name="x1" autocomplete="family-name">', "last_name"],
    ["autocomplete street-address on a textarea", '<textarea name="x1" autocomplete="street-address">V</textarea>', "address_line1", "V"],
    ["autocomplete address-line2", '<input name="x1" autocomplete="address-line2">', "address_line2"],
    ["autocomplete address-level2", '<input name="x1" autocomplete="billing address-level2">', "city"],
    ["autocomplete address-level1", '<input name="x1" autocomplete="address-level1">', "state"],
    ["autocomplete postal-code", '<input name="x1" autocomplete="postal-code">', "zip"],
    ["autocomplete country-name", '<input name="x1" autocomplete="country-name">', "country_name"],
    ["autocomplete country, two letters", '<input name="x1" autocomplete="country">', "country", "US"],
    ["the name of a country, which is not a code", '<input name="country">', "country_name", "United States"],
    ["autocomplete organization", '<input name="x1" autocomplete="organization">', "company"],
    ["autocomplete over a misleading name", '<input name="city" autocomplete="family-name">', "last_name"],
    [
      "autocomplete tel-extension, which is not a phone number",
      '<input type="tel" name="x1" autocomplete="tel-extension">',
      undefined,
      "12",
    ],
    ["autocomplete address-line3, which has no key", '<input name="x1" autocomplete="address-line3">', undefined],
    ["type=email", '<input type="email" name="x1">', "email", "a@b.example"],
    ["type=email with autocomplete=off", '<input type="email" name="x1" autocomplete="off">', "email", "a@b.example"],
    ["type=tel", '<input type="tel" name="x1">', "phone", "5550123"],
    ["type=tel unless it is a number pad for the zip code", '<input type="tel" name="zip">', "zip", "89501"],
    ["type=tel unless it is a code", '<input type="tel" name="sms_code">', undefined, "123456"],
    ["name", '<input name="email">', "email", "a@b.example"],
    ["name in camelCase", '<input name="contactLastName">', "last_name"],
    ["name in kebab-case", '<input name="last-name">', "last_name"],
    ["name in capitals", '<input name="FNAME">', "first_name"],
    ["name in one word", '<input name="firstname">', "first_name"],
    ["name with a prefix", '<input name="billing_postcode">', "zip"],
    ["name with the last bracket", '<input name="user[address_attributes][city]">', "city"],
    ["name with the brackets before a number", '<input name="user[phones][0][number]">', "phone", "5550123"],
    ["name with brackets and [first]", '<input name="wpforms[fields][3][first]">', "first_name"],
    ["name with $", '<input name="ctl00$Main$txtFirstName">', "first_name"],
    ["name with dots", '<input name="order.customer.email">', "email", "a@b.example"],
    ["name with an accent", '<input name="prénom">', "first_name"],
    ['name "name"', '<input name="name">', "full_name"],
    ['name "your-name"', '<input name="your-name">', "full_name"],
    ['name "fullName"', '<input name="fullName">', "full_name"],
    ['name "name-2"', '<input name="name-2">', "full_name"],
    ['name "email_address", which is no address', '<input name="email_address">', "email", "a@b.example"],
    ['name "company_name", which is no name', '<input name="company_name">', "company"],
    ['name "address_city", which is no address', '<input name="address_city">', "city"],
    ['name "address"', '<input name="address">', "address_line1"],
    ['name "street_address_2"', '<input name="street_address_2">', "address_line2"],
    ['name "jobTitle", which is not contact data', '<input name="jobTitle">', undefined],
    ['name "mobile"', '<input name="mobile">', "phone", "5550123"],
    ['name "contact_number"', '<input name="contact_number">', "phone", "5550123"],
    ['name "user_mail"', '<input name="user_mail">', "email", "a@b.example"],
    ['name "username", which is nothing of ours', '<input name="username">', undefined],
    ['name "company_size", which is nothing of ours', '<input name="company_size">', undefined],
    ['name "capacity", which is no city', '<input name="capacity">', undefined],
    ['name "hotel", which is no telephone', '<input name="hotel">', undefined, "5550123"],
    ['name "phone_country_code", which is half a number', '<input name="phone_country_code">', undefined, "+1"],
    ["id", '<input id="home-phone" name="f7">', "phone", "5550123"],
    ["label for=", '<label for="c">Last name *</label><input id="c" name="f7">', "last_name"],
    ["label around", '<label>Ville <input name="f7"></label>', "city"],
    [
      "label around a select, without its options",
      '<label>State <select name="f7"><option>Kansas City</option></select></label>',
      "state",
      "Kansas City",
    ],
    ["label with accents", '<label>Téléphone <input name="f7"></label>', "phone", "5550123"],
    ["label in French, of the whole name", '<label>Nom et prénom <input name="f7"></label>', "full_name"],
    ["label in French, of the family name", '<label>Nom de famille <input name="f7"></label>', "last_name"],
    ["label in German", '<label>Straße <input name="f7"></label>', "address_line1"],
    ["label in Spanish", '<label>Código postal <input name="f7"></label>', "zip"],
    ["label in German, of the whole name", '<label>Vor- und Nachname <input name="f7"></label>', "full_name"],
    ["label in Spanish, of the whole name", '<label>Nombre y apellidos <input name="f7"></label>', "full_name"],
    ["label in German, of a mobile phone", '<label>Handynummer <input name="f7"></label>', "phone", "0170 1234567"],
    ["label in Spanish, of a mobile phone", '<label>Celular <input name="f7"></label>', "phone", "55 1234 5678"],
    ["label in Dutch, of a phone", '<label>Telefoonnummer <input name="f7"></label>', "phone", "06 12345678"],
    ['name "mail_address", which is no street address', '<input name="mail_address">', "email", "a@b.example"],
    ["label in French, of the email address", '<label>Adresse mail professionnelle * <input name="f7"></label>', "email", "a@b.example"],
    ['label "Mail (we send a one-time code)"', '<label>Mail (we send a one-time code) <input name="f7"></label>', "email", "a@b.example"],
    ['label "E-Mail für Ihre Eintrittskarte"', '<label>E-Mail für Ihre Eintrittskarte <input name="f7"></label>', "email", "a@b.example"],
    ['label "Mail (required)"', '<label>Mail (required) <input name="f7"></label>', "email", "a@b.example"],
    ['name "mail_zip", which is no email address', '<input name="mail_zip">', "zip", "89501"],
    ['name "mail_city", which is no email address', '<input name="mail_city">', "city", "Reno"],
    ['name "mail_phone", which is no email address', '<input name="mail_phone">', "phone", "5550101"],
    ["part of a phone number, which is not a phone number", '<input name="phone1">', undefined, "202"],
    [
      "label that is a whole sentence: not at all",
      '<label>By giving us your phone number here you agree that we may call you <input name="f7"></label>',
      undefined,
      "5550123",
    ],
    ['label "Name (first and last)"', '<label>Name (first and last) <input name="f7"></label>', "full_name"],
    ["placeholder", '<input name="f7" placeholder="Your e-mail">', "email", "a@b.example"],
    ["aria-label", '<input name="f7" aria-label="ZIP code">', "zip"],
  ];
  it.each(recognizedControls)("%s", async (_by, control, key, value = "Value") => {
    const markup =
      control.startsWith("<input") || control.includes("<input") ? control.replace("<input", `<input value="${value}"`) : control;
    const other = '<input data-svc-field="consent_channel" value="web">';
    expect(await readFields(markup + other)).toEqual({ ...(key && { [key]: value }), consent_channel: "web" });
  });
});

describe("among several controls", () => {
  it("the field map takes precedence over the attribute, and the attribute over any guess", async () => {
    const controls = `<input type="email" name="email" value="guessed@x.example"><input data-svc-field="email" value="named@x.example">
      <input id="mapped" name="q" value="mapped@x.example"><input data-svc-field="phone" name="q2" value="5550199"><input type="tel" value="5550100">`;
    expect(await readFields(controls, { fieldMap: { "#mapped": "email" } })).toEqual({ email: "mapped@x.example", phone: "5550199" });
  });

  it("autocomplete takes precedence over type, type over name, name over label, and the first of equals wins", async () => {
    const controls = `<input name="email" value="by-name@x.example"><input type="email" value="by-type@x.example">
      <label>Phone <input name="a" value="5550101"></label><input name="phone" value="5550102"><input name="phone2" value="5550103">
      <input name="city" value="named"><input name="b" autocomplete="address-level2" value="completed">`;
    expect(await readFields(controls)).toEqual({ email: "by-type@x.example", phone: "5550102", city: "completed" });
  });

  it.each([
    ["a name", '<input type="tel" name="phone" value="5550101">', { phone: "5550101" }],
    ["a name for a mobile number", '<input type="tel" name="mobile" value="5550101">', { phone: "5550101" }],
    ["a label", '<label>Mobile <input type="tel" name="field_4" value="5550101"></label>', { phone: "5550101" }],
  ])("a phone with %s takes precedence over a control that only shows a number pad", async (_hint, phone, expected) => {
    const numbers = `<input type="tel" name="loan_amount" value="1250000"><label>Income <input type="tel" name="field_3" value="9000000"></label>
      <input type="tel" name="dob" placeholder="MM/DD/YYYY" value="01/31/1980">`;
    expect(await readFields(numbers + phone)).toEqual(expected);
  });

  it("a number pad is the phone if a hidden input with the complete number is still empty", async () => {
    const controls = '<input type="tel" name="f1" value="5550101"><input type="hidden" data-svc-field="phone">';
    expect(await readFields(controls)).toEqual({ phone: "5550101" });
  });

  it.each([
    ["a label that starts with the phone", '<label>Phone. We will email you too <input type="tel" name="q4"></label>'],
    ["a label for either", '<label>Phone or email <input type="tel" name="f1"></label>'],
    ["a name for either", '<input type="tel" name="email_or_phone">'],
    ["its type, beside an empty alternate phone", '<label>Celular <input type="tel" name="f1"></label><input type="tel" name="phone">'],
    ["its type, beside a checkbox", '<input type="tel" name="f1"><input type="checkbox" data-svc-field="phone_consent">'],
    ["a label that says what kind of phone", '<label>Business phone <input type="tel" name="contact[business]"></label>'],
    ["an ID, before the name of an alternate", '<input type="tel" id="phone"><input type="tel" name="alt_phone" value="5550199">'],
    [
      "a label, before the name of another",
      '<label>Phone <input type="tel" name="f1"></label><input type="tel" name="emergency_phone" value="5550199">',
    ],
  ])("an input of type tel is the phone by %s", async (_hint, controls) => {
    expect(await readFields(controls.replace('type="tel"', 'type="tel" value="5550101"'))).toEqual({ phone: "5550101" });
  });

  it.each([
    ["names", '<input name="email"><input type="tel" name="tel-7"><input name="city">'],
    ["types and IDs", '<input type="email" name="f1"><input id="phone"><input id="city">'],
    [
      "labels",
      '<label>E-Mail <input name="f1"></label><label>Phone <input type="tel" name="f2"></label><label>City <input name="f3"></label>',
    ],
  ])("autocomplete=new-password does not hide fields that are recognized by their %s", async (_hints, controls) => {
    const values = ["a@b.example", "5550101", "Reno"];
    const filled = controls.replaceAll("<input", () => `<input autocomplete="new-password" value="${values.shift()}"`);
    expect(await readFields(filled)).toEqual({ email: "a@b.example", phone: "5550101", city: "Reno" });
  });

  it("a code from an email in an input of type tel is never the phone number", async () => {
    const code = '<label>Email verification code <input type="tel" name="f1" value="482913"></label>';
    expect(await readFields(`${code}<input name="phone" value="5550101">`)).toEqual({ phone: "5550101" });
  });

  it("a control with a key that the API reserves is left out", async () => {
    const controls = `<input data-svc-field="constructor" value="Acme"><input data-svc-field="prototype" value="2"><input name="zip" value="1">`;
    expect(await readFields(controls)).toEqual({ zip: "1" });
  });

  it("an empty control is skipped, so a honeypot is never used", async () => {
    const controls = '<input name="email" autocomplete="email" value=" "><input name="mail" value="real@x.example">';
    expect(await readFields(controls)).toEqual({ email: "real@x.example" });
  });

  it("only the checked radio button and checked boxes count when mapped", async () => {
    const controls = `<input name="phone" value="5550100"><input type="radio" name="via" value="sms"><input type="radio" name="via" value="call" checked>
      <input type="checkbox" class="news" value="yes">`;
    const fieldMap = { "[name=via]": "consent_channel", ".news": "newsletter" };
    expect(await readFields(controls, { fieldMap })).toEqual({ phone: "5550100", consent_channel: "call" });
  });

  it("hidden inputs of other steps and inputs linked by form= are read", async () => {
    const body = await certifyForm(`<form id="this"><div style="display:none"><input name="zip" value="89501"></div></form>
      <input form="this" name="email" value="a@b.example"><form><input name="phone" value="5550100"></form>`);
    expect(body!.fields).toEqual({ zip: "89501", email: "a@b.example" });
  });

  it("the first label names a control, and labels are looked up once per page", async () => {
    // Reading each control's `labels` would take 15 seconds in a form with ten thousand inputs.
    const spy = (page: Page) =>
      page.evaluate(() => {
        const input = document.querySelector("#a")!;
        Object.defineProperty(input, "labels", { get: () => Object.assign(input, { wasAsked: true }) && null });
      });
    const body = await certifyForm(
      '<form><label for="a">E-mail</label><label for="a">Telephone</label><input id="a" value="a@b.example"></form>',
      {},
      spy,
    );
    expect(body!.fields).toEqual({ email: "a@b.example" });
    expect(await visit.page.evaluate(() => "wasAsked" in document.querySelector("#a")!)).toBe(false);
  });

  it("a form-associated custom element is read like an input", async () => {
    const body = await certifyForm('<form><x-input name="email"></x-input></form>', {}, (page) =>
      page.evaluate(() => {
        customElements.define(
          "x-input",
          class extends HTMLElement {
            static formAssociated = true;
            internals = this.attachInternals();
            get name() {
              return this.getAttribute("name");
            }
            get value() {
              return "a@b.example";
            }
          },
        );
      }),
    );
    expect(body!.fields).toEqual({ email: "a@b.example" });
  });
});

describe("the field map", () => {
  const controls = '<input name="a" value="x"><input name="email" value="a@b.example"><input class="c" value="5550100">';
  it.each([
    ["as an object", { "[name=a]": "company", ".c": "phone" }, { company: "x", email: "a@b.example", phone: "5550100" }],
    ["as JSON", '{"[name=a]":"company"}', { company: "x", email: "a@b.example" }],
    ["as broken JSON, which falls back to guessing", '{"[name=a]":', { email: "a@b.example" }],
    ["as JSON that is not an object", '"email"', { email: "a@b.example" }],
    ["as JSON null", "null", { email: "a@b.example" }],
    [
      "with one bad selector, which does not spoil the rest",
      { "a[[": "zip", "[name=a]": "company" },
      { company: "x", email: "a@b.example" },
    ],
    ["with a key the API refuses, which leaves the control out", { "[name=email]": "E-Mail!", ".c": "phone" }, { phone: "5550100" }],
    ["with an empty key, which leaves the control out", { "[name=email]": "", ".c": "phone" }, { phone: "5550100" }],
    ["with null as key, which leaves the control out", { "[name=email]": null, ".c": "phone" }, { phone: "5550100" }],
  ])("%s", async (_how, fieldMap, expected) => {
    expect(await readFields(controls, { fieldMap })).toEqual(expected);
  });
});

describe("never read, not even when mapped", () => {
  const secrets: [string, string][] = [
    ["a password", '<input type="password" name="p">'],
    ["a visible password", '<input type="text" name="p" autocomplete="current-password">'],
    ["a new password", '<input type="text" name="p" autocomplete="section-a new-password">'],
    ["a text box named password", '<input type="text" name="user[password]">'],
    ["a card number", '<input name="p" autocomplete="cc-number">'],
    ["a card number by name", '<input type="tel" name="cardNumber">'],
    ["a card number by label, in a field that shows a number pad", '<label>Card number <input type="tel" name="field_9"></label>'],
    ["a card number by placeholder, in a field that shows a number pad", '<input type="tel" name="number" placeholder="Card number">'],
    ["a social security number by aria-label, with a number pad", '<input type="tel" aria-label="Social Security Number">'],
    ["a card number by label, although the text mentions a phone", '<label>Card number, or phone us <input type="tel" name="f9"></label>'],
    ["a card holder", '<input name="cardholder_name">'],
    ["a card code", '<input name="cvv2">'],
    ["a one-time code", '<input name="p" autocomplete="one-time-code">'],
    ["a one-time code by name", '<input name="otp">'],
    ["a one-time code by the name of a phone's code", '<input type="tel" name="phone_otp">'],
    ["a PIN by label", '<label>Mobile banking PIN <input type="tel" name="f9"></label>'],
    [
      "a PIN by label, although the placeholder mentions a phone",
      '<label>PIN <input type="tel" name="f9" placeholder="Sent to your phone"></label>',
    ],
    ["a one-time code by label", '<label>Mobile OTP <input type="tel" name="f9"></label>'],
    ["a one-time code that was sent to a phone", '<label>One-time code that we sent to your phone <input type="tel" name="f9"></label>'],
    ["a card number by label, in German", '<label>Kartennummer <input type="tel" name="f9"></label>'],
    ["a card by label, in German", '<label>Karte <input type="tel" name="f9"></label>'],
    ["a bank account by label", '<label>IBAN <input type="tel" name="f9"></label>'],
    ["a credit card by label, in German", '<label>Kreditkarte <input type="tel" name="f9"></label>'],
    ["a card number by label, in French", '<label>Numéro de carte <input type="tel" name="f9"></label>'],
    ["a credit card by label, in French", '<label>Carte bancaire <input type="tel" name="f9"></label>'],
    ["a card number by label, in Spanish", '<label>Número de tarjeta <input type="tel" name="f9"></label>'],
    ["a visible password by label, in French", '<label>Mot de passe <input name="f9"></label>'],
    ["a visible password by label, in Spanish", '<label>Contraseña <input name="f9"></label>'],
    ["a new password by label", '<label>Password for your email account <input name="f9" autocomplete="new-password"></label>'],
    ["a PIN by ID", '<input id="phone.pin">'],
    ["a social security number by name", '<input name="ssn">'],
    ["a social security number by label", '<label>Social Security Number <input name="field_9"></label>'],
    ["a PIN by placeholder", '<input name="field_9" placeholder="PIN">'],
    ["a hidden input", '<input type="hidden" name="p">'],
    ["a file", '<input type="file" name="p">'],
    ["a disabled control", '<input name="p" disabled>'],
    ["a control in a disabled fieldset", '<fieldset disabled><input name="p"></fieldset>'],
  ];
  it.each(secrets)("%s", async (_what, markup) => {
    const trapValueAccess = async (page: Page) =>
      page.evaluate(() => {
        const control = document.querySelector<HTMLInputElement>("form input:not([name=email])")!;
        control.dataset.svcField = "company";
        Object.defineProperty(control, "value", {
          get() {
            document.title = "READ";
            return "secret";
          },
        });
      });
    const body = await certifyForm(`<form>${markup}<input name="email" value="a@b.example"></form>`, {}, trapValueAccess);
    expect(body!.fields).toEqual({ email: "a@b.example" });
    expect(await visit.page.title()).not.toBe("READ");
  });

  it.each([
    ["free text", '<textarea name="phone">5550100</textarea>'],
    ["an unrelated control", '<input name="favourite_colour" value="red">'],
    ["a checkbox", '<input type="checkbox" name="phone" value="5550100" checked>'],
    ["a date", '<input type="date" name="city" value="2026-01-01">'],
  ])("nothing is guessed about %s", async (_what, markup) => {
    expect(await readFields(`${markup}<input name="email" value="a@b.example">`)).toEqual({ email: "a@b.example" });
  });

  it.each([
    ["a one-time code", '<label>Mobile (we text a one-time code) <input name="mobile"></label>'],
    ["a one-time code, under an opaque name", '<label>Mobile (we’ll text you a one-time code) <input type="tel" name="field_3"></label>'],
    ["a credit card", '<label>Phone – no credit card required <input type="tel" name="field_3"></label>'],
    ["a social security number", '<label>Phone number (never your SSN) <input type="tel" name="field_3" data-svc-field="phone"></label>'],
    ["an OTP", '<label>Cell – for the OTP <input type="tel" name="f1"></label>'],
    ["an SSN, in a text field", '<label>Phone (no SSN) <input name="f1"></label>'],
    [
      "a one-time code in a whole paragraph",
      '<label>Phone * By giving your number, you agree to receive texts, including one-time passcodes <input type="tel" name="f1"></label>',
    ],
  ])("a phone whose label mentions %s is still a phone", async (_secret, markup) => {
    expect(await readFields(markup.replace("<input", '<input value="5550100"'))).toEqual({ phone: "5550100" });
  });

  it("an email address whose label mentions a one-time code is still an email address", async () => {
    const label = '<label>Email (we send a one-time code) <input name="input_2" value="a@b.example"></label>';
    expect(await readFields(label)).toEqual({ email: "a@b.example" });
  });
});

describe("values", () => {
  it.each([
    [
      "are trimmed and otherwise as typed",
      '<input name="full_name" value="  Zoë  O’Neil-李 👩‍👩‍👧 ">',
      { full_name: "Zoë  O’Neil-李 👩‍👩‍👧" },
    ],
    [
      "lose the invisible marks of copied phone numbers",
      '<input name="phone" value="\u202a+1 202 555 0123\u202c">',
      { phone: "+1 202 555 0123" },
    ],
    ["lose other characters that no one can see", '<input name="city" value="Se\u3164oul\u034f">', { city: "Seoul" }],
    ["of a mapped textarea become one line", '<textarea data-svc-field="message">a\n b</textarea>', { message: "a  b" }],
    [
      "that are not an email address are not treated as one",
      '<select name="email_me"><option>weekly</option></select><input name="zip" value="1">',
      { zip: "1" },
    ],
    [
      "of an email input are sent even if they are not an email address",
      '<input type="email" name="mail" value="pat.example.com"><input name="zip" value="1">',
      { email: "pat.example.com", zip: "1" },
    ],
    [
      "of a mapped list are all its selected options",
      '<select data-svc-field="interests" multiple><option selected>Solar</option><option>Wind</option><option selected>Heat</option></select>',
      { interests: "Solar, Heat" },
    ],
    [
      "of a mapped list without a selected option are left out",
      '<select data-svc-field="interests" multiple><option>Solar</option></select><input name="zip" value="1">',
      { zip: "1" },
    ],
    ["that are not a phone number are not treated as one", '<input name="phone" value="none"><input name="zip" value="1">', { zip: "1" }],
    ["longer than the API takes are left out", `<input name="city" value="${"x".repeat(501)}"><input name="zip" value="1">`, { zip: "1" }],
  ])("%s", async (_what, markup, expected) => {
    expect(await readFields(markup)).toEqual(expected);
  });

  it("are the current ones, whether set by script or typed", async () => {
    const fill = (page: Page) =>
      page.evaluate(() => {
        document.querySelector("input")!.value = "filled@x.example";
      });
    expect((await certifyForm('<form><input name="email" value="old@x.example"></form>', {}, fill))!.fields).toEqual({
      email: "filled@x.example",
    });
  });

  it("cause no request and an error event when there are none", async () => {
    expect(await readFields('<input name="favourite_colour" value="red">')).toBeUndefined();
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["config"]);
  });
});

describe("recipients", () => {
  const withBoxes = async (boxes: string, entities: string | string[] = "Acme, Inc.|Beta") => {
    const body = await certifyForm(`<form id="this"><input name="email" value="a@b.example">${boxes}</form>`, { entities });
    return body && [body.entities, body.entities_accepted, body.entities_rejected];
  };

  it.each([
    ["a bar splits, and commas then stay", "Acme, Inc.|Beta", ["Acme, Inc.", "Beta"]],
    ["commas split without a bar", "Acme,Beta , Gamma", ["Acme", "Beta", "Gamma"]],
    ["a trailing bar marks a single name with a comma", "Acme, Inc.|", ["Acme, Inc."]],
    ["empty names and repetitions drop out", " Acme || Beta |Acme|", ["Acme", "Beta"]],
    ["a list is taken as it is", ["Acme, Inc.", " Beta "], ["Acme, Inc.", "Beta"]],
    ["the same name in two spellings of its accents is one", "Caf\u00e9|Cafe\u0301", ["Caf\u00e9"]],
  ])("%s", async (_rule, entities, expected) => {
    expect(await withBoxes("", entities)).toEqual([expected, undefined, undefined]);
  });

  it("are not sent without recipient boxes", async () => {
    const body = await certifyForm('<form><input name="email" value="a@b.example"></form>');
    expect(Object.keys(body!)).not.toContain("entities_accepted");
    expect(Object.keys(body!)).not.toContain("entities_rejected");
  });

  const buildCheckbox = (name: string, isTicked: boolean, more = "") =>
    `<input type="checkbox" data-sp1-entity="${name}" ${isTicked ? "checked" : ""} ${more}>`;

  it.each([
    [
      "ticked is accepted, unticked is rejected",
      buildCheckbox("Acme, Inc.", true) + buildCheckbox("Beta", false),
      ["Acme, Inc."],
      ["Beta"],
    ],
    ["no rejection is an empty list", buildCheckbox("Acme, Inc.", true) + buildCheckbox("Beta", true), ["Acme, Inc.", "Beta"], []],
    ["a declared recipient without a box is in neither list", buildCheckbox("Beta", true), ["Beta"], []],
    ["an undeclared name is ignored", buildCheckbox("Beta", true) + buildCheckbox("Gamma", true), ["Beta"], []],
    ["only undeclared names give two empty lists", buildCheckbox("Gamma", true), [], []],
    [
      "two boxes for one name reject it when one is unticked",
      buildCheckbox("Beta", true) + buildCheckbox("Beta", false) + buildCheckbox("Acme, Inc.", true),
      ["Acme, Inc."],
      ["Beta"],
    ],
    ["a box outside tied by form= counts", `</form>${buildCheckbox("Beta", true, 'form="this"')}<form>`, ["Beta"], []],
    ["a box of another form does not", `${buildCheckbox("Beta", true)}</form><form>${buildCheckbox("Acme, Inc.", true)}`, ["Beta"], []],
    ["an ARIA checkbox counts", '<div role="checkbox" aria-checked="true" data-sp1-entity=" Beta "></div>', ["Beta"], []],
  ])("%s", async (_rule, boxes, accepted, rejected) => {
    expect(await withBoxes(boxes)).toEqual([["Acme, Inc.", "Beta"], accepted, rejected]);
  });

  it("cause no certificate and no event when all are declined", async () => {
    expect(await withBoxes(buildCheckbox("Acme, Inc.", false) + buildCheckbox("Beta", false))).toBeUndefined();
    expect(visit.events).toEqual([]);
  });
});

describe("the disclosure", () => {
  const certifyMarkup = (markup: string, options: object = {}) =>
    certifyForm(`<form id="this"><input name="email" value="a@b.example">${markup}</form>`, {
      disclosureSelector: ".d",
      disclosureText: undefined,
      ...options,
    });
  const listErrorCodes = () => visit.events.map(({ detail }) => detail.code);

  it.each([
    [
      "is what is displayed: no hidden part, no script, no style",
      '<p class="d">I <b>agree</b><span hidden> not</span><script>var x</script><style>.q{}</style>.</p>',
      "I agree.",
    ],
    ["has its white space collapsed, no-break spaces included", '<div class="d"> I&nbsp;\n <p>agree</p><br>now </div>', "I agree now"],
    ["is in the case it is displayed in", '<p class="d" style="text-transform:uppercase">I agree</p>', "I AGREE"],
    ["leaves out a closed details", '<div class="d">I agree.<details><summary>More</summary>Small print</details></div>', "I agree. More"],
    ["keeps text in every writing system", '<p class="d">Я согласен · 同意する · أوافق 👍</p>', "Я согласен · 同意する · أوافق 👍"],
    ["may be display:contents", '<p class="d" style="display:contents">I agree</p>', "I agree"],
    ["is the displayed one of two copies", '<p class="d" style="display:none">phone copy</p><p class="d">desk copy</p>', "desk copy"],
    [
      "is the one inside the form",
      '</form><p class="d">elsewhere</p><form id="other"><p class="d">other</p></form><p class="d">out</p>',
      "elsewhere",
    ],
    ["may be a label around the box", '<label class="d"><input type="checkbox"> I agree</label>', "I agree"],
  ])("%s", async (_rule, markup, expected) => {
    expect((await certifyMarkup(markup))!.disclosure_text).toBe(expected);
  });

  it.each([
    ["is not displayed", '<p class="d" style="display:none">x</p>', {}],
    ["is inside something not displayed", '<div hidden><p class="d">x</p></div>', {}],
    ["is visibility:hidden", '<p class="d" style="visibility:hidden">x</p>', {}],
    ["is inside a closed details", '<details><summary>s</summary><p class="d">x</p></details>', {}],
    ["is empty", '<p class="d"> </p>', {}],
    ["belongs to another form", '</form><form id="other"><p class="d">x</p></form>', {}],
    ["is nowhere, with no literal", "", {}],
    ["is not displayed although a literal is given", '<p class="d" hidden>x</p>', { disclosureText: "literal" }],
    ["is looked up by an invalid selector", '<p class="d">x</p>', { disclosureSelector: "p[[", disclosureText: "literal" }],
  ])("that %s is not certified, and an event reports it", async (_what, markup, options) => {
    expect(await certifyMarkup(markup, options)).toBeUndefined();
    expect(listErrorCodes()).toEqual(["config"]);
  });

  const buildWizard = (
    disclosure: string,
  ) => `<form action="{{action}}" method="post" id="lead"><div id="one"><input name="email" value="a@b.example">
    <input type="checkbox" id="consent">${disclosure}</div><div id="two" hidden><button id="send">Send</button></div></form>`;
  const toSecondStep = (page: Page) =>
    page.evaluate(() => {
      document.querySelector("#terms")!.textContent += " More.";
      document.querySelector<HTMLElement>("#one")!.hidden = true;
      document.querySelector<HTMLElement>("#two")!.hidden = false;
    });

  it("of an earlier step is the one that was displayed when its box was checked", async () => {
    const visit = await world.visit({ html: buildWizard('<p id="terms">I agree.</p>') });
    await press(visit.page, "#consent");
    await toSecondStep(visit.page);
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toHaveLength(1);
    expect(visit.calls[0]!.body).toMatchObject({ disclosure_text: "I agree.", presentation: { visible: true } });
    await visit.close();
  });

  it("of an earlier step is the one that was displayed when the box was checked whose label is selected", async () => {
    const html = buildWizard('<label for="consent">Yes</label><p id="terms">I agree.</p>');
    const visit = await world.visit({ html, widget: { "data-checkbox-selector": "label" } });
    await press(visit.page, "#consent");
    await toSecondStep(visit.page);
    await press(visit.page, "#send");
    await visit.submitted();
    expect(visit.calls[0]!.body).toMatchObject({ disclosure_text: "I agree.", presentation: { opt_in_type: "manual" } });
    await visit.close();
  });

  it("of an earlier step is not certified after a reset, even if a script checks the box again", async () => {
    const visit = await world.visit({ html: buildWizard('<p id="terms">I agree.</p>') });
    await press(visit.page, "#consent");
    await toSecondStep(visit.page);
    await visit.page.evaluate("lead.reset(); consent.checked = true");
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["config"]);
    await visit.close();
  });

  it("of an earlier step is not certified if it was hidden when the box was checked", async () => {
    const visit = await world.visit({ html: buildWizard('<p id="terms" hidden>I agree.</p>') });
    await press(visit.page, "#consent");
    await toSecondStep(visit.page);
    await press(visit.page, "#send");
    expect(extractCertificates(await visit.submitted())).toEqual([]);
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["config"]);
    await visit.close();
  });

  it("is the one at submission if it is still displayed", async () => {
    const visit = await world.visit({ html: buildWizard('<p id="terms">I agree.</p>').replace("hidden", "") });
    await press(visit.page, "#consent");
    await visit.page.evaluate(() => {
      document.querySelector("#terms")!.textContent = "I agree to this.";
    });
    await press(visit.page, "#send");
    await visit.submitted();
    expect(visit.calls[0]!.body.disclosure_text).toBe("I agree to this.");
    await visit.close();
  });

  it("is the literal text only when no element matches", async () => {
    expect((await certifyMarkup("", { disclosureText: " My literal. " }))!.disclosure_text).toBe("My literal.");
    visit.calls.length = 0;
    expect((await certifyMarkup('<p class="d">Displayed.</p>', { disclosureText: "My literal." }))!.disclosure_text).toBe("Displayed.");
  });

  const seen: [string, string, boolean][] = [
    ["plainly", '<p class="d">x</p>', true],
    ["faded out", '<p class="d" style="opacity:0">x</p>', false],
    ["one pixel in size", '<p class="d" style="position:absolute;width:1px;height:1px;overflow:hidden">x</p>', false],
    ["off the page", '<p class="d" style="position:absolute;left:-9999px">x</p>', false],
  ];
  it.each(seen)("is certified with evidence when shown %s", async (_how, markup, visible) => {
    expect((await certifyMarkup(`<style>.d { font-size: 11px }</style>${markup}`))!.presentation).toEqual({
      opt_in_type: "non_interactive",
      font_px: 11,
      visible,
    });
  });
});

describe("the consent box", () => {
  const withBox = (markup: string, checkboxSelector: string | undefined = ".c") =>
    certifyForm(`<form id="this"><input name="email" value="a@b.example">${markup}</form>`, { checkboxSelector }, (page) =>
      page.evaluate(() => {
        for (const component of document.querySelectorAll("x-box")) Object.assign(component, { form: "" });
      }),
    );

  it.each([
    ["ticked", '<input type="checkbox" class="c" name="ok" checked>', "pre_selected"],
    ["of ARIA", '<button type="button" role="checkbox" aria-checked="true" class="c"></button>', undefined],
    ["of a component whose form property is text", '<x-box class="c" aria-checked="true"></x-box>', undefined],
    ["as a radio button", '<input type="radio" class="c" checked>', "pre_selected"],
    ["that cannot be changed", '<input type="checkbox" class="c" checked disabled>', "non_interactive"],
    ["tied by form=", '</form><input type="checkbox" form="this" class="c" checked><form>', "pre_selected"],
    ["whose label is selected", '<label class="c"><input type="checkbox" checked> I agree</label>', "pre_selected"],
    [
      "whose separate label is selected",
      '<label class="c" for="box">I agree</label><input type="checkbox" id="box" checked>',
      "pre_selected",
    ],
    [
      "in the selected element",
      '<div class="c"><input type="hidden" name="ok" value="0"><input type="checkbox" name="ok" checked> I agree</div>',
      "pre_selected",
    ],
    ["ticked twice", '<input type="checkbox" class="c" checked><input type="checkbox" class="c" checked>', "pre_selected"],
  ])("%s certifies, and the evidence says how it was checked", async (_what, markup, optIn) => {
    expect(getOptInType(await withBox(markup))).toBe(optIn);
  });

  const box = '<form id="this"><input name="email" value="a@b.example"><label><input type="checkbox" class="c"> <b>Yes</b></label></form>';
  const readOptInAfter = async (html: string, act: (page: Page) => Promise<unknown>) =>
    getOptInType(await certifyForm(html, { checkboxSelector: ".c" }, act));

  it("counts as checked manually only after a click of the person", async () => {
    expect(await readOptInAfter(box, (page) => press(page, ".c"))).toBe("manual");
    visit.calls.length = 0;
    expect(await readOptInAfter(box, (page) => press(page, "b"))).toBe("manual");
    visit.calls.length = 0;
    expect(await readOptInAfter(box, (page) => page.focus(".c").then(() => page.keyboard.press("Space")))).toBe("manual");
    visit.calls.length = 0;
    const ticked = box.replace('class="c"', 'class="c" checked');
    expect(await readOptInAfter(ticked, (page) => press(page, ".c").then(() => press(page, ".c")))).toBe("manual");
  });

  it("has no opt-in type when a script checked it", async () => {
    expect(
      await readOptInAfter(box, (page) => page.evaluate(() => document.querySelector<HTMLInputElement>(".c")!.click())),
    ).toBeUndefined();
    visit.calls.length = 0;
    const set = (page: Page) => page.evaluate(() => Object.assign(document.querySelector(".c")!, { checked: true }));
    expect(await readOptInAfter(box, set)).toBeUndefined();
  });

  it("is named in the evidence, with an empty name if it has none", async () => {
    expect((await withBox('<input type="checkbox" class="c" name="ok" checked>'))!.presentation).toMatchObject({ checkbox_name: "ok" });
    visit.calls.length = 0;
    const nameless = '<div role="checkbox" aria-checked="true" class="c"></div>';
    expect((await withBox(nameless))!.presentation).toMatchObject({ checkbox_name: "" });
  });

  it.each([
    ["unticked", '<input type="checkbox" class="c">'],
    ["unticked, whose label is selected", '<label class="c"><input type="checkbox"> I agree</label>'],
    ["unticked, in the selected element", '<div class="c"><input type="checkbox"> I agree</div>'],
    ["half ticked, in the selected element", '<div class="c"><input type="checkbox" checked><input type="checkbox"> I agree</div>'],
    ["half ticked", '<input type="checkbox" class="c" checked><input type="checkbox" class="c">'],
    ["unticked, with an outdated ARIA state", '<input type="checkbox" aria-checked="true" class="c">'],
    ["of ARIA unticked", '<div role="checkbox" aria-checked="false" class="c"></div>'],
    ["of ARIA undecided", '<div role="checkbox" aria-checked="mixed" class="c"></div>'],
  ])("%s causes no request and no event", async (_what, markup) => {
    expect(await withBox(markup)).toBeUndefined();
    expect(visit.events).toEqual([]);
  });

  it.each([
    ["matches nothing", "", ".c"],
    ["matches a box of another form only", '</form><form><input type="checkbox" class="c" checked>', ".c"],
    ["matches a box outside any form", '</form><input type="checkbox" class="c" checked><form>', ".c"],
    ["is not a valid selector", '<input type="checkbox" class="c" checked>', "[c"],
    ["is empty", '<input type="checkbox" class="c" checked>', ""],
  ])("whose selector %s causes no request, and an event reports it", async (_what, markup, selector) => {
    expect(await withBox(markup, selector)).toBeUndefined();
    expect(visit.events.map(({ detail }) => detail.code)).toEqual(["config"]);
  });
});
