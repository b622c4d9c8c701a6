// Tests that the API reference matches the OpenAPI document, that the guides link only to existing pages, and that all pages load files
// only from this origin.
import { beforeAll, describe, expect, test } from "vitest";
import {
  buildExample,
  formatJson,
  describeLimits,
  describeType,
  type ApiDocument,
  type Schema,
} from "../../workers/pages/docs/openapi-document.ts";
import { guides } from "../../workers/pages/guides.gen.ts";
import { splitCode } from "../../workers/pages/shared/code-tokens.ts";
import { call, getWithKey, productionSettings, createServiceCall, type TestResponse } from "../support/world.ts";

let page: TestResponse;
let document: ApiDocument;
let groups: ReadonlyMap<string, TestResponse>;
/** The pages of all operations and of the webhook events, by their path below /docs/api. */
let pages: ReadonlyMap<string, TestResponse>;

const eventTypes = "events/event-types";
const openAll = async (names: readonly string[]): Promise<ReadonlyMap<string, TestResponse>> =>
  new Map(await Promise.all(names.map(async (name) => [name, await call(`/docs/api/${name}`)] as const)));
const listOperations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, ...operation })));

beforeAll(async () => {
  page = await call("/docs", { headers: { "accept-language": "es" } });
  document = (await getWithKey("/v1/openapi.json")).body;
  groups = await openAll(document.tags.map(({ name }) => name));
  pages = await openAll([...listOperations().map(({ tags, operationId }) => `${tags[0]}/${operationId}`), eventTypes]);
});

const extractText = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

describe("GET /docs", () => {
  test("links to every operation and shows its path", () => {
    const text = extractText(page.text);
    for (const [path, methods] of Object.entries(document.paths))
      for (const { summary, tags, operationId } of Object.values(methods)) {
        expect(text).toContain(summary);
        expect(text).toContain(path);
        expect(page.text).toContain(`href="/docs/api/${tags[0]}/${operationId}"`);
      }
  });

  test("is always in English, and its language is declared", () => {
    expect(page.status).toBe(200);
    expect(page.headers.get("content-language")).toBe("en");
    expect(page.text).toMatch(/^<!doctype html><html lang="en"/);
    expect(page.text).not.toContain("?lang=");
  });

  test("loads only files of this origin, without inline scripts or styles", () => {
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(page.text).not.toMatch(/<script(?! type="module" src="\/a\/)|<style|\sstyle=|\son[a-z]+=/);
    const loaded = [...page.text.matchAll(/<(?:link|img|script|iframe)[^>]*?(?:href|src)="([^"]+)"/g)].map(
      ([, address]) => address as string,
    );
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((address) => !address.startsWith("/a/"))).toEqual([]);
  });

  test("allows search engines, unlike certificate pages", () => {
    expect(page.headers.get("x-robots-tag")).toBeNull();
  });
});

