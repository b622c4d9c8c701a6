// Lists submissions that must be refused, each with the expected status and error code.
import type { RefusalCode } from "../../core/refusals.ts";
import {
  buildSubmissionWith,
  spliceFields,
  buildFields,
  buildNames,
  nestArrays,
  padSubmission,
  spliceRaw,
  spliceBytes,
  buildSubmissionText,
  omitField,
} from "./submissions.ts";
import { buildSubmission, world, type HeaderChanges } from "./world.ts";

export interface HostileSubmission {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: HeaderChanges;
  readonly status: number;
  readonly code: RefusalCode;
}

const buildHostileSubmission = (name: string, body: unknown, headers: HeaderChanges = {}): HostileSubmission => ({
  name,
  body,
  headers,
  status: 400,
  code: "invalid_request",
});

const syntax: HostileSubmission[] = [
  buildHostileSubmission("no body", ""),
  buildHostileSubmission("white space", "  \n"),
  buildHostileSubmission("null", "null"),
  buildHostileSubmission("true", "true"),
  buildHostileSubmission("a number", "42"),
  buildHostileSubmission("a text", '"hello"'),
  buildHostileSubmission("a list", "[]"),
  buildHostileSubmission("a list of a submission", `[${buildSubmissionText()}]`),
  buildHostileSubmission("an empty object", "{}"),
  buildHostileSubmission("half an object", buildSubmissionText().slice(0, -1)),
  buildHostileSubmission("one brace too many", `${buildSubmissionText()}}`),
  buildHostileSubmission("two submissions", buildSubmissionText() + buildSubmissionText()),
  buildHostileSubmission("a comma too many", buildSubmissionText().replace(/}$/, ",}")),
  buildHostileSubmission("a comment", `/* hello */${buildSubmissionText()}`),
  buildHostileSubmission("single quotes", buildSubmissionText().replaceAll('"', "'")),
  buildHostileSubmission("bare keys", buildSubmissionText().replace('"purpose"', "purpose")),
  buildHostileSubmission("NaN", spliceRaw("x", "NaN")),
  buildHostileSubmission("Infinity", spliceRaw("x", "-Infinity")),
  buildHostileSubmission("a hex number", spliceRaw("x", "0x10")),
  buildHostileSubmission("a leading zero", spliceRaw("x", "007")),
  buildHostileSubmission("undefined", spliceRaw("x", "undefined")),
  buildHostileSubmission("a raw line break in a text", spliceRaw("purpose", '"solar\nquote"')),
  buildHostileSubmission("a raw NUL in a text", spliceRaw("purpose", '"solar\u0000quote"')),
  buildHostileSubmission("an unknown escape", spliceRaw("purpose", String.raw`"\x41"`)),
  buildHostileSubmission("form fields", "client_id=x&purpose=y"),
  buildHostileSubmission("XML", "<consent/>"),
  buildHostileSubmission("a JSON text in a JSON text", JSON.stringify(buildSubmissionText())),
];

const encoding: HostileSubmission[] = [
  buildHostileSubmission("a byte order mark", `\ufeff${buildSubmissionText()}`),
  buildHostileSubmission(
    "UTF-16 with a mark",
    new Uint8Array([0xff, 0xfe, ...[...buildSubmissionText()].flatMap((char) => [char.charCodeAt(0), 0])]),
  ),
  buildHostileSubmission("UTF-16 without a mark", new Uint8Array([...buildSubmissionText()].flatMap((char) => [char.charCodeAt(0), 0]))),
  buildHostileSubmission("Latin-1", spliceBytes("purpose", [0xe9])),
  buildHostileSubmission("a continuation byte alone", spliceBytes("purpose", [0x80])),
  buildHostileSubmission("a cut sequence", spliceBytes("purpose", [0xe2, 0x82])),
  buildHostileSubmission("an overlong slash", spliceBytes("purpose", [0xc0, 0xaf])),
  buildHostileSubmission("an overlong NUL", spliceBytes("disclosure_text", [0xc0, 0x80])),
  buildHostileSubmission("a lone surrogate in UTF-8", spliceBytes("disclosure_text", [0xed, 0xa0, 0x80])),
  buildHostileSubmission("a pair of surrogates in UTF-8", spliceBytes("disclosure_text", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80])),
  buildHostileSubmission("a code point past the last", spliceBytes("disclosure_text", [0xf4, 0x90, 0x80, 0x80])),
  buildHostileSubmission("a lone surrogate, escaped", spliceRaw("purpose", String.raw`"a\ud83d"`)),
  buildHostileSubmission("a lone low surrogate, escaped", spliceRaw("disclosure_text", String.raw`"\ude00"`)),
  buildHostileSubmission("a pair the wrong way round", spliceRaw("disclosure_text", String.raw`"\ude00\ud83d"`)),
  buildHostileSubmission("a lone surrogate in a recipient", spliceRaw("entities", String.raw`["\ud83d"]`)),
  buildHostileSubmission("a lone surrogate in a list in a field", spliceFields(String.raw`{"email":["\ud83d"]}`)),
  buildHostileSubmission("a lone surrogate beside the fields", spliceRaw("unknown", String.raw`{"fields":"\ud83d"}`)),
  buildHostileSubmission("a lone surrogate as a key", spliceFields(String.raw`{"\ud83d":"x"}`)),
  buildHostileSubmission("a lone surrogate in an unknown key", spliceRaw("unknown", String.raw`"\udfff"`)),
  buildHostileSubmission("a lone surrogate in evidence", spliceRaw("referrer", String.raw`"\ud800"`)),
];

