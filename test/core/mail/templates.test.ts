// Renders every email template in every language and checks that user-chosen text cannot add links, headers or recipients.
import { describe, expect, test } from "vitest";
import { composeMail, toPlainName } from "../../../core/mail/message.ts";
import { renderMail } from "../../../core/mail/render.ts";
import { mailLifetimeMs, type TemplatedMail, type MailLanguage, type MailTemplate } from "../../../core/mail/templates.ts";

const hostileName = 'Acme <b>& "Sons"</b>\r\nBcc: everyone@example.com https://evil.example/pay www.evil.example pay@evil.example';
const shared = { businessName: hostileName, groups: ["email", "address"], until: Date.UTC(2027, 10, 20) } as const;
const stopped = {
  shareId: "shr_00k3v9d2m4q8x1c7b5n0t6w2h9",
  businessName: hostileName,
  at: Date.UTC(2026, 10, 20, 10, 5),
  ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
} as const;
const mails: { readonly [T in MailTemplate]: Extract<TemplatedMail, { template: T }> } = {
  login_code: { template: "login_code", data: { code: "123456" } },
  signup_code: { template: "signup_code", data: { code: "123456" } },
  member_invited: {
    template: "member_invited",
    data: { businessName: hostileName, signInUrl: "https://app.example.com/portal/sign-in", until: Date.UTC(2026, 10, 27, 10, 5) },
  },
  domain_missing: { template: "domain_missing", data: { domain: "acme.example", lapsesAt: Date.UTC(2026, 11, 4, 10, 5) } },
  domain_lapsed: { template: "domain_lapsed", data: { domain: "acme.example" } },
  withdrawal_code: {
    template: "withdrawal_code",
    data: { code: "123456", businessName: hostileName, verifyUrl: "https://verify.example.com/c/cc_00abc?a=1&b=2" },
  },
  passkey_added: { template: "passkey_added", data: { at: Date.parse("2026-11-20T10:05:00.000Z"), device: "Firefox, Windows" } },
  withdrawal_confirmation: {
    template: "withdrawal_confirmation",
    data: {
      certId: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
      businessName: hostileName,
      by: "person",
      entities: null,
      coversAllConsents: true,
      ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
      receiptUrl: "https://api.example.com/v1/certs/cc_00k3v9d2m4q8x1c7b5n0t6w2h9/receipt",
      contact: hostileName,
      mailingAddress: hostileName,
    },
  },
  withdrawal_owner_notice: {
    template: "withdrawal_owner_notice",
    data: { certIds: ["cc_00k3v9d2m4q8x1c7b5n0t6w2h9"], ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999) },
  },
  entities_owner_notice: {
    template: "entities_owner_notice",
    data: {
      certId: "cc_00k3v9d2m4q8x1c7b5n0t6w2h9",
      entities: Array.from({ length: 25 }, (_, at) => `${at} ${hostileName}`),
      ceaseBy: Date.UTC(2026, 11, 4, 23, 59, 59, 999),
    },
  },
  agent_connected: {
    template: "agent_connected",
    data: {
      clientName: "Helper",
      clientHost: "assistant.example.com",
      redirectHost: "127.0.0.1",
      at: 0,
      endUrl: "https://app.example.com/oauth/end/tok_x?t=y",
    },
  },
  agent_ending: {
    template: "agent_ending",
    data: {
      clientName: "Helper",
      until: Date.UTC(2026, 11, 4, 10, 5),
      endUrl: "https://app.example.com/oauth/end/tok_x?t=y",
    },
  },
  agent_changed: {
    template: "agent_changed",
    data: { tokenId: "tok_00k3v9d2m4q8x1c7b5n0t6w2h9", at: Date.UTC(2026, 10, 20, 10, 5), appUrl: "https://app.example.com/app" },
  },
  webhook_failing: {
    template: "webhook_failing",
    data: { webhookId: "whk_00k3v9d2m4q8x1c7b5n0t6w2h9", failingSince: Date.UTC(2026, 10, 20, 10, 5), failures: 100 },
  },
  share_receipt: {
    template: "share_receipt",
    data: {
      ...shared,
      host: "acme-solar.example",
      purpose: hostileName,
      stopUrl: "https://app.example.com/stop/shr_00abc#t=token",
      appUrl: "https://app.example.com/app",
    },
  },
  share_expiring: {
    template: "share_expiring",
    data: {
      ...shared,
      isTomorrow: true,
      renewUrl: "https://app.example.com/app/shares/shr_00abc/renew",
      stopUrl: "https://app.example.com/stop/shr_00abc#t=token",
    },
  },
  share_stopped: {
    template: "share_stopped",
    data: { ...stopped, groups: shared.groups, contact: "privacy@example.com", appUrl: "https://app.example.com/app/shares/shr_00abc" },
  },
  share_ceased: { template: "share_ceased", data: { ...stopped, note: hostileName } },
  share_overdue: { template: "share_overdue", data: { ...stopped, contact: null } },
  account_deleted: { template: "account_deleted", data: { at: stopped.at } },
  removal_completed: {
    template: "removal_completed",
    data: {
      completedCount: 11,
      targetCount: 12,
      recheckAt: stopped.ceaseBy,
      affidavitUrl: "https://app.example.com/app/removals/rmv_00k3v9d2m4q8x1c7b5n0t6w2h9",
    },
  },
  share_owner_notice: { template: "share_owner_notice", data: { shareIds: [stopped.shareId], ceaseBy: stopped.ceaseBy } },
  client_limit_near: {
    template: "client_limit_near",
    data: { clientId: "pc_live_00k3v9d2m4q8x1c7b5n0t6w2h9", until: Date.UTC(2026, 10, 21) },
  },
};
const languages: readonly MailLanguage[] = ["en", "es", "fr-CA"];
const cases = languages.flatMap((language) => Object.values(mails).map((mail) => ({ language, template: mail.template, mail })));

