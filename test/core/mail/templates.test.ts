// Renders every email template in every language and checks that text from users cannot add links, headers or recipients.
import { describe, expect, test } from "vitest";
import { composeMail } from "../../../core/mail/compose.ts";
import { en } from "../../../core/mail/i18n/en.ts";
import { es } from "../../../core/mail/i18n/es.ts";
import { frCa } from "../../../core/mail/i18n/fr-CA.ts";
import { fillText, getPreview, toPlainName, toPlainText } from "../../../core/mail/message.ts";
import { renderMail } from "../../../core/mail/render.ts";
import { languages, type Language } from "../../../core/language.ts";
import { mailLifetimeMs, type TemplatedMail } from "../../../core/mail/templates.ts";
import { sampleMails as mails } from "../../support/sample-mails.ts";

const deployment = { appUrl: "https://app.example.com", supportEmail: null };
const supportEmail = "support@svc.example";
const cases = languages.flatMap((language) => Object.values(mails).map((mail) => ({ language, template: mail.template, mail })));

/** Catalog keys whose text is the same word in English and another language. */
const sameInBoth = new Set(["facts.endpoint", "facts.token"]);

const envelope = { id: "id", to: "pat@example.com", from: "no-reply@example.com", language: "en" as Language };
const composeMessage = (language: Language, mail: TemplatedMail, settings: Parameters<typeof renderMail>[2] = deployment) =>
  composeMail({ ...envelope, language }, renderMail(language, mail, settings));