const structure: HostileSubmission[] = [
  buildHostileSubmission("equal keys", buildSubmissionText().replace("{", '{"purpose":"x",')),
  buildHostileSubmission("equal keys, one escaped", buildSubmissionText().replace("{", String.raw`{"pu\u0072pose":"x",`)),
  buildHostileSubmission("equal client ids", buildSubmissionText().replace("{", `{"client_id":"${world.other.clients.live}",`)),
  buildHostileSubmission("equal field keys", spliceFields('{"email":"pat@example.com","email":"eve@example.com"}')),
  buildHostileSubmission(
    "equal field keys, one escaped",
    spliceFields(String.raw`{"email":"pat@example.com","\u0065mail":"eve@example.com"}`),
  ),
  buildHostileSubmission("equal keys in an unknown object", spliceRaw("unknown", '{"a":1,"a":1}')),
  buildHostileSubmission("nine levels", spliceRaw("unknown", nestArrays(8))),
  buildHostileSubmission("nine levels in fields", spliceFields('{"email":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}')),
  buildHostileSubmission("a hundred thousand levels", nestArrays(100_000)),
  buildHostileSubmission("a hundred thousand levels in a submission", spliceRaw("unknown", nestArrays(100_000))),
  buildHostileSubmission("1e400", spliceRaw("unknown", "1e400")),
  buildHostileSubmission("1e400 as a font size", spliceRaw("presentation", '{"font_px":1e400}')),
];

const required = ["client_id", "fields", "disclosure_text", "entities", "purpose", "page_url"] as const;
const rightShape: Readonly<Record<(typeof required)[number], "text" | "object" | "list">> = {
  client_id: "text",
  fields: "object",
  disclosure_text: "text",
  entities: "list",
  purpose: "text",
  page_url: "text",
};
const buildWrongTypes = (key: (typeof required)[number]): HostileSubmission[] => [
  buildHostileSubmission(`${key} missing`, omitField(key)),
  buildHostileSubmission(`${key} null`, buildSubmissionWith({ [key]: null })),
  buildHostileSubmission(`${key} a number`, buildSubmissionWith({ [key]: 7 })),
  buildHostileSubmission(`${key} true`, buildSubmissionWith({ [key]: true })),
  ...(rightShape[key] === "text" ? [] : [buildHostileSubmission(`${key} a text`, buildSubmissionWith({ [key]: "some words" }))]),
  ...(rightShape[key] === "list" ? [] : [buildHostileSubmission(`${key} a list`, buildSubmissionWith({ [key]: ["some words"] }))]),
  ...(rightShape[key] === "object" ? [] : [buildHostileSubmission(`${key} an object`, buildSubmissionWith({ [key]: { some: "words" } }))]),
];

