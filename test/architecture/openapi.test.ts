// Checks that the committed OpenAPI document is complete and its examples are consistent.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { findMatchingLines, readRepositoryFile, listScriptFiles } from "./repository.ts";

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly properties?: Record<string, Schema>;
  readonly enum?: readonly unknown[];
}
interface Content {
  readonly schema: Schema;
  readonly example?: { data: Record<string, unknown> };
  readonly examples?: Record<string, unknown>;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { name: string; description?: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { readonly content: Record<string, Content> };
  readonly responses: Record<string, { description: string; content?: Record<string, Content> }>;
}

const document = JSON.parse(readFileSync("docs/reference/openapi.json", "utf8")) as {
  readonly openapi: string;
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes: Record<string, unknown> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
);
const listMissing = (wanted: (operation: (typeof operations)[number]) => boolean): string[] =>
  operations.filter((operation) => !wanted(operation)).map(({ method, path }) => `${method} ${path}`);

describe("every operation", () => {
  test("has a unique id, a known tag, a summary and a description", () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    const tags = document.tags.map(({ name }) => name);
    expect(listMissing(({ operationId }) => /^[a-z][A-Za-z]+$/.test(operationId))).toEqual([]);
    expect(listMissing((operation) => operation.tags.length === 1 && tags.includes(operation.tags[0] as string))).toEqual([]);
    expect(listMissing(({ summary }) => summary.length > 5 && summary.length < 60 && !summary.endsWith("."))).toEqual([]);
    expect(listMissing(({ description }) => (description ?? "").endsWith("."))).toEqual([]);
  });

  test("declares its security, even when it is public", () => {
    const schemes = Object.keys(document.components.securitySchemes);
    expect(listMissing(({ security }) => Array.isArray(security))).toEqual([]);
    expect(listMissing(({ security }) => security.flatMap(Object.keys).every((name) => schemes.includes(name)))).toEqual([]);
  });

  test("describes 401 and 402 when it accepts an API key", () => {
    const withKey = operations.filter(({ security }) => security.some((need) => "apiKey" in need));
    expect(withKey.length).toBeGreaterThan(3);
    expect(withKey.filter(({ responses }) => !("401" in responses && "402" in responses)).map(({ path }) => path)).toEqual([]);
  });

  test("describes 401 when it needs a session, and 403 for unsafe methods", () => {
    const sessioned = operations.filter(({ security }) => security.length > 0 && security.every((need) => "session" in need));
    expect(sessioned.length).toBeGreaterThan(3);
    expect(sessioned.filter(({ responses }) => !("401" in responses)).map(({ path }) => path)).toEqual([]);
    expect(sessioned.filter(({ method, responses }) => method !== "get" && !("403" in responses)).map(({ path }) => path)).toEqual([]);
  });

  test("describes each success with an example and each refusal with its code", () => {
    const unclear = operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status, { content, description }]) => {
          if (status === "303" || status === "304") return content !== undefined;
          // The response is a file, so it has no examples to check.
          if (content?.["application/pdf"] !== undefined) return description.length < 10;
          const jsonContent = content?.["application/json"];
          if (jsonContent === undefined || description.length < 10) return true;
          return status >= "400" && Object.keys(jsonContent.examples ?? {}).some((code) => !description.includes(`\`${code}\`: `));
        })
        .map(([status]) => `${operationId} ${status}`),
    );
    expect(unclear).toEqual([]);
  });

  test("describes every parameter and every key of the body", () => {
    const unexplained = operations.flatMap(({ operationId, parameters = [], requestBody }) => [
      ...parameters.filter(({ description, schema }) => !description && !schema.description).map(({ name }) => `${operationId} ${name}`),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => {
        const named = document.components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
        return Object.entries(named.properties ?? {}).flatMap(([name, member]) => (member.description ? [] : [`${operationId} ${name}`]));
      }),
    ]);
    expect(unexplained).toEqual([]);
  });
});

describe("the worked example", () => {
  const findExample = (operationId: string): Record<string, unknown> => {
    const operation = operations.find((candidate) => candidate.operationId === operationId);
    return operation?.responses["200"]?.content?.["application/json"]?.example?.data as Record<string, unknown>;
  };
  const verified = findExample("verifyCertificate");
  const bundle = findExample("exportEvidencePack");

  test("has the fingerprint of its canonical text, the canonical JSON of its preimage", () => {
    expect(sha256Hex(verified.canonical as string)).toBe(verified.fingerprint);
    expect(toCanonicalJson(verified.preimage as Json)).toBe(verified.canonical);
    expect(sha256Hex(verified.disclosure_text as string)).toBe(verified.disclosure_hash);
  });

  test("is signed by the key it names", () => {
    const { kid, value } = verified.signature as { kid: string; value: string };
    const { keys } = bundle.issuer_keys as { keys: { kid: string; x: string }[] };
    const jwk = keys.find((key) => key.kid === kid) as { kid: string; x: string };
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: jwk.x }, format: "jwk" });
    expect(verify(null, Buffer.from(verified.canonical as string), key, Buffer.from(value, "base64"))).toBe(true);
    expect(kid).toBe(createThumbprint(jwk.x));
  });

  test("proves the field it discloses and the subject as a whole", () => {
    const commitments = bundle.commitments as Record<string, string>;
    const disclosures = bundle.subject_disclosures as { key: string; salt: string; value: string }[];
    expect(disclosures.map(({ key }) => key)).toEqual(["email"]);
    for (const { key, salt, value } of disclosures) expect(sha256Hex(toCanonicalJson([salt, key, value]))).toBe(commitments[key]);
    expect(sha256Hex(toCanonicalJson(commitments))).toBe(verified.subject_hash);
  });

  test("anchors the hash of its statement", () => {
    const anchor = verified.anchor as { statement: string; entry_hash: string };
    expect(sha256Hex(anchor.statement)).toBe(anchor.entry_hash);
    expect(JSON.parse(anchor.statement).fingerprint).toBe(verified.fingerprint);
  });
});

/** Computes the thumbprint of a key (RFC 7638). */
const createThumbprint = (x: string): string =>
  Buffer.from(sha256Hex(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`), "hex").toString("base64url");

describe("a route under /v1", () => {
  test("is registered with its OpenAPI description", () => {
    const surfaces = listScriptFiles().filter((file) => file.startsWith("workers/"));
    expect(findMatchingLines(surfaces, /\bapp\.(?:all|basePath)\(|\.(?:get|post|put|patch|delete|on)\(.*["`]\/v1\b/)).toEqual([]);
  });

  test("is never mounted from another framework, whose routes could not be listed", () => {
    expect(
      findMatchingLines(
        listScriptFiles().filter((file) => file.startsWith("workers/")),
        /\b(?:app|pages)\.mount\(/,
      ),
    ).toEqual([]);
  });

  test("is described in a document with the version of the package", () => {
    const { version } = JSON.parse(readRepositoryFile("package.json")) as { version: string };
    expect((document as unknown as { info: { version: string } }).info.version).toBe(version);
  });
});
