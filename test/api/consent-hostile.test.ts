// POST /v1/consent against everything it must refuse, and the oddities it must take. Every row is a whole request through
// the front door; a refused one must leave every table of every home, and every prototype, as it was.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { utf8 } from "../../core/bytes.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import {
  call,
  consent,
  consentRequest,
  databaseContents,
  get,
  rowCounts,
  submission,
  world,
  type Answer,
  type ConsentBody,
  type HeaderChanges,
} from "../support/world.ts";

interface Row {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: HeaderChanges;
  readonly status: number;
  readonly code: RefusalCode;
}

const bad = (name: string, body: unknown, headers: HeaderChanges = {}): Row => ({
  name,
  body,
  headers,
  status: 400,
  code: "invalid_request",
});
const changed = (change: Record<string, unknown>): ConsentBody => ({ ...submission(), ...change });
const without = (key: string): unknown => Object.fromEntries(Object.entries(submission()).filter(([name]) => name !== key));
const text = (change: Record<string, unknown> = {}): string => JSON.stringify(changed(change));
/** The submission as text with `raw` put in place of a value that JSON.stringify would not write. */
const spliced = (key: string, raw: string): string => text({ [key]: "@@" }).replace('"@@"', raw);
const splicedBytes = (key: string, raw: readonly number[]): Uint8Array => {
  const [before = "", after = ""] = text({ [key]: "a@@b" }).split("@@");
  return new Uint8Array([...utf8(before), ...raw, ...utf8(after)]);
};
const padded = (bytes: number): string => text() + " ".repeat(bytes - utf8(text()).length);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const fieldsWith = (raw: string): string => spliced("fields", raw);
const manyFields = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x"]));
const manyNames = (count: number): string[] => Array.from({ length: count }, (_, at) => `Recipient ${at}`);

const syntax: Row[] = [
  bad("no body", ""),
  bad("white space", "  \n"),
  bad("null", "null"),
  bad("true", "true"),
  bad("a number", "42"),
  bad("a text", '"hello"'),
  bad("a list", "[]"),
  bad("a list of a submission", `[${text()}]`),
  bad("an empty object", "{}"),
  bad("half an object", text().slice(0, -1)),
  bad("one brace too many", `${text()}}`),
  bad("two submissions", text() + text()),
  bad("a comma too many", text().replace(/}$/, ",}")),
  bad("a comment", `/* hello */${text()}`),
  bad("single quotes", text().replaceAll('"', "'")),
  bad("bare keys", text().replace('"purpose"', "purpose")),
  bad("NaN", spliced("x", "NaN")),
  bad("Infinity", spliced("x", "-Infinity")),
  bad("a hex number", spliced("x", "0x10")),
  bad("a leading zero", spliced("x", "007")),
  bad("undefined", spliced("x", "undefined")),
  bad("a raw line break in a text", spliced("purpose", '"solar\nquote"')),
  bad("a raw NUL in a text", spliced("purpose", '"solar\u0000quote"')),
  bad("an unknown escape", spliced("purpose", String.raw`"\x41"`)),
  bad("form fields", "client_id=x&purpose=y"),
  bad("XML", "<consent/>"),
  bad("a JSON text in a JSON text", JSON.stringify(text())),
];

