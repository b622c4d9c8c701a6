// Lists unusual submissions that must be accepted, each with the expected content of the certificate.
import { hiddenCharacters } from "./hostile-submissions.ts";
import {
  buildSubmissionWith,
  buildFields,
  buildNames,
  nestArrays,
  padSubmission,
  spliceFields,
  spliceRaw,
  buildSubmissionText,
} from "./submissions.ts";
import { buildSubmission, world, type HeaderChanges } from "./world.ts";

export interface UnusualSubmission {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: HeaderChanges;
  /** Expected values that differ from those of the default submission. */
  readonly stored?: { readonly [key: string]: unknown };
  readonly subject?: Readonly<Record<string, string>>;
  readonly evidence?: { readonly [key: string]: unknown };
}

const buildOddSubmission = (
  name: string,
  change: Record<string, unknown>,
  expected: Omit<UnusualSubmission, "name" | "body"> = {},
): UnusualSubmission => ({
  name,
  body: buildSubmissionWith(change),
  ...expected,
});
const buildSealedCase = (name: string, change: Record<string, unknown>): UnusualSubmission =>
  buildOddSubmission(name, change, { stored: change });
const buildPersonCase = (name: string, fields: Record<string, string>): UnusualSubmission =>
  buildOddSubmission(name, { fields }, { subject: fields });

const longestNames = buildNames(1_000)
  .map((name) => name.padEnd(200, "-"))
  .sort();

/** Values that do not match the kind of their key, such as text that is not an email address for `email`. */
const unrecognizedValues: readonly (readonly [key: string, value: string])[] = [
  ...[
    "pat",
    "pat@",
    "@example.com",
    "pat@localhost",
    "pat@127.0.0.1",
    "a@example.com,b@example.com",
    "Pat <pat@example.com>",
    "pat@example.com>",
    "pat@exa mple.com",
    "pat@example..com",
    "pat@example.com.",
    ".pat@example.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(250)}.com`,
  ].map((email) => ["email", email] as const),
  ...["pat@gmailcom", "a..b@docomo.example", "a@example.com b@example.com", "a@example.com;b@example.com", "none"].map(
    (email) => ["email", email] as const,
  ),
  ...["UK", "XK", "EU", "United States", "日本", "U S"].map((country) => ["country", country] as const),
  ...["1980/01/31", "31 January 1980", "1981-02-29", "13/13/1980", "01/80", "yesterday"].map((date) => ["date_of_birth", date] as const),
  ...["ask at the desk", "12", "079 123 45 67", "9876543210", "202-555-0123 or 202-555-0124"].map((phone) => ["phone", phone] as const),
];