const fields: HostileSubmission[] = [
  buildHostileSubmission("no field", buildSubmissionWith({ fields: {} })),
  buildHostileSubmission("21 fields", buildSubmissionWith({ fields: buildFields(21) })),
  buildHostileSubmission("only empty values", buildSubmissionWith({ fields: { email: "", first_name: "" } })),
  buildHostileSubmission("only blank values", buildSubmissionWith({ fields: { email: " \t", first_name: "\u00a0\u3000" } })),
  buildHostileSubmission("a number as a value", buildSubmissionWith({ fields: { email: "pat@example.com", zip: 94000 } })),
  buildHostileSubmission("only null as a value", buildSubmissionWith({ fields: { zip: null } })),
  buildHostileSubmission("a list as a value", buildSubmissionWith({ fields: { email: ["pat@example.com"] } })),
  buildHostileSubmission("an object as a value", buildSubmissionWith({ fields: { email: { value: "pat@example.com" } } })),
  buildHostileSubmission("501 characters", buildSubmissionWith({ fields: { message: "x".repeat(501) } })),
  ...["Email", "first-name", "first name", "1st", "_id", "", "é", "email\n", "a.b", "a[0]", "$ne", `a${"b".repeat(40)}`].map((key) =>
    buildHostileSubmission(
      `the field key ${JSON.stringify(key.slice(0, 12))}`,
      buildSubmissionWith({ fields: { email: "pat@example.com", [key]: "value of it" } }),
    ),
  ),
  ...[...Object.getOwnPropertyNames(Object.prototype), "prototype"].map((key) =>
    buildHostileSubmission(`the field key ${key}`, spliceFields(`{"email":"pat@example.com",${JSON.stringify(key)}:"polluted"}`)),
  ),
  buildHostileSubmission("__proto__ with members as a field", spliceFields('{"email":"pat@example.com","__proto__":{"polluted":"yes"}}')),
  buildHostileSubmission("__proto__ alone as fields", spliceFields('{"__proto__":{"email":"pat@example.com"}}')),
];

/** Values with invisible or control characters. The service must refuse or clean each of them if it is the value of a single-line field. */
export const hiddenCharacters: readonly (readonly [string, string])[] = [
  ["NUL", "a\u0000b"],
  ["a bell", "a\u0007b"],
  ["a line break", "a\nb"],
  ["a carriage return", "a\rb"],
  ["a tab", "a\tb"],
  ["an escape character", "a\u001b[31mb"],
  ["DEL", "a\u007fb"],
  ["NEL", "a\u0085b"],
  ["a C1 control", "a\u009fb"],
  ["an embedding", "a\u202ab\u202c"],
  ["an override", "a\u202eb"],
  ["an isolate", "a\u2066b\u2069"],
  ["a noncharacter", "a\ufffeb"],
  ["a noncharacter of an Arabic block", "a\ufdd0b"],
  ["a noncharacter of another plane", "a\u{1ffff}b"],
  ["a zero-width space", "a\u200bb"],
  ["a word joiner", "a\u2060b"],
  ["a byte order mark inside", "a\ufeffb"],
  ["a byte order mark around", "\ufeffab\ufeff"],
  ["a soft hyphen", "a\u00adb"],
  ["a tag character", "a\u{e0041}b"],
  ["ZWJ at its start", "\u200dab"],
  ["ZWNJ at its end", "ab\u200c"],
  ["two joiners", "a\u200d\u200db"],
  ["ZWJ beside a space", "a \u200db"],
  ["zero-width characters alone", "\u200b\u200b"],
  ["joiners alone", "\u200d"],
  ["marks alone", "\u0301"],
  ["a Hangul filler alone", "\u3164"],
  ["braille blanks alone", "\u2800"],
];

const lines: HostileSubmission[] = hiddenCharacters.flatMap(([what, value]) => [
  buildHostileSubmission(`a purpose with ${what}`, buildSubmissionWith({ purpose: value })),
  buildHostileSubmission(`a recipient with ${what}`, buildSubmissionWith({ entities: ["Acme Solar LLC", value] })),
]);