const encoding: Row[] = [
  bad("a byte order mark", `\ufeff${text()}`),
  bad("UTF-16 with a mark", new Uint8Array([0xff, 0xfe, ...[...text()].flatMap((char) => [char.charCodeAt(0), 0])])),
  bad("UTF-16 without a mark", new Uint8Array([...text()].flatMap((char) => [char.charCodeAt(0), 0]))),
  bad("Latin-1", splicedBytes("purpose", [0xe9])),
  bad("a continuation byte alone", splicedBytes("purpose", [0x80])),
  bad("a cut sequence", splicedBytes("purpose", [0xe2, 0x82])),
  bad("an overlong slash", splicedBytes("purpose", [0xc0, 0xaf])),
  bad("an overlong NUL", splicedBytes("disclosure_text", [0xc0, 0x80])),
  bad("a lone surrogate in UTF-8", splicedBytes("disclosure_text", [0xed, 0xa0, 0x80])),
  bad("a pair of surrogates in UTF-8", splicedBytes("disclosure_text", [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80])),
  bad("a code point past the last", splicedBytes("disclosure_text", [0xf4, 0x90, 0x80, 0x80])),
  bad("a lone surrogate, escaped", spliced("purpose", String.raw`"a\ud83d"`)),
  bad("a lone low surrogate, escaped", spliced("disclosure_text", String.raw`"\ude00"`)),
  bad("a pair the wrong way round", spliced("disclosure_text", String.raw`"\ude00\ud83d"`)),
  bad("a lone surrogate in a recipient", spliced("entities", String.raw`["\ud83d"]`)),
  bad("a lone surrogate in a field", fieldsWith(String.raw`{"email":"pat@example.com","first_name":"\ud83d"}`)),
  bad("a lone surrogate as a key", fieldsWith(String.raw`{"\ud83d":"x"}`)),
  bad("a lone surrogate in an unknown key", spliced("unknown", String.raw`"\udfff"`)),
  bad("a lone surrogate in evidence", spliced("referrer", String.raw`"\ud800"`)),
];

const structure: Row[] = [
  bad("equal keys", text().replace("{", '{"purpose":"x",')),
  bad("equal keys, one escaped", text().replace("{", String.raw`{"pu\u0072pose":"x",`)),
  bad("equal client ids", text().replace("{", `{"client_id":"${world.other.clients.live}",`)),
  bad("equal field keys", fieldsWith('{"email":"pat@example.com","email":"eve@example.com"}')),
  bad("equal field keys, one escaped", fieldsWith(String.raw`{"email":"pat@example.com","\u0065mail":"eve@example.com"}`)),
  bad("equal keys in an unknown object", spliced("unknown", '{"a":1,"a":1}')),
  bad("nine levels", spliced("unknown", nested(8))),
  bad("nine levels in fields", fieldsWith('{"email":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}')),
  bad("a hundred thousand levels", nested(100_000)),
  bad("a hundred thousand levels in a submission", spliced("unknown", nested(100_000))),
  bad("1e400", spliced("unknown", "1e400")),
  bad("1e400 as a font size", spliced("presentation", '{"font_px":1e400}')),
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
const wrongTypes = (key: (typeof required)[number]): Row[] => [
  bad(`${key} missing`, without(key)),
  bad(`${key} null`, changed({ [key]: null })),
  bad(`${key} a number`, changed({ [key]: 7 })),
  bad(`${key} true`, changed({ [key]: true })),
  ...(rightShape[key] === "text" ? [] : [bad(`${key} a text`, changed({ [key]: "some words" }))]),
  ...(rightShape[key] === "list" ? [] : [bad(`${key} a list`, changed({ [key]: ["some words"] }))]),
  ...(rightShape[key] === "object" ? [] : [bad(`${key} an object`, changed({ [key]: { some: "words" } }))]),
];

const fields: Row[] = [
  bad("no field", changed({ fields: {} })),
  bad("21 fields", changed({ fields: manyFields(21) })),
  bad("only empty values", changed({ fields: { email: "", first_name: "" } })),
  bad("only blank values", changed({ fields: { email: " \t", first_name: "\u00a0\u3000" } })),
  bad("a number as a value", changed({ fields: { email: "pat@example.com", zip: 94000 } })),
  bad("null as a value", changed({ fields: { email: "pat@example.com", zip: null } })),
  bad("a list as a value", changed({ fields: { email: ["pat@example.com"] } })),
  bad("an object as a value", changed({ fields: { email: { value: "pat@example.com" } } })),
  bad("501 characters", changed({ fields: { message: "x".repeat(501) } })),
  ...["Email", "first-name", "first name", "1st", "_id", "", "é", "email\n", "a.b", "a[0]", "$ne", `a${"b".repeat(40)}`].map((key) =>
    bad(`the field key ${JSON.stringify(key.slice(0, 12))}`, changed({ fields: { email: "pat@example.com", [key]: "value of it" } })),
  ),
  ...[...Object.getOwnPropertyNames(Object.prototype), "prototype"].map((key) =>
    bad(`the field key ${key}`, fieldsWith(`{"email":"pat@example.com",${JSON.stringify(key)}:"polluted"}`)),
  ),
  bad("__proto__ with members as a field", fieldsWith('{"email":"pat@example.com","__proto__":{"polluted":"yes"}}')),
  bad("__proto__ alone as fields", fieldsWith('{"__proto__":{"email":"pat@example.com"}}')),
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
    "pat\u200b@example.com",
  ].map((email) => bad(`the e-mail address ${JSON.stringify(email.slice(0, 30))}`, changed({ fields: { email } }))),
];