const extractLinks = (text: string): readonly string[] => [...new Set(text.match(/https?:[^\s"<]+/g))];

describe("every mail in every language", () => {
  test.each(cases)("renders $template in $language as complete text and HTML bodies", ({ language, mail }) => {
    const { subject, text, html } = composeMessage(language, mail);
    expect(subject).toMatch(/^[^\r\n]{5,80}$/);
    expect(text).not.toMatch(/undefined|\[object/);
    expect(text.split("\n\n").length).toBeGreaterThanOrEqual(4);
    expect(html).toMatch(new RegExp(`^<!doctype html><html lang="${language}">.*</html>$`, "s"));
    expect(html).not.toMatch(/undefined|\[object|<(?:b|script|img)\b/);
    expect(html.split("</head>")[1]).not.toMatch(/<(?:style|link)\b/);
    for (const body of [text, html]) expect(body).not.toMatch(/\{(?!id\}\/cease-ack)[a-z]+\}/); // finds unfilled placeholders
  });

  test.each(cases)("says the same in both bodies of $template in $language", ({ language, mail }) => {
    const { text, html } = composeMessage(language, mail);
    const visible = html
      .split("</head>")[1]
      ?.replaceAll(/<[^>]*>/g, "\n")
      .replaceAll(/&(lt|gt|quot|amp);/g, (_entity, name: string) => ({ lt: "<", gt: ">", quot: '"', amp: "&" })[name] as string) as string;
    const parts = text.split("\n").flatMap((line) => (line === "" ? [] : line.split(/(?<=^[^:]{1,60}:) /)));
    for (const part of parts) expect(visible.replaceAll(/\s+/g, " ")).toContain(part.replace(/\u00a0?:$|:$/, "").replaceAll(/\s+/g, " "));
    expect(extractLinks(visible)).toEqual(extractLinks(text));
  });

  test.each(cases)("has the heading, one button at most, and a preview in $template in $language", ({ language, mail }) => {
    const content = renderMail(language, mail, deployment);
    const { html } = composeMessage(language, mail);
    expect(html.match(/<h1\b[^>]*>([^<]+)<\/h1>/)?.[1]).toBe(content.subject);
    expect(content.lines.filter(({ kind }) => kind === "action").length).toBeLessThanOrEqual(1);
    expect(getPreview(content)).toMatch(/.{30}/);
    expect(getPreview(content)).not.toMatch(/\d{6}/); // lock screens show the preview, so it must not contain the code
    expect(content.footer.at(-1)?.kind).toBe("paragraph");
  });

  test.each(cases)("uses only what old email programs support in $template in $language", ({ language, mail }) => {
    const { html } = composeMessage(language, mail);
    const styles = [...html.matchAll(/style="([^"]*)"/g)].map(([, style]) => style);
    expect(styles.filter((style) => /flex|grid|position|var\(|#/.test(style ?? ""))).toEqual([]);
    expect(html).toContain("max-width:560px"); // 600 pixels with the padding on both sides
    expect(new TextEncoder().encode(html).length).toBeLessThan(100_000); // Gmail cuts off longer messages
  });

  test.each(cases.filter(({ template }) => template.endsWith("_code")))(
    "puts the code and no other six digits into $template in $language",
    ({ language, mail }) => {
      const { subject, text, html } = composeMessage(language, mail);
      for (const body of [text, html]) expect(body.match(/(?<!\d)\d{6}(?!\d)/g)).toEqual(["123456"]);
      expect(subject).not.toMatch(/\d/); // lock screens show the subject, so it must not contain the code
    },
  );

  test.each(cases)("ends with the support address in $template in $language, if the deployment has one", ({ language, mail }) => {
    const { text, html } = composeMessage(language, mail, { ...deployment, supportEmail });
    expect(text.trimEnd().split("\n\n").at(-1)).toContain("svc? ");
    expect(text.trimEnd().endsWith(`${supportEmail}.`)).toBe(true);
    expect(html).toContain(supportEmail);
    for (const body of Object.values(composeMessage(language, mail))) expect(body).not.toMatch(/support@|svc\? /);
  });

  test("renders different text in each language", () => {
    for (const mail of Object.values(mails)) expect(new Set(languages.map((language) => composeMessage(language, mail).text)).size).toBe(3);
  });

  test("stops retrying a code email when the code expires", () => {
    expect([mailLifetimeMs.login_code, mailLifetimeMs.signup_code, mailLifetimeMs.withdrawal_code]).toEqual([600_000, 600_000, 600_000]);
  });
});

describe("the texts in every language", () => {
  type Texts = { readonly [key: string]: string | Texts };
  const listTexts = (texts: Texts, path = ""): readonly (readonly [key: string, text: string])[] =>
    Object.entries(texts).flatMap(([key, text]) => (typeof text === "string" ? [[path + key, text]] : listTexts(text, `${path}${key}.`)));
  const listPlaceholders = (texts: Texts) => listTexts(texts).map(([key, text]) => [key, (text.match(/\{[^}]*\}/g) ?? []).sort()]);

  test.each([
    ["es", es],
    ["fr-CA", frCa],
  ])("have the same placeholders in English and %s", (_language, texts) => {
    expect(listPlaceholders(texts)).toEqual(listPlaceholders(en));
  });

  test.each([
    ["es", es],
    ["fr-CA", frCa],
  ])("are all translated into %s", (_language, texts) => {
    const english = new Map(listTexts(en));
    const same = listTexts(texts).filter(([key, text]) => english.get(key) === text);
    expect(same.map(([key]) => key).filter((key) => !sameInBoth.has(key))).toEqual([]);
  });

  test("fill placeholders in one pass, so that a name never becomes one", () => {
    expect(toPlainText(fillText("{a} and {b}, not {c}", { a: "{b}", b: { strong: "$&" } }))).toBe("{b} and $&, not {c}");
  });

  test("write a large number as Spanish speakers in the Americas do", () => {
    const mail = { ...mails.owner_digest, data: { ...mails.owner_digest.data, count: 12_345 } };
    expect(composeMessage("es", mail).subject).toContain("12,345");
  });

  test("write the first day of a month as French does", () => {
    const mail = { ...mails.share_owner_notice, data: { shareIds: ["shr_1"], ceaseBy: Date.UTC(2026, 11, 1) } } as const;
    expect(composeMessage("fr-CA", mail).text).toContain("au plus tard le 1er décembre 2026 (UTC)");
  });
});

describe("a name chosen by a business", () => {
  test.each(languages)("appears as plain text, never as a link, a line break or a subject (%s)", (language) => {
    const { subject, text, html } = composeMessage(language, mails.withdrawal_code);
    expect(subject).not.toContain("Acme");
    expect(text).toContain('Acme <b>& "Sons"<');
    expect(html).toContain("Acme &lt;b&gt;&amp; &quot;Sons&quot;");
    for (const body of [text, html]) {
      expect(body).not.toMatch(/evil\.example|\/\/evil|@evil|everyone@example/);
      expect(body).not.toContain("\r");
    }
    expect([...new Set(html.match(/href="[^"]*"/g))]).toEqual(['href="https://verify.example.com/c/cc_00abc?a=1&amp;b=2"']);
  });

  test.each(languages)("appears at most twenty times in a list of recipients (%s)", (language) => {
    const { text } = composeMessage(language, mails.entities_owner_notice);
    expect(text.match(/^\d+ Acme/gm)).toHaveLength(20);
    expect(text).toMatch(/\b5\b/);
    expect(text).not.toMatch(/evil\.example|everyone@example/);
  });

  test("stays unchanged when it is ordinary and is cut to 100 characters when it is long", () => {
    for (const name of ["Acme Solar LLC", "Bright Homes, Inc.", "Müller & Söhne", "Café «Zoé»"]) expect(toPlainName(name)).toBe(name);
    expect(toPlainName("a".repeat(5_000)).length).toBe(100);
    expect(toPlainName("a\u202Eb\u200Bc\u0000d\ne")).toBe("a b c d e");
  });

  test.each([
    ["an emoji", "🏡"],
    ["an emoji of several people", "👨‍👩‍👧‍👦"],
    ["a flag", "🇨🇦"],
    ["a letter with a combining accent", "e\u0301"],
  ])("is never cut in the middle of %s, so that the email stays valid text", (_, character) => {
    for (let length = 90; length <= 100; length += 1) {
      const business = `${"a".repeat(length)}${character.repeat(5)}`;
      const name = toPlainName(business);
      expect(name.slice(length).replaceAll(character, "")).toBe("");
      const { text, html } = composeMessage("en", {
        template: "member_invited",
        data: { businessName: business, signInUrl: "https://app.example.com", until: 0 },
      });
      for (const body of [text, html]) expect(body).toContain(name);
    }
  });

  test("keeps the joiners of Persian names and emoji", () => {
    for (const name of ["می\u200cخواهم", "👩‍💻 Studio"]) expect(toPlainName(name)).toBe(name);
  });

  test("becomes valid text even if it was stored with half an emoji", () => {
    const name = "Acme \ud83c";
    const { text, html } = composeMessage("en", {
      template: "member_invited",
      data: { businessName: name, signInUrl: "https://app.example.com", until: 0 },
    });
    for (const body of [text, html]) expect([body.isWellFormed(), body.includes("Acme \ufffd")]).toEqual([true, true]);
  });

  test("keeps data about the person out of the notice to owners", () => {
    const { text } = composeMessage("en", mails.withdrawal_owner_notice);
    expect(text).toContain("cc_00k3v9d2m4q8x1c7b5n0t6w2h9");
    expect(text).toContain("4 December 2026");
    expect(text).toContain("by the end of 4 December 2026 (UTC)");
    expect(text).not.toContain("@");
    expect(extractLinks(text)).toEqual(["https://app.example.com/portal/deadlines"]);
  });
});

describe("an address or a subject that could carry a header", () => {
  const addresses = [
    "pat@example.com\r\nBcc: x@example.com",
    "pat@example.com,x@example.com",
    "pat@example.com x@example.com",
    "Pat <pat@example.com>",
    "pat@example.com\u0000",
    "pat@example.com;x@example.com",
    '"a b"@example.com',
    "pat@example.com%0aBcc:x@example.com",
    "pat@exa\nmple.com",
    "pat\u2028@example.com",
    "@example.com",
    "pat",
    "",
  ];
  test.each(addresses)("throws for the address %j", (address) => {
    const content = renderMail("en", mails.login_code, deployment);
    expect(() => composeMail({ ...envelope, to: address }, content)).toThrow("must be one mailbox");
    expect(() => composeMail({ ...envelope, from: address }, content)).toThrow("must be one mailbox");
  });

  test.each(["a\r\nBcc: x@example.com", "a\nb", "a\u2028b", "a\u202Eb", "a\u0000", "", "a".repeat(121)])(
    "throws for the subject %j",
    (subject) => {
      expect(() => composeMail(envelope, { subject, lines: [], footer: [] })).toThrow("must be one printable line");
    },
  );
});