const lengths: HostileSubmission[] = [
  buildHostileSubmission("an empty purpose", buildSubmissionWith({ purpose: "" })),
  buildHostileSubmission("a blank purpose", buildSubmissionWith({ purpose: " \u00a0\u3000" })),
  buildHostileSubmission("a purpose of 501", buildSubmissionWith({ purpose: "p".repeat(501) })),
  buildHostileSubmission("a purpose of a quarter of a megabyte of spaces", buildSubmissionWith({ purpose: `a${" ".repeat(200_000)}b` })),
  buildHostileSubmission("no recipients", buildSubmissionWith({ entities: [] })),
  buildHostileSubmission("1,001 recipients", buildSubmissionWith({ entities: buildNames(1_001) })),
  buildHostileSubmission("a recipient of 201", buildSubmissionWith({ entities: ["r".repeat(201)] })),
  buildHostileSubmission("an empty recipient", buildSubmissionWith({ entities: ["Acme Solar LLC", ""] })),
  buildHostileSubmission("a blank recipient", buildSubmissionWith({ entities: [" \u2003"] })),
  buildHostileSubmission("a recipient that is a number", buildSubmissionWith({ entities: ["Acme Solar LLC", 7] })),
  buildHostileSubmission("a recipient that is null", buildSubmissionWith({ entities: [null] })),
  buildHostileSubmission("a recipient that is a list", buildSubmissionWith({ entities: [["Acme Solar LLC"]] })),
  buildHostileSubmission("an empty disclosure", buildSubmissionWith({ disclosure_text: "" })),
  buildHostileSubmission("a blank disclosure", buildSubmissionWith({ disclosure_text: " \r\n\t\u00a0" })),
  buildHostileSubmission("an invisible disclosure", buildSubmissionWith({ disclosure_text: "\u200b\ufeff\u2060" })),
  buildHostileSubmission("a disclosure of 200,001", buildSubmissionWith({ disclosure_text: "d".repeat(200_001) })),
  buildHostileSubmission("a disclosure with NUL", buildSubmissionWith({ disclosure_text: "I agree\u0000" })),
  buildHostileSubmission("a disclosure with a bell", buildSubmissionWith({ disclosure_text: "I agree\u0007" })),
  buildHostileSubmission("a disclosure with a form feed", buildSubmissionWith({ disclosure_text: "I agree\f" })),
  buildHostileSubmission("a disclosure with a vertical tab", buildSubmissionWith({ disclosure_text: "I agree\v" })),
  buildHostileSubmission("a disclosure with a C1 control", buildSubmissionWith({ disclosure_text: "I agree\u0090" })),
  buildHostileSubmission("a disclosure with a left-to-right override", buildSubmissionWith({ disclosure_text: "I \u202dagree" })),
  buildHostileSubmission("a disclosure with a right-to-left override", buildSubmissionWith({ disclosure_text: "I \u202eagree" })),
];

const pages: HostileSubmission[] = [
  "",
  "not an address",
  "/quote",
  "//www.example.com/",
  "www.example.com/quote",
  "http://www.example.com/",
  "ftp://www.example.com/",
  "file:///etc/passwd",
  "data:text/html,x",
  "javascript:alert(1)",
  "https:www.example.com/",
  "https:/www.example.com/",
  "https:\\\\www.example.com\\",
  "https://",
  "https://user@www.example.com/",
  "https://user:secret@www.example.com/",
  "https://www.example.com@evil.com/",
  "https://www.example.com\\@evil.com/",
  " https://www.example.com/",
  "https://www.example.com/ x",
  "https://www.example.com/\n",
  "https://www.exam\tple.com/",
  "https://www.example.com/\u202e",
  "https://www.example.com:99999/",
  `https://www.example.com/${"p".repeat(2_025)}`,
].map((page_url) => buildHostileSubmission(`the page ${JSON.stringify(page_url.slice(0, 40))}`, buildSubmissionWith({ page_url })));

const submissions: HostileSubmission[] = [
  buildHostileSubmission("entities_accepted alone", buildSubmissionWith({ entities_accepted: ["Acme Solar LLC"] })),
  buildHostileSubmission("entities_rejected alone", buildSubmissionWith({ entities_rejected: ["Acme Solar LLC"] })),
  buildHostileSubmission(
    "entities_accepted with a null beside it",
    buildSubmissionWith({ entities_accepted: [], entities_rejected: null }),
  ),
  buildHostileSubmission(
    "a name in both",
    buildSubmissionWith({ entities_accepted: ["Acme Solar LLC"], entities_rejected: ["Acme Solar LLC"] }),
  ),
  buildHostileSubmission(
    "a name in both in two Unicode forms",
    buildSubmissionWith({ entities: ["Caf\u00e9"], entities_accepted: ["Caf\u00e9"], entities_rejected: ["Cafe\u0301"] }),
  ),
  buildHostileSubmission(
    "a name in both with spaces",
    buildSubmissionWith({ entities_accepted: ["Acme Solar LLC"], entities_rejected: [" Acme Solar LLC "] }),
  ),
  buildHostileSubmission("entities_accepted a text", buildSubmissionWith({ entities_accepted: "Acme Solar LLC", entities_rejected: [] })),
  buildHostileSubmission("entities_accepted an object", buildSubmissionWith({ entities_accepted: {}, entities_rejected: [] })),
  buildHostileSubmission("entities_rejected of numbers", buildSubmissionWith({ entities_accepted: [], entities_rejected: [7] })),
  buildHostileSubmission("entities_rejected of nulls", buildSubmissionWith({ entities_accepted: [], entities_rejected: [null] })),
];