/** Texts of one line that must not be sealed. */
const hidden: readonly (readonly [string, string])[] = [
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

const lines: Row[] = hidden.flatMap(([what, value]) => [
  bad(`a purpose with ${what}`, changed({ purpose: value })),
  bad(`a recipient with ${what}`, changed({ entities: ["Acme Solar LLC", value] })),
  bad(`a field with ${what}`, changed({ fields: { email: "pat@example.com", first_name: value } })),
]);

const lengths: Row[] = [
  bad("an empty purpose", changed({ purpose: "" })),
  bad("a blank purpose", changed({ purpose: " \u00a0\u3000" })),
  bad("a purpose of 501", changed({ purpose: "p".repeat(501) })),
  bad("a purpose of a quarter of a megabyte of spaces", changed({ purpose: `a${" ".repeat(200_000)}b` })),
  bad("nobody", changed({ entities: [] })),
  bad("1,001 recipients", changed({ entities: manyNames(1_001) })),
  bad("a recipient of 201", changed({ entities: ["r".repeat(201)] })),
  bad("an empty recipient", changed({ entities: ["Acme Solar LLC", ""] })),
  bad("a blank recipient", changed({ entities: [" \u2003"] })),
  bad("a recipient that is a number", changed({ entities: ["Acme Solar LLC", 7] })),
  bad("a recipient that is null", changed({ entities: [null] })),
  bad("a recipient that is a list", changed({ entities: [["Acme Solar LLC"]] })),
  bad("an empty disclosure", changed({ disclosure_text: "" })),
  bad("a blank disclosure", changed({ disclosure_text: " \r\n\t\u00a0" })),
  bad("an invisible disclosure", changed({ disclosure_text: "\u200b\ufeff\u2060" })),
  bad("a disclosure of 20,001", changed({ disclosure_text: "d".repeat(20_001) })),
  bad("a disclosure with NUL", changed({ disclosure_text: "I agree\u0000" })),
  bad("a disclosure with a bell", changed({ disclosure_text: "I agree\u0007" })),
  bad("a disclosure with a form feed", changed({ disclosure_text: "I agree\f" })),
  bad("a disclosure with a vertical tab", changed({ disclosure_text: "I agree\v" })),
  bad("a disclosure with a C1 control", changed({ disclosure_text: "I agree\u0090" })),
  bad("a disclosure with a left-to-right override", changed({ disclosure_text: "I \u202dagree" })),
  bad("a disclosure with a right-to-left override", changed({ disclosure_text: "I \u202eagree" })),
];

const pages: Row[] = [
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
].map((page_url) => bad(`the page ${JSON.stringify(page_url.slice(0, 40))}`, changed({ page_url })));

const answers: Row[] = [
  bad("entities_accepted alone", changed({ entities_accepted: ["Acme Solar LLC"] })),
  bad("entities_rejected alone", changed({ entities_rejected: ["Acme Solar LLC"] })),
  bad("entities_accepted with a null beside it", changed({ entities_accepted: [], entities_rejected: null })),
  bad("a name in both", changed({ entities_accepted: ["Acme Solar LLC"], entities_rejected: ["Acme Solar LLC"] })),
  bad(
    "a name in both in two Unicode forms",
    changed({ entities: ["Caf\u00e9"], entities_accepted: ["Caf\u00e9"], entities_rejected: ["Cafe\u0301"] }),
  ),
  bad("a name in both with spaces", changed({ entities_accepted: ["Acme Solar LLC"], entities_rejected: [" Acme Solar LLC "] })),
  bad("entities_accepted a text", changed({ entities_accepted: "Acme Solar LLC", entities_rejected: [] })),
  bad("entities_accepted an object", changed({ entities_accepted: {}, entities_rejected: [] })),
  bad("entities_rejected of numbers", changed({ entities_accepted: [], entities_rejected: [7] })),
  bad("entities_rejected of nulls", changed({ entities_accepted: [], entities_rejected: [null] })),
];

const extras: Row[] = [
  bad("submission_id a word", changed({ submission_id: "not-a-uuid" })),
  bad("submission_id empty", changed({ submission_id: "" })),
  bad("submission_id a number", changed({ submission_id: 7 })),
  bad("submission_id in braces", changed({ submission_id: "{7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11}" })),
  bad("submission_id with a tail", changed({ submission_id: "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11x" })),
  bad("locale a number", changed({ locale: 7 })),
  bad("locale of 36", changed({ locale: "e".repeat(36) })),
  bad("presentation a text", changed({ presentation: "manual" })),
  bad("presentation a list", changed({ presentation: [] })),
  bad("presentation.opt_in_type unknown", changed({ presentation: { opt_in_type: "automatic" } })),
  bad("presentation.font_px a text", changed({ presentation: { font_px: "12px" } })),
  bad("presentation.font_px negative", changed({ presentation: { font_px: -1 } })),
  bad("presentation.font_px of 1,001", changed({ presentation: { font_px: 1_001 } })),
  bad("presentation.contrast_ratio 0", changed({ presentation: { contrast_ratio: 0 } })),
  bad("presentation.contrast_ratio 22", changed({ presentation: { contrast_ratio: 22 } })),
  bad("presentation.visible a text", changed({ presentation: { visible: "yes" } })),
  bad("presentation.checkbox_name of 201", changed({ presentation: { checkbox_name: "n".repeat(201) } })),
  bad("esign a text", changed({ esign: "accepted" })),
  bad("esign without accepted", changed({ esign: { disclosure_text: "I sign" } })),
  bad("esign without text", changed({ esign: { accepted: true } })),
  bad("esign.accepted a text", changed({ esign: { disclosure_text: "I sign", accepted: "true" } })),
  bad("esign.disclosure_text of 20,001", changed({ esign: { disclosure_text: "e".repeat(20_001), accepted: true } })),
  bad("widget a text", changed({ widget: "1.0.0" })),
  bad("widget.version a number", changed({ widget: { version: 1 } })),
  bad("widget.version of 65", changed({ widget: { version: "v".repeat(65) } })),
  bad("widget.sha256 of 65", changed({ widget: { sha256: "0".repeat(65) } })),
  bad("referrer a number", changed({ referrer: 7 })),
  bad("referrer of 2,049", changed({ referrer: "r".repeat(2_049) })),
  bad("client_time a number", changed({ client_time: 1_763_632_800 })),
  bad("client_time of 41", changed({ client_time: "t".repeat(41) })),
];

const headers: Row[] = [
  bad("Idempotency-Key empty", text(), { "idempotency-key": "" }),
  bad("Idempotency-Key of 65", text(), { "idempotency-key": "k".repeat(65) }),
  bad("Idempotency-Key with a space", text(), { "idempotency-key": "my key" }),
  bad("Idempotency-Key with a dot", text(), { "idempotency-key": "my.key" }),
  bad("Idempotency-Key twice", text(), { "idempotency-key": "key-one, key-two" }),
  bad("Idempotency-Key with a slash", text(), { "idempotency-key": "my/key" }),
  bad("X-Subject-IP that is none", text(), { authorization: `Bearer ${world.acme.keys.live}`, "x-subject-ip": "my house" }),
  bad("X-Subject-IP twice", text(), { authorization: `Bearer ${world.acme.keys.live}`, "x-subject-ip": "203.0.113.7, 203.0.113.8" }),
];

const media: Row[] = [
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
  body: text(),
  headers: { "content-type": type as string | null, ...(coding !== undefined && { "content-encoding": coding as string }) },
  status: 415,
  code: "unsupported_media_type",
}));