describe("GET /docs/api/{group} and its pages", () => {
  const readPageText = (name: string): string => extractText(pages.get(name)?.text ?? "");

  test("lists the operations of a group with their paths, and links to their pages", () => {
    const missing = listOperations().filter(({ path, summary, tags, operationId }) => {
      const { text } = groups.get(tags[0] ?? "") as TestResponse;
      const link = text.match(`<a href="/docs/api/${tags[0]}/${operationId}">(.*?)</a>`)?.[1] ?? "";
      return !extractText(text).includes(path) || extractText(link) !== summary;
    });
    expect(missing).toEqual([]);
  });

  test("describes each operation with its path, inputs, responses and errors", () => {
    const operations = listOperations();
    const missing = operations.flatMap(({ path, summary, tags, operationId, parameters = [], responses }) => {
      const wanted = [
        path,
        summary,
        ...parameters.map(({ name }) => name),
        ...Object.values(responses).flatMap(({ content }) => Object.keys(content?.["application/json"]?.examples ?? {})),
        ...Object.values(responses).flatMap(({ content }) => {
          const example = content?.["application/json"]?.example;
          return example === undefined ? [] : [formatJson(example)];
        }),
      ];
      const text = readPageText(`${tags[0]}/${operationId}`);
      return wanted.filter((part) => !text.includes(part));
    });
    expect(operations.length).toBeGreaterThan(60);
    expect(missing).toEqual([]);
  });

  test("links to each part of an operation from its contents", () => {
    for (const [name, { text }] of pages) {
      const links = [...text.matchAll(/<a href="#([^"]+)"/g)].map(([, id]) => id as string).filter((id) => id !== "content");
      expect(links.length, name).toBeGreaterThan(1);
      expect(
        links.filter((id) => !text.includes(` id="${id}"`)),
        name,
      ).toEqual([]);
    }
  });

  test("describes every event type with its payload", () => {
    const text = readPageText(eventTypes);
    const types = Object.keys(document.webhooks);
    expect(types.length).toBeGreaterThan(12);
    expect(types.filter((type) => !text.includes(`"type": "${type}"`))).toEqual([]);
    expect(text).toContain('"data": {"first_name": "Pat", "last_name": "Example"}');
  });

  test("uses the URL of this deployment in examples and contains no credentials", async () => {
    expect(readPageText("certificates/captureConsent")).toContain("curl 'http://svc.test/v1/consent'");
    expect(readPageText("certificates/listCertificates")).toContain('-H "Authorization: Bearer $SVC_API_KEY"');
    for (const { text } of pages.values()) expect(extractText(text)).not.toMatch(/sk_(?:live|test)_[A-Za-z0-9]/);
    const production = createServiceCall(productionSettings, "https://api.svc.test");
    expect(extractText((await production("/docs/api/certificates/captureConsent")).text)).toContain(
      "curl 'https://api.svc.test/v1/consent'",
    );
  });

  test("are in English, can be indexed, and return 404 for an unknown group or operation", async () => {
    for (const [name, { status, headers }] of [...groups, ...pages])
      expect([status, headers.get("content-language"), headers.get("x-robots-tag")], name).toEqual([200, "en", null]);
    for (const name of [
      "nothing",
      "toString",
      "certificates/x",
      "certificates/toString",
      "events/captureConsent",
      "certificates/event-types",
      "",
    ])
      expect((await call(`/docs/api/${name}`)).status, name).toBe(404);
  });
});