const envelope = { id: "id", to: "pat@example.com", from: "no-reply@example.com", language: "en" };
const messageOf = (language: MailLanguage, mail: TemplatedMail) => composeMail({ ...envelope, language }, renderMail(language, mail));

describe("every mail in every language", () => {
  test.each(cases)("renders $template in $language as complete text and HTML bodies", ({ language, mail }) => {
    const { subject, text, html } = messageOf(language, mail);
    expect(subject).toMatch(/^[^\r\n]{5,80}$/);
    expect(text).not.toMatch(/undefined|\[object/);
    expect(text.split("\n\n").length).toBeGreaterThanOrEqual(4);
    expect(html).toMatch(new RegExp(`^<!doctype html><html lang="${language}">.*</html>$`, "s"));
    expect(html).not.toMatch(/undefined|\[object|<(?:b|script|img|style)\b/);
  });

  test.each(cases.filter(({ template }) => template.endsWith("_code")))(
    "puts the code and no other six digits into $template in $language",
    ({ language, mail }) => {
      const { subject, text, html } = messageOf(language, mail);
      for (const body of [text, html]) expect(body.match(/(?<!\d)\d{6}(?!\d)/g)).toEqual(["123456"]);
      expect(subject).not.toMatch(/\d/); // subjects appear on locked screens
    },
  );

  test("renders different text in each language", () => {
    for (const mail of Object.values(mails)) expect(new Set(languages.map((language) => messageOf(language, mail).text)).size).toBe(3);
  });

  test("stops retrying a code email when the code expires", () => {
    expect([mailLifetimeMs.login_code, mailLifetimeMs.signup_code, mailLifetimeMs.withdrawal_code]).toEqual([600_000, 600_000, 600_000]);
  });
});

describe("a name chosen by a business", () => {
  test.each(languages)("appears as plain text, never as a link, a line break or a subject (%s)", (language) => {
    const { subject, text, html } = messageOf(language, mails.withdrawal_code);
    expect(subject).not.toContain("Acme");
    expect(text).toContain('Acme <b>& "Sons"<');
    expect(html).toContain("Acme &lt;b&gt;&amp; &quot;Sons&quot;");
    for (const body of [text, html]) {
      expect(body).not.toMatch(/evil\.example|\/\/evil|@evil|everyone@example/);
      expect(body).not.toContain("\r");
    }
    expect(html.match(/href="[^"]*"/g)).toEqual(['href="https://verify.example.com/c/cc_00abc?a=1&amp;b=2"']);
  });

  test.each(languages)("appears at most twenty times in a list of recipients (%s)", (language) => {
    const { text } = messageOf(language, mails.entities_owner_notice);
    expect(text.match(/^\d+ Acme/gm)).toHaveLength(20);
    expect(text).toMatch(/\b5\b/);
    expect(text).not.toMatch(/evil\.example|everyone@example/);
  });

  test("stays unchanged when it is ordinary and is cut to 100 characters when it is long", () => {
    for (const name of ["Acme Solar LLC", "Bright Homes, Inc.", "Müller & Söhne", "Café «Zoé»"]) expect(toPlainName(name)).toBe(name);
    expect(toPlainName("a".repeat(5_000)).length).toBe(100);
    expect(toPlainName("a\u202Eb\u200Bc\u0000d\ne")).toBe("a b c d e");
  });

  test("keeps data about the person out of the notice to owners", () => {
    const { text } = messageOf("en", mails.withdrawal_owner_notice);
    expect(text).toContain("cc_00k3v9d2m4q8x1c7b5n0t6w2h9");
    expect(text).toContain("4 December 2026");
    expect(text).toContain("2026-12-04T23:59:59.999Z");
    expect(text).not.toMatch(/@|https?:/);
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
    const content = renderMail("en", mails.login_code);
    expect(() => composeMail({ ...envelope, to: address }, content)).toThrow("must be one mailbox");
    expect(() => composeMail({ ...envelope, from: address }, content)).toThrow("must be one mailbox");
  });

  test.each(["a\r\nBcc: x@example.com", "a\nb", "a\u2028b", "a\u202Eb", "a\u0000", "", "a".repeat(121)])(
    "throws for the subject %j",
    (subject) => {
      expect(() => composeMail(envelope, { subject, lines: [] })).toThrow("must be one printable line");
    },
  );
});