const clients: Row[] = [
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
  body: changed({ client_id }),
  status: 404,
  code: "client_not_found",
}));

const sizes: Row[] = [
  { name: "a byte more than 256 KiB", body: padded(262_145), status: 413, code: "payload_too_large" },
  { name: "a megabyte", body: padded(1_048_576), status: 413, code: "payload_too_large" },
  { name: "a megabyte that is not even JSON", body: new Uint8Array(1_048_576).fill(0xff), status: 413, code: "payload_too_large" },
  {
    name: "a megabyte of the wrong type",
    body: padded(1_048_576),
    headers: { "content-type": "text/html" },
    status: 415,
    code: "unsupported_media_type",
  },
  {
    name: "a megabyte that calls itself ten bytes",
    body: padded(1_048_576),
    headers: { "content-length": "10" },
    status: 413,
    code: "payload_too_large",
  },
  bad("256 KiB of opening brackets", "[".repeat(262_144)),
  bad("256 KiB of keys", changed({ fields: Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`key${at}`, "1"])) })),
];

const order: Row[] = [
  bad("an unknown client and an empty purpose", changed({ client_id: "nobody", purpose: "" })),
  bad("an unknown client and a bad address of the page", changed({ client_id: world.acme.clients.live.slice(0, -1), page_url: "x" })),
  bad("a free business and an invisible recipient", { ...submission(world.examples.free), entities: ["\u200b"] }),
  bad("a foreign Origin and no fields", changed({ fields: {} }), { origin: "https://evil.com" }),
];