const extras: HostileSubmission[] = [
  buildHostileSubmission("submission_id not a UUID", buildSubmissionWith({ submission_id: "not-a-uuid" })),
  buildHostileSubmission("submission_id empty", buildSubmissionWith({ submission_id: "" })),
  buildHostileSubmission("submission_id a number", buildSubmissionWith({ submission_id: 7 })),
  buildHostileSubmission("submission_id in braces", buildSubmissionWith({ submission_id: "{7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11}" })),
  buildHostileSubmission("submission_id with a tail", buildSubmissionWith({ submission_id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11x" })),
  buildHostileSubmission("locale a number", buildSubmissionWith({ locale: 7 })),
  buildHostileSubmission("locale of 36", buildSubmissionWith({ locale: "e".repeat(36) })),
  buildHostileSubmission("presentation a text", buildSubmissionWith({ presentation: "manual" })),
  buildHostileSubmission("presentation a list", buildSubmissionWith({ presentation: [] })),
  buildHostileSubmission("presentation.opt_in_type unknown", buildSubmissionWith({ presentation: { opt_in_type: "automatic" } })),
  buildHostileSubmission("presentation.font_px a text", buildSubmissionWith({ presentation: { font_px: "12px" } })),
  buildHostileSubmission("presentation.font_px negative", buildSubmissionWith({ presentation: { font_px: -1 } })),
  buildHostileSubmission("presentation.font_px of 1,001", buildSubmissionWith({ presentation: { font_px: 1_001 } })),
  buildHostileSubmission("presentation.contrast_ratio 0", buildSubmissionWith({ presentation: { contrast_ratio: 0 } })),
  buildHostileSubmission("presentation.contrast_ratio 22", buildSubmissionWith({ presentation: { contrast_ratio: 22 } })),
  buildHostileSubmission("presentation.visible a text", buildSubmissionWith({ presentation: { visible: "yes" } })),
  buildHostileSubmission("presentation.checkbox_name of 201", buildSubmissionWith({ presentation: { checkbox_name: "n".repeat(201) } })),
  buildHostileSubmission("esign a text", buildSubmissionWith({ esign: "accepted" })),
  buildHostileSubmission("esign without accepted", buildSubmissionWith({ esign: { disclosure_text: "I sign" } })),
  buildHostileSubmission("esign without text", buildSubmissionWith({ esign: { accepted: true } })),
  buildHostileSubmission("esign.accepted a text", buildSubmissionWith({ esign: { disclosure_text: "I sign", accepted: "true" } })),
  buildHostileSubmission(
    "esign.disclosure_text of 20,001",
    buildSubmissionWith({ esign: { disclosure_text: "e".repeat(20_001), accepted: true } }),
  ),
  buildHostileSubmission("widget a text", buildSubmissionWith({ widget: "1.0.0" })),
  buildHostileSubmission("widget.version a number", buildSubmissionWith({ widget: { version: 1 } })),
  buildHostileSubmission("widget.version of 65", buildSubmissionWith({ widget: { version: "v".repeat(65) } })),
  buildHostileSubmission("widget.sha256 of 65", buildSubmissionWith({ widget: { sha256: "0".repeat(65) } })),
  buildHostileSubmission("referrer a number", buildSubmissionWith({ referrer: 7 })),
  buildHostileSubmission("referrer of 2,049", buildSubmissionWith({ referrer: "r".repeat(2_049) })),
  buildHostileSubmission("client_time a number", buildSubmissionWith({ client_time: 1_763_632_800 })),
  buildHostileSubmission("client_time of 41", buildSubmissionWith({ client_time: "t".repeat(41) })),
];

const headers: HostileSubmission[] = [
  buildHostileSubmission("Idempotency-Key empty", buildSubmissionText(), { "idempotency-key": "" }),
  buildHostileSubmission("Idempotency-Key of 65", buildSubmissionText(), { "idempotency-key": "k".repeat(65) }),
  buildHostileSubmission("Idempotency-Key with a space", buildSubmissionText(), { "idempotency-key": "my key" }),
  buildHostileSubmission("Idempotency-Key with a dot", buildSubmissionText(), { "idempotency-key": "my.key" }),
  buildHostileSubmission("Idempotency-Key twice", buildSubmissionText(), { "idempotency-key": "key-one, key-two" }),
  buildHostileSubmission("Idempotency-Key with a slash", buildSubmissionText(), { "idempotency-key": "my/key" }),
  buildHostileSubmission("X-Subject-IP that is not an IP address", buildSubmissionText(), {
    authorization: `Bearer ${world.acme.keys.live}`,
    "x-subject-ip": "my house",
  }),
  buildHostileSubmission("X-Subject-IP twice", buildSubmissionText(), {
    authorization: `Bearer ${world.acme.keys.live}`,
    "x-subject-ip": "203.0.113.7, 203.0.113.8",
  }),
];

const media: HostileSubmission[] = [
  [null, undefined],
  ["", undefined],
  ["text/html", undefined],
  ["text/json", undefined],
  ["text/plainer", undefined],
  ["application/jsonp", undefined],
  ["application/vnd.api+json", undefined],
  ["application/problem+json", undefined],
  ["application/x-www-form-urlencoded", undefined],
  ["multipart/form-data; boundary=x", undefined],
  ["application/octet-stream", undefined],
  ["application/json, text/plain", undefined],
  ["*/*", undefined],
  [";application/json", undefined],
  ["application/json", "gzip"],
  ["application/json", "br"],
  ["application/json", "identity"],
  ["text/plain", "deflate"],
].map(([type, coding]) => ({
  name: `content type ${type}${coding === undefined ? "" : `, encoded as ${coding}`}`,
  body: buildSubmissionText(),
  headers: { "content-type": type as string | null, ...(coding !== undefined && { "content-encoding": coding as string }) },
  status: 415,
  code: "unsupported_media_type",
}));

const clients: HostileSubmission[] = [
  "",
  "pc_",
  "pc_live_",
  "nobody",
  world.acme.clients.live.toUpperCase(),
  `${world.acme.clients.live}0`,
  world.acme.clients.live.slice(0, -1),
  ` ${world.acme.clients.live}`,
  world.acme.id,
  world.acme.keys.live,
  "__proto__",
  "constructor",
  "pc_live_00'; DROP TABLE certificates;--",
  "pc_live_00\u0000",
  "pc_live_000000000000000000000000zz",
  "pc_live_zz0000000000000000000000zz",
  "pc_test_000000000000000000000000zz",
  "c".repeat(10_000),
].map((client_id) => ({
  name: `the client ${JSON.stringify(client_id.slice(0, 40))}`,
  body: buildSubmissionWith({ client_id }),
  status: 404,
  code: "client_not_found",
}));

const sizes: HostileSubmission[] = [
  { name: "a byte more than 256 KiB", body: padSubmission(262_145), status: 413, code: "payload_too_large" },
  { name: "a megabyte", body: padSubmission(1_048_576), status: 413, code: "payload_too_large" },
  { name: "a megabyte that is not even JSON", body: new Uint8Array(1_048_576).fill(0xff), status: 413, code: "payload_too_large" },
  {
    name: "a megabyte of the wrong type",
    body: padSubmission(1_048_576),
    headers: { "content-type": "text/html" },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "a megabyte with a Content-Length of ten bytes",
    body: padSubmission(1_048_576),
    headers: { "content-length": "10" },
    status: 413,
    code: "payload_too_large",
  },
  buildHostileSubmission("256 KiB of opening brackets", "[".repeat(262_144)),
  buildHostileSubmission(
    "256 KiB of keys",
    buildSubmissionWith({ fields: Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`key${at}`, "1"])) }),
  ),
];

const order: HostileSubmission[] = [
  buildHostileSubmission("an unknown client and an empty purpose", buildSubmissionWith({ client_id: "nobody", purpose: "" })),
  buildHostileSubmission(
    "an unknown client and an invalid page URL",
    buildSubmissionWith({ client_id: world.acme.clients.live.slice(0, -1), page_url: "x" }),
  ),
  buildHostileSubmission("a free business and an invisible recipient", { ...buildSubmission(world.examples.free), entities: ["\u200b"] }),
  buildHostileSubmission("a foreign Origin and no fields", buildSubmissionWith({ fields: {} }), { origin: "https://evil.com" }),
];

export const hostileSubmissions: readonly HostileSubmission[] = [
  ...syntax,
  ...encoding,
  ...structure,
  ...required.flatMap(buildWrongTypes),
  ...fields,
  ...lines,
  ...lengths,
  ...pages,
  ...submissions,
  ...extras,
  ...headers,
  ...media,
  ...clients,
  ...sizes,
  ...order,
];