export const unusualSubmissions: readonly UnusualSubmission[] = [
  buildSealedCase("an emoji of several in the purpose", { purpose: "devis 👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f\u200d🔥" }),
  buildPersonCase("a Persian name with ZWNJ", { first_name: "می\u200cخواهم" }),
  buildPersonCase("a Hindi name with ZWJ", { last_name: "क्\u200dष" }),
  buildPersonCase("a decomposed name", { first_name: "Rene\u0301e", last_name: "Nguye\u0302\u0303n" }),
  buildPersonCase("names from right to left", { first_name: "שָׁלוֹם", last_name: "عبد الرحمن" }),
  buildPersonCase("an ideograph of a high plane", { last_name: "𠮷野" }),
  buildPersonCase("a compatibility ideograph", { last_name: "\ufa19" }),
  buildPersonCase("empty values beside others", { email: "pat@example.com", phone: "", zip: "", message: "hello" }),
  buildPersonCase("20 fields", buildFields(20)),
  buildPersonCase("a field key of 40", { [`a${"b".repeat(39)}`]: "x" }),
  buildPersonCase("a value of 500", { message: "m".repeat(500) }),
  buildPersonCase("plus addressing and upper case, kept as typed", { email: "Pat+Solar@Example.COM" }),
  buildPersonCase("an international mail domain", { email: "zoë@exämple.test" }),
  buildPersonCase("a mailbox of 254", { email: `a@${`${"b".repeat(60)}.`.repeat(4)}`.padEnd(254, "e") }),
  buildPersonCase("markup, SQL and templates", {
    message: `'; DROP TABLE certificates;-- </script><img src=x onerror=alert(1)> {{7*7}} \${x} %s \\`,
  }),
  buildPersonCase("values that look like keys", { message: "__proto__", company: "constructor" }),
  buildOddSubmission(
    "values that are trimmed only at their ends",
    { fields: { first_name: "\u00a0 Pat  Q \u3000" } },
    { subject: { first_name: "Pat  Q" } },
  ),
  buildSealedCase("a disclosure with CRLF, tabs and space around", {
    disclosure_text: "  Line 1\r\n\tLine 2\n\r\nLine 3\u2028\u2029 \r\n",
  }),
  buildSealedCase("a disclosure with isolates, embeddings and marks", {
    disclosure_text: "\u2066שלום\u2069 \u202bعربي\u202c \u200f\ufeff\u00ad\ufffe.",
  }),
  buildSealedCase("a disclosure in no normal form", { disclosure_text: "e\u0301 \u00e9 \ufb01 \ufa19 \u212b" }),
  buildSealedCase("a disclosure of one character", { disclosure_text: "✓" }),
  buildSealedCase("a disclosure of 200,000", { disclosure_text: "d".repeat(200_000) }),
  buildSealedCase("a disclosure of 200,000 in another script, which is 600 kB", { disclosure_text: "同".repeat(200_000) }),
  buildOddSubmission(
    "a disclosure of 200,000 that names 1,000 recipients of 200, each answered",
    {
      disclosure_text: longestNames.join(" ").slice(0, 200_000),
      entities: longestNames,
      entities_accepted: longestNames,
      entities_rejected: [],
    },
    { stored: { disclosure_text: longestNames.join(" ").slice(0, 200_000), entities: longestNames, entities_accepted: longestNames } },
  ),
  {
    name: "a disclosure of 200,000 of which every character is escaped, which is 1.2 MB",
    body: JSON.stringify(buildSubmissionWith({ disclosure_text: "é".repeat(200_000) })).replaceAll("é", "\\u00e9"),
    stored: { disclosure_text: "é".repeat(200_000) },
  },
  buildSealedCase("a purpose of 500", { purpose: "p".repeat(500) }),
  buildOddSubmission("a purpose trimmed at its ends only", { purpose: "\t solar  quote\u2003" }, { stored: { purpose: "solar  quote" } }),
  buildSealedCase("a purpose of one character", { purpose: "x" }),
  buildOddSubmission("1,000 recipients", { entities: buildNames(1_000) }, { stored: { entities: buildNames(1_000).sort() } }),
  buildOddSubmission(
    "1,000 recipients of 200",
    { entities: buildNames(1_000).map((name) => name.padEnd(200, "-")) },
    {
      stored: {
        entities: buildNames(1_000)
          .map((name) => name.padEnd(200, "-"))
          .sort(),
      },
    },
  ),
  buildSealedCase("a recipient of 200", { entities: ["r".repeat(200)] }),
  buildOddSubmission(
    "recipients twice, and in two Unicode forms",
    { entities: ["Caf\u00e9", "Acme", "Cafe\u0301", "Acme", " Acme "] },
    { stored: { entities: ["Acme", "Caf\u00e9"] } },
  ),
  buildOddSubmission(
    "recipients sorted by code unit",
    { entities: ["\ufb33 d", "😀 E", "zeta", "Zeta", "€"] },
    { stored: { entities: ["Zeta", "zeta", "€", "😀 E", "\ufb33 d"] } },
  ),
  buildSealedCase("recipients from right to left, with quotes and commas", { entities: [`Acme, "Inc" & 'Söhne' </b>`, "חברת החשמל"] }),
  buildOddSubmission(
    "no recipient declined",
    { entities_accepted: ["Acme Solar LLC"], entities_rejected: [] },
    { stored: { entities_accepted: ["Acme Solar LLC"], entities_rejected: [] } },
  ),
  buildOddSubmission(
    "asked only about recipients who were not declared",
    { entities_accepted: ["Nobody"], entities_rejected: ["\u0000"] },
    { stored: { entities_accepted: [], entities_rejected: [] } },
  ),
  buildOddSubmission(
    "an answer in another Unicode form",
    { entities: ["Caf\u00e9", "Acme"], entities_accepted: ["Cafe\u0301"], entities_rejected: ["Acme "] },
    { stored: { entities: ["Acme", "Caf\u00e9"], entities_accepted: ["Caf\u00e9"], entities_rejected: ["Acme"] } },
  ),
  buildOddSubmission("nulls for what is optional", {
    entities_accepted: null,
    entities_rejected: null,
    submission_id: null,
    locale: null,
    presentation: null,
    esign: null,
    widget: null,
    referrer: null,
    client_time: null,
    fields_truncated: null,
  }),
  buildOddSubmission("unknown keys", { unknown: { a: [1, { b: null }] }, toString: "x", constructor: { prototype: 1 } }),
  buildOddSubmission(
    "our own keys, which a caller cannot set",
    {
      cert_id: "cc_00000000000000000000000000",
      id: "x",
      status: "revoked",
      business_id: world.other.id,
      business_name: "Eve",
      environment: "sandbox",
      issued_at: "2000-01-01T00:00:00.000Z",
      fingerprint: "0".repeat(64),
      origin_domain: "evil.com",
      evidence: { ip: "6.6.6.6" },
      ip: "6.6.6.6",
      user_agent: "Eve",
      captured_via: "proof",
      view_count: 7,
      subject_hash: "0",
    },
    { evidence: { ip: "203.0.113.9", captured_via: "browser" }, headers: { "cf-connecting-ip": "203.0.113.9" } },
  ),
  { name: "an unknown key __proto__", body: buildSubmissionText().replace("{", '{"__proto__":{"polluted":true,"status":"revoked"},') },
  { name: "eight levels", body: spliceRaw("unknown", nestArrays(7)) },
  { name: "strange numbers in unknown keys", body: spliceRaw("unknown", "[-0,1e-400,1E5,0.1e1,123456789012345678901234567890]") },
  {
    name: "everything escaped",
    body: buildSubmissionText().replace(/[a-z ]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
  },
  { name: "white space everywhere", body: `\r\n\t ${JSON.stringify(buildSubmission(), null, "\t")}\r\n ` },
  { name: "keys in another order", body: JSON.stringify(Object.fromEntries(Object.entries(buildSubmission()).reverse())) },
  { name: "256 KiB exactly", body: padSubmission(262_144) },
  { name: "application/json", body: buildSubmissionText(), headers: { "content-type": "application/json" } },
  {
    name: "an upper-case media type with a parameter",
    body: buildSubmissionText(),
    headers: { "content-type": "Application/JSON ; Charset=UTF-8" },
  },
  { name: "text/plain without a charset", body: buildSubmissionText(), headers: { "content-type": "text/plain" } },
  { name: "a key of 64 of every allowed kind", body: buildSubmissionText(), headers: { "idempotency-key": `Az09_-${"k".repeat(58)}` } },
  buildOddSubmission("an upper-case submission_id", { submission_id: "7D9F0B0E-6A37-4B0E-9A53-0F3F0F8F7A11" }),
  buildOddSubmission(
    "a page URL with every part",
    { page_url: "https://www.example.com/a%20b/käse?x=1&y=ü#part" },
    { evidence: { page_url: "https://www.example.com/a%20b/käse?x=1&y=ü#part" } },
  ),
  buildOddSubmission(
    "a page URL of 2,048 characters",
    { page_url: `https://www.example.com/${"p".repeat(2_024)}` },
    { evidence: { page_url: `https://www.example.com/${"p".repeat(2_024)}` } },
  ),
  buildOddSubmission(
    "a page on another verified host than the Origin",
    { page_url: "https://demo.example/" },
    { evidence: { page_url: "https://demo.example/", origin_reported: "https://www.example.com" } },
  ),
  buildOddSubmission(
    "all possible evidence",
    {
      locale: "en-US-x-private",
      presentation: { opt_in_type: "non_interactive", font_px: 0, contrast_ratio: 21, visible: false, checkbox_name: "a[b]" },
      esign: { disclosure_text: "I sign\u0000 this", accepted: false },
      widget: { version: "1.0.0", sha256: "0".repeat(64) },
      referrer: "about:client",
      client_time: "yesterday",
    },
    {
      evidence: {
        locale: "en-US-x-private",
        presentation: { opt_in_type: "non_interactive", font_px: 0, contrast_ratio: 21, visible: false, checkbox_name: "a[b]" },
        esign: { disclosure_text: "I sign\u0000 this", accepted: false },
        widget: { version: "1.0.0", sha256: "0".repeat(64) },
        referrer: "about:client",
        client_time: "yesterday",
      },
    },
  ),
];

/** Submissions with values that do not match their key or that cannot be stored unchanged. The certificate is still issued. */
export const oddFieldSubmissions: readonly UnusualSubmission[] = [
  ...unrecognizedValues.map(([key, value]) =>
    buildOddSubmission(
      `the ${key} ${JSON.stringify(value.slice(0, 30))}`,
      { fields: { [key]: value, zip: "1" } },
      { subject: { [key]: value, zip: "1" }, stored: { fields_unrecognized: [key] }, evidence: { fields_unrecognized: [key] } },
    ),
  ),
  ...hiddenCharacters.map(([what, value]) =>
    buildOddSubmission(
      `a field with ${what}`,
      { fields: { email: "pat@example.com", first_name: value } },
      {
        // Of two zero-width joiners in a row, only the first is kept, because the second has no character to join.
        subject: {
          email: "pat@example.com",
          first_name: what === "two joiners" ? "a\u200d\ufffdb" : value.replace(/[^ -~]/gu, "\ufffd"),
        },
        stored: { text_replaced: true },
        evidence: { text_replaced: true },
      },
    ),
  ),
  {
    name: "half an emoji in a field",
    body: spliceFields(String.raw`{"email":"pat@example.com","first_name":"Pat \ud83d"}`),
    subject: { email: "pat@example.com", first_name: "Pat \ufffd" },
    stored: { text_replaced: true },
    evidence: { text_replaced: true },
  },
  buildOddSubmission(
    "null beside another field",
    { fields: { email: "pat@example.com", zip: null } },
    { subject: { email: "pat@example.com" } },
  ),
  buildOddSubmission(
    "fields that the page script left out",
    { fields_truncated: true },
    { stored: { fields_truncated: true }, evidence: { fields_truncated: true } },
  ),
];