const rows: readonly Row[] = [
  ...syntax,
  ...encoding,
  ...structure,
  ...required.flatMap(wrongTypes),
  ...fields,
  ...lines,
  ...lengths,
  ...pages,
  ...answers,
  ...extras,
  ...headers,
  ...media,
  ...clients,
  ...sizes,
  ...order,
];

/** Every text of four or more characters that a caller chose: values, unknown keys and headers. */
const chosenTexts = (value: unknown): string[] => {
  if (typeof value === "string") return value.length >= 4 ? [value] : [];
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  return Object.values(value).flatMap(chosenTexts);
};

const faultsOf = (row: Row, answer: Answer, chosen: readonly string[]): string[] => {
  const faults: string[] = [];
  const { body } = answer;
  if (answer.status !== row.status || body?.error?.code !== row.code)
    faults.push(`answered ${answer.status} ${body?.error?.code} instead of ${row.status} ${row.code}`);
  if (JSON.stringify([Object.keys(body ?? {}), Object.keys(body?.error ?? {})]) !== '[["ok","error","request_id"],["code","message"]]')
    faults.push(`has another envelope: ${answer.text.slice(0, 200)}`);
  if (body?.ok !== false || body?.request_id !== answer.headers.get("x-request-id")) faults.push("has no request id, or ok is not false");
  if (answer.headers.get("access-control-allow-origin") !== "*") faults.push("cannot be read by the page");
  const repeated = chosen.find((value) => answer.text.includes(value) || answer.text.includes(JSON.stringify(value).slice(1, -1)));
  if (repeated !== undefined) faults.push(`repeats what was sent: ${answer.text.slice(0, 200)}`);
  return faults;
};

const prototypes = (): string =>
  JSON.stringify([Object.prototype, Array.prototype, String.prototype].map((it) => Reflect.ownKeys(it).map(String)));
