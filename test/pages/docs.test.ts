// The API reference matches the OpenAPI document and loads only files from this origin.
import { beforeAll, describe, expect, test } from "vitest";
import {
  buildExample,
  formatJson,
  describeLimits,
  describeType,
  type ApiDocument,
  type Schema,
} from "../../workers/pages/docs/openapi-document.ts";
import { call, getWithKey, productionSettings, createServiceCall, type TestResponse } from "../support/world.ts";

let page: TestResponse;
let document: ApiDocument;
let groups: ReadonlyMap<string, TestResponse>;

beforeAll(async () => {
  page = await call("/docs", { headers: { "accept-language": "es" } });
  document = (await getWithKey("/v1/openapi.json")).body;
  groups = new Map(await Promise.all(document.tags.map(async ({ name }) => [name, await call(`/docs/api/${name}`)] as const)));
});

const textOf = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

describe("GET /docs", () => {
  test("links every operation with its path", () => {
    const text = textOf(page.text);
    for (const [path, methods] of Object.entries(document.paths))
      for (const { summary, tags, operationId } of Object.values(methods)) {
        expect(text).toContain(summary);
        expect(text).toContain(path);
        expect(page.text).toContain(`href="/docs/api/${tags[0]}#${operationId}"`);
      }
  });

  test("is always in English and declares it", () => {
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

describe("GET /docs/api/{group}", () => {
  const textOfGroup = (name: string | undefined): string => textOf(groups.get(name ?? "")?.text ?? "");

  test("describes each operation of the group with its path, inputs, responses and errors", () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, ...operation })),
    );
    const missing = operations.flatMap(({ path, summary, tags, parameters = [], responses }) => {
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
      const text = textOfGroup(tags[0]);
      return wanted.filter((part) => !text.includes(part));
    });
    expect(operations.length).toBeGreaterThan(60);
    expect(missing).toEqual([]);
    for (const { operationId, tags } of operations) {
      const { text } = groups.get(tags[0] ?? "") as TestResponse;
      expect(text).toContain(`id="${operationId}"`);
      expect(text).toContain(`href="#${operationId}"`);
    }
  });

  test("describes every event type with its payload", () => {
    const text = textOfGroup("events");
    const types = Object.keys(document.webhooks);
    expect(types.length).toBeGreaterThan(12);
    expect(types.filter((type) => !text.includes(`"type": "${type}"`))).toEqual([]);
    expect(text).toContain('"data": {"first_name": "Pat", "last_name": "Example"}');
  });

  test("uses the URL of this deployment in examples and contains no credentials", async () => {
    const text = textOfGroup("certificates");
    expect(text).toContain("curl 'http://svc.test/v1/consent'");
    expect(text).toContain('-H "Authorization: Bearer $SVC_API_KEY"');
    for (const name of groups.keys()) expect(textOfGroup(name)).not.toMatch(/sk_(?:live|test)_[A-Za-z0-9]/);
    const production = createServiceCall(productionSettings, "https://api.svc.test");
    expect(textOf((await production("/docs/api/certificates")).text)).toContain("curl 'https://api.svc.test/v1/consent'");
  });

  test("is in English, can be indexed, and returns 404 for an unknown group", async () => {
    for (const [name, { status, headers }] of groups)
      expect([status, headers.get("content-language"), headers.get("x-robots-tag")], name).toEqual([200, "en", null]);
    for (const name of ["nothing", "toString", "certificates/x", ""]) expect((await call(`/docs/api/${name}`)).status, name).toBe(404);
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
    "withdrawal",
    "errors",
    "events",
    "limits",
    "evidence-pack",
    "fingerprints",
    "policies",
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
    const pages = new Map<string, string>([["/docs", page.text]]);
    for (const [name, { text }] of groups) pages.set(`/docs/api/${name}`, text);
    for (const name of names) pages.set(`/docs/${name}`, (await call(`/docs/${name}`)).text);
    const dead = [...pages].flatMap(([from, text]) =>
      [...text.matchAll(/<a href="([^"]+)"/g)]
        .map(([, address]) => new URL(address as string, `http://svc.test${from}`))
        .filter(({ origin, pathname, hash }) => {
          if (origin !== "http://svc.test" || !pathname.startsWith("/docs")) return false;
          const target = pages.get(pathname);
          return target === undefined || (hash !== "" && !target.includes(`id="${hash.slice(1)}"`));
        })
        .map(({ href }) => `${from}: ${href}`),
    );
    expect(dead).toEqual([]);
    const images = [...pages.values()].flatMap((text) => [...text.matchAll(/<img src="([^"]+)"/g)].map(([, address]) => address));
    expect(images.filter((address) => !address?.startsWith("/a/"))).toEqual([]);
    expect([...pages.values()].filter((text) => /href="[^"]*\.md/.test(text))).toEqual([]);
  });

  test("uses the URLs of this deployment", async () => {
    const production = createServiceCall(productionSettings, "https://api.svc.test");
    expect((await production("/docs/widget")).text).toContain("https://cdn.svc.test/v1/svc.js");
    expect((await production("/docs")).text).toContain("export SVC=https://api.svc.test ");
    const others = await Promise.all(names.map(async (name) => [name, (await production(`/docs/${name}`)).text] as const));
    expect(others.filter(([, text]) => /\{(?:cdn|verify)_url\}|api\.example\.com/.test(text)).map(([name]) => name)).toEqual([]);
  });

  test("returns 404 for an unknown guide", async () => {
    for (const name of ["nothing", "toString", "__proto__", "webhooks/x"]) expect((await call(`/docs/${name}`)).status, name).toBe(404);
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

  test("uses the given example, or builds one from the properties", () => {
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