describe("GET /docs/{guide}", () => {
  const names = [
    "first-hour",
    "widget",
    "sharing",
    "webhooks",
    "sandbox",
    "kit",
    "portal",
    "integration-helper",
    "withdrawal",
    "errors",
    "events",
    "limits",
    "page-script",
    "evidence-pack",
    "fingerprints",
    "policies",
    "ledger",
    "agents",
  ];

  test("shows each guide of the repository under its title", async () => {
    for (const name of names) {
      const guide = await call(`/docs/${name}`);
      expect([guide.status, guide.headers.get("content-language"), guide.headers.get("x-robots-tag")], name).toEqual([200, "en", null]);
      expect(guide.text, name).toMatch(/<article class="guide"><h1>[A-Z]/);
      expect(guide.text).not.toMatch(/<script(?! type="module" src="\/a\/)|<style|\sstyle=|\son[a-z]+=/);
    }
    expect((await call("/docs/webhooks")).text).toContain('<h2 id="check-a-signature"');
  });

  test("links only to existing guides, sections and images", async () => {
    const texts = new Map<string, string>([["/docs", page.text]]);
    for (const [name, { text }] of [...groups, ...pages]) texts.set(`/docs/api/${name}`, text);
    for (const name of names) texts.set(`/docs/${name}`, (await call(`/docs/${name}`)).text);
    const dead = [...texts].flatMap(([from, text]) =>
      [...text.matchAll(/<a href="([^"]+)"/g)]
        .map(([, address]) => new URL(address as string, `http://svc.test${from}`))
        .filter(({ origin, pathname, hash }) => {
          if (origin !== "http://svc.test" || !pathname.startsWith("/docs")) return false;
          const target = texts.get(pathname);
          return target === undefined || (hash !== "" && !target.includes(`id="${hash.slice(1)}"`));
        })
        .map(({ href }) => `${from}: ${href}`),
    );
    expect(dead).toEqual([]);
    const images = [...texts.values()].flatMap((text) => [...text.matchAll(/<img src="([^"]+)"/g)].map(([, address]) => address));
    expect(images.filter((address) => !address?.startsWith("/a/"))).toEqual([]);
    expect([...texts.values()].filter((text) => /href="[^"]*\.md/.test(text))).toEqual([]);
  });

  test("uses the URLs of this deployment", async () => {
    const production = createServiceCall(productionSettings, "https://api.svc.test");
    expect((await production("/docs/widget")).text).toContain("https://cdn.svc.test/v1/svc.js");
    expect((await production("/docs/first-hour")).text).toContain("export SVC=https://api.svc.test ");
    const others = await Promise.all(names.map(async (name) => [name, (await production(`/docs/${name}`)).text] as const));
    expect(others.filter(([, text]) => /\{(?:cdn|verify)_url\}|api\.example\.com/.test(text)).map(([name]) => name)).toEqual([]);
  });

  test("returns 404 for an unknown guide", async () => {
    for (const name of ["nothing", "toString", "__proto__", "webhooks/x"]) expect((await call(`/docs/${name}`)).status, name).toBe(404);
  });
});

describe("colors in code", () => {
  const listKinds = (code: string, language: string): readonly string[] =>
    splitCode(code, language).flatMap(({ kind, text }) => (kind === null ? [] : [`${kind} ${text}`]));

  test("mark keys and texts in JSON", () => {
    expect(listKinds('{"a": "b:c", "d": [1, "x\\"y"]}', "json")).toEqual(['k "a"', 's "b:c"', 'k "d"', 's "x\\"y"']);
  });

  test("mark multi-line texts and comments in commands, but not apostrophes and fragments", () => {
    const command = `curl https://svc.test/#top \\\n  --data '{\n}' # it's sent\nsvc don't`;
    expect(listKinds(command, "sh")).toEqual(["s '{\n}'", "c # it's sent"]);
  });

  test("mark tags, values and comments in HTML", () => {
    expect(listKinds(`<!-- a "form" --><form id="q">it's</form>`, "html")).toEqual(['c <!-- a "form" -->', "k form", 's "q"', "k form"]);
  });

  test("mark keywords, texts and comments in scripts", () => {
    expect(listKinds('const a = "//x"; // it\'s', "js")).toEqual(["k const", 's "//x"', "c // it's"]);
  });

  test("do not change the text of any block in the guides", async () => {
    const pages = await Promise.all(Object.keys(guides).map(async (name) => (await call(`/docs/${name}`)).text));
    const blocks = pages.flatMap((page) => [...page.matchAll(/<code id="code-\d+">(.*?)<\/code>/gs)]);
    expect(blocks.length).toBeGreaterThan(50);
    expect(blocks.filter(([, code]) => /<(?!\/?span\b)/.test(code ?? ""))).toEqual([]);
    expect(blocks.some(([, code]) => code?.includes('<span class="s">'))).toBe(true);
  });

  test("do not mark code in an unknown language", () => {
    for (const language of ["", "text", "toString"]) expect(splitCode('a "b" # c', language)).toEqual([{ kind: null, text: 'a "b" # c' }]);
  });
});

describe("describing a schema", () => {
  const typeText = (schema: Schema): string => describeType(document, schema);

  test("names types in words", () => {
    expect(typeText({ type: "string", format: "date-time" })).toBe("string, date-time");
    expect(typeText({ type: ["string", "null"] })).toBe("string or null");
    expect(typeText({ type: "array", items: { type: "string" } })).toBe("list of strings");
    expect(typeText({ type: "string", enum: ["live", "sandbox"] })).toBe('"live" or "sandbox"');
    expect(typeText({ anyOf: [{ $ref: "#/components/schemas/Anchor" }, { type: "null" }] })).toBe("object or null");
    expect(typeText({ type: "object", additionalProperties: { type: "string" } })).toBe("map of names to strings");
  });

  test("names limits in words", () => {
    expect(describeLimits({ maxLength: 2_048 })).toEqual(["at most 2,048 characters"]);
    expect(describeLimits({ minimum: 1, default: 25 })).toEqual(["at least 1", "default `25`"]);
  });

  test("uses the schema's example, or builds one from the properties", () => {
    expect(buildExample(document, { type: "object", properties: { a: { type: "integer", example: 7 }, b: { type: "boolean" } } })).toEqual({
      a: 7,
      b: true,
    });
    expect(buildExample(document, { type: "array", items: { enum: ["x", "y"] } })).toEqual(["x"]);
  });

  test("keeps JSON on one line if it fits, without changing it", () => {
    expect(formatJson({ a: [1, "x, y: z"], b: null })).toBe('{"a": [1, "x, y: z"], "b": null}');
    const long = { text: "x".repeat(80), list: ["a", "b"] };
    expect(formatJson(long)).toBe(`{\n  "text": "${"x".repeat(80)}",\n  "list": ["a", "b"]\n}`);
    expect(JSON.parse(formatJson(document.paths))).toEqual(document.paths);
  });
});