const everything = async (): Promise<string> => JSON.stringify([await databaseContents(env.DB), await databaseContents(env.DB_01)]);
describe("POST /v1/consent refuses", () => {
  test(`each of ${rows.length} hostile requests, repeats nothing of it and changes nothing`, { timeout: 60_000 }, async () => {
    expect(rows.length).toBeGreaterThan(250);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    const faults: string[] = [];
    const ofPrototypes = prototypes();
    const before = await everything();
    const tables = Object.keys(await databaseContents());
    const counted = async (): Promise<string> => JSON.stringify([await rowCounts(tables, env.DB), await rowCounts(tables, env.DB_01)]);
    const counts = await counted();
    for (const [at, row] of rows.entries()) {
      const answer = await call("/v1/consent", consentRequest(row.body, row.headers));
      const sent = typeof row.body === "string" ? row.body : JSON.stringify(row.body);
      const chosen = [
        ...chosenTexts(row.body),
        ...(typeof row.body === "string" && sent.length >= 4 ? [row.body] : []),
        ...chosenTexts(row.headers ?? {}),
      ];
      // the message may name our own inputs and media types, which rows also use as values
      const own = ["application/json", "JSON"];
      faults.push(
        ...faultsOf(
          row,
          answer,
          chosen.filter((value) => !own.includes(value)),
        ).map((fault) => `${row.name}: ${fault}`),
      );
      if ((await counted()) !== counts || (at % 20 === 0 && (await everything()) !== before)) {
        faults.push(`${row.name}, or one of the 20 before: changed the database`);
        break;
      }
      if (prototypes() !== ofPrototypes) faults.push(`${row.name}: changed a prototype`);
    }
    expect(faults).toEqual([]);
    expect(await everything()).toBe(before);
  });

  test("a message names the input and the rule", async () => {
    const messageOf = async (body: unknown): Promise<string> => (await consent(body)).body.error.message;
    expect(await messageOf(changed({ purpose: "p".repeat(501) }))).toBe("purpose: is longer than 500 characters.");
    expect(await messageOf(without("entities"))).toBe("entities: is missing or of the wrong type.");
    expect(await messageOf(changed({ esign: { disclosure_text: "x" } }))).toBe("esign.accepted: is missing or of the wrong type.");
    expect(await messageOf(changed({ entities: ["ok", 7] }))).toBe("entities: is missing or of the wrong type.");
  });
});

interface Oddity {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: HeaderChanges;
  /** What the certificate must hold instead of what the usual submission gives. */
  readonly stored?: { readonly [key: string]: unknown };
  readonly subject?: Readonly<Record<string, string>>;
  readonly evidence?: { readonly [key: string]: unknown };
}

const odd = (name: string, change: Record<string, unknown>, expected: Omit<Oddity, "name" | "body"> = {}): Oddity => ({
  name,
  body: changed(change),
  ...expected,
});
const sealed = (name: string, change: Record<string, unknown>): Oddity => odd(name, change, { stored: change });
const person = (name: string, of: Record<string, string>): Oddity => odd(name, { fields: of }, { subject: of });

const oddities: readonly Oddity[] = [
  sealed("an emoji of several in the purpose", { purpose: "devis 👩\u200d👩\u200d👧\u200d👦 ❤\ufe0f\u200d🔥" }),
  person("a Persian name with ZWNJ", { first_name: "می\u200cخواهم" }),
  person("a Hindi name with ZWJ", { last_name: "क्\u200dष" }),
  person("a decomposed name", { first_name: "Rene\u0301e", last_name: "Nguye\u0302\u0303n" }),
  person("names from right to left", { first_name: "שָׁלוֹם", last_name: "عبد الرحمن" }),
  person("an ideograph of a high plane", { last_name: "𠮷野" }),
  person("a compatibility ideograph", { last_name: "\ufa19" }),
  person("empty values beside others", { email: "pat@example.com", phone: "", zip: "", message: "hello" }),
  person("20 fields", manyFields(20)),
  person("a field key of 40", { [`a${"b".repeat(39)}`]: "x" }),
  person("a value of 500", { message: "m".repeat(500) }),
  person("plus addressing and upper case, kept as typed", { email: "Pat+Solar@Example.COM" }),
  person("an international mail domain", { email: "zoë@exämple.test" }),
  person("a mailbox of 254", { email: `a@${`${"b".repeat(60)}.`.repeat(4)}`.padEnd(254, "e") }),
  person("a number nobody can parse", { phone: "ask at the desk, ext. ٣" }),
  person("markup, SQL and templates", {
    message: `'; DROP TABLE certificates;-- </script><img src=x onerror=alert(1)> {{7*7}} \${x} %s \\`,
  }),
  person("values that look like keys", { message: "__proto__", company: "constructor" }),
  odd("values trimmed at their ends only", { fields: { first_name: "\u00a0 Pat  Q \u3000" } }, { subject: { first_name: "Pat  Q" } }),
  sealed("a disclosure with CRLF, tabs and space around", { disclosure_text: "  Line 1\r\n\tLine 2\n\r\nLine 3\u2028\u2029 \r\n" }),
  sealed("a disclosure with isolates, embeddings and marks", {
    disclosure_text: "\u2066שלום\u2069 \u202bعربي\u202c \u200f\ufeff\u00ad\ufffe.",
  }),
  sealed("a disclosure in no normal form", { disclosure_text: "e\u0301 \u00e9 \ufb01 \ufa19 \u212b" }),
  sealed("a disclosure of one character", { disclosure_text: "✓" }),
  sealed("a disclosure of 20,000", { disclosure_text: "d".repeat(20_000) }),
  sealed("a purpose of 500", { purpose: "p".repeat(500) }),
  odd("a purpose trimmed at its ends only", { purpose: "\t solar  quote\u2003" }, { stored: { purpose: "solar  quote" } }),
  sealed("a purpose of one character", { purpose: "x" }),
  odd("1,000 recipients", { entities: manyNames(1_000) }, { stored: { entities: manyNames(1_000).sort() } }),
  odd(
    "1,000 recipients of 200",
    { entities: manyNames(1_000).map((name) => name.padEnd(200, "-")) },
    {
      stored: {
        entities: manyNames(1_000)
          .map((name) => name.padEnd(200, "-"))
          .sort(),
      },
    },
  ),
  sealed("a recipient of 200", { entities: ["r".repeat(200)] }),
  odd(
    "recipients twice, and in two Unicode forms",
    { entities: ["Caf\u00e9", "Acme", "Cafe\u0301", "Acme", " Acme "] },
    { stored: { entities: ["Acme", "Caf\u00e9"] } },
  ),
  odd(
    "recipients sorted by code unit",
    { entities: ["\ufb33 d", "😀 E", "zeta", "Zeta", "€"] },
    { stored: { entities: ["Zeta", "zeta", "€", "😀 E", "\ufb33 d"] } },
  ),
  sealed("recipients from right to left, with quotes and commas", { entities: [`Acme, "Inc" & 'Söhne' </b>`, "חברת החשמל"] }),
  odd(
    "declined nobody",
    { entities_accepted: ["Acme Solar LLC"], entities_rejected: [] },
    { stored: { entities_accepted: ["Acme Solar LLC"], entities_rejected: [] } },
  ),
  odd(
    "asked, but about nobody who was declared",
    { entities_accepted: ["Nobody"], entities_rejected: ["\u0000"] },
    { stored: { entities_accepted: [], entities_rejected: [] } },
  ),
  odd(
    "an answer in another Unicode form",
    { entities: ["Caf\u00e9", "Acme"], entities_accepted: ["Cafe\u0301"], entities_rejected: ["Acme "] },
    { stored: { entities: ["Acme", "Caf\u00e9"], entities_accepted: ["Caf\u00e9"], entities_rejected: ["Acme"] } },
  ),
  odd("nulls for what is optional", {
    entities_accepted: null,
    entities_rejected: null,
    submission_id: null,
    locale: null,
    presentation: null,
    esign: null,
    widget: null,
    referrer: null,
    client_time: null,
  }),
  odd("unknown keys", { unknown: { a: [1, { b: null }] }, toString: "x", constructor: { prototype: 1 } }),
  odd(
    "keys of ours that a caller cannot set",
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
  { name: "an unknown key __proto__", body: text().replace("{", '{"__proto__":{"polluted":true,"status":"revoked"},') },
  { name: "eight levels", body: spliced("unknown", nested(7)) },
  { name: "strange numbers in unknown keys", body: spliced("unknown", "[-0,1e-400,1E5,0.1e1,123456789012345678901234567890]") },
  { name: "everything escaped", body: text().replace(/[a-z ]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`) },
  { name: "white space everywhere", body: `\r\n\t ${JSON.stringify(submission(), null, "\t")}\r\n ` },
  { name: "keys in another order", body: JSON.stringify(Object.fromEntries(Object.entries(submission()).reverse())) },
  { name: "256 KiB exactly", body: padded(262_144) },
  { name: "application/json", body: text(), headers: { "content-type": "application/json" } },
  { name: "an upper-case media type with a parameter", body: text(), headers: { "content-type": "Application/JSON ; Charset=UTF-8" } },
  { name: "text/plain without a charset", body: text(), headers: { "content-type": "text/plain" } },
  { name: "a key of 64 of every allowed kind", body: text(), headers: { "idempotency-key": `Az09_-${"k".repeat(58)}` } },
  odd("an upper-case submission_id", { submission_id: "7D9F0B0E-6A37-4B0E-9A53-0F3F0F8F7A11" }),
  odd(
    "an address of the page with everything",
    { page_url: "https://www.example.com/a%20b/käse?x=1&y=ü#part" },
    { evidence: { page_url: "https://www.example.com/a%20b/käse?x=1&y=ü#part" } },
  ),
  odd(
    "an address of the page of 2,048",
    { page_url: `https://www.example.com/${"p".repeat(2_024)}` },
    { evidence: { page_url: `https://www.example.com/${"p".repeat(2_024)}` } },
  ),
  odd(
    "a page on another verified host than the Origin",
    { page_url: "https://demo.example/" },
    { evidence: { page_url: "https://demo.example/", origin_reported: "https://www.example.com" } },
  ),
  odd(
    "all the evidence there is",
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

describe("POST /v1/consent takes", () => {
  test(`each of ${oddities.length} oddities and keeps it exactly`, { timeout: 60_000 }, async () => {
    expect(oddities.length).toBeGreaterThan(45);
    const usual = submission();
    const faults: string[] = [];
    for (const oddity of oddities) {
      const issued = await call("/v1/consent", consentRequest(oddity.body, oddity.headers));
      if (issued.status !== 201) {
        faults.push(`${oddity.name}: ${issued.status} ${issued.text.slice(0, 200)}`);
        continue;
      }
      const detail = (await get(`/v1/certs/${issued.body.data.cert_id}`, world.acme.keys.live)).body?.data;
      const wanted = {
        status: "active",
        environment: "live",
        business_id: world.acme.id,
        business_name: world.acme.name,
        origin_domain: "www.example.com",
        purpose: usual.purpose,
        disclosure_text: usual.disclosure_text,
        entities: usual.entities,
        ...oddity.stored,
        subject: oddity.subject ?? usual.fields,
      };
      const held = Object.fromEntries(Object.keys(wanted).map((key) => [key, detail?.[key]]));
      if (JSON.stringify(held, sorted) !== JSON.stringify(wanted, sorted))
        faults.push(`${oddity.name}: holds ${JSON.stringify(held).slice(0, 600)}`);
      for (const [key, value] of Object.entries(oddity.evidence ?? {})) {
        if (JSON.stringify(detail?.evidence?.[key], sorted) !== JSON.stringify(value, sorted))
          faults.push(`${oddity.name}: evidence ${key} is ${JSON.stringify(detail?.evidence?.[key])}`);
      }
      if (oddity.stored?.entities_accepted === undefined && "entities_accepted" in (detail ?? {}))
        faults.push(`${oddity.name}: was never asked, and holds an answer`);
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(faults).toEqual([]);
  });
});

/** Members in one order, so that two equal objects print alike; lists keep theirs. */
const sorted = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
