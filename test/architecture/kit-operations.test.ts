// Checks that the typed client contains exactly the OpenAPI operations that programs may call, and that it was generated from the current
// document.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { OPERATIONS, type OperationDescriptor } from "../../kit/api.gen.ts";
import { generateOperationsText } from "../../kit/build.ts";
import { readRepositoryFile } from "./repository.ts";

interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}
const { paths } = JSON.parse(readFileSync("docs/reference/openapi.json", "utf8")) as {
  paths: Record<string, Record<string, DescribedOperation>>;
};
const describedOperations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);
const operations: Readonly<Record<string, OperationDescriptor>> = OPERATIONS;

describe("the client of the kit", () => {
  test("is generated from the current OpenAPI document", () => {
    expect(readFileSync("kit/api.gen.ts", "utf8")).toBe(generateOperationsText());
  });

  test("has every operation that accepts an API key", () => {
    const keyed = describedOperations.filter(({ security }) => security.some((need) => "apiKey" in need));
    expect(keyed.length).toBeGreaterThan(15);
    expect(keyed.filter(({ operationId }) => operations[operationId] === undefined)).toEqual([]);
  });

  test("has no operations for signed-in people, pages or the payment provider", () => {
    const names = describedOperations.filter(({ operationId }) => operations[operationId] !== undefined);
    expect(names.filter(({ security }) => security.length > 0 && security.every((need) => "session" in need))).toEqual([]);
    expect(names.filter(({ tags }) => ["sign-in", "portal", "billing"].some((tag) => tags.includes(tag)))).toEqual([]);
  });

  test("calls each operation with its method, path and inputs, and with a key wherever one is accepted", () => {
    const odd = Object.entries(operations).filter(([name, { method, path, params = [], security = [] }]) => {
      const operation = describedOperations.find(({ operationId }) => operationId === name);
      if (operation === undefined || operation.method !== method || operation.path !== path) return true;
      const inputs = (operation.parameters ?? []).map((input) => `${input.in} ${input.name}`).sort();
      if (
        params
          .map((input) => `${input.in} ${input.name}`)
          .sort()
          .join() !== inputs.join()
      )
        return true;
      const takesKey = operation.security.some((need) => "apiKey" in need);
      return takesKey !== (security[0]?.[0]?.scheme === "apiKey");
    });
    expect(odd.map(([name]) => name)).toEqual([]);
  });

  test("is documented with existing operation names", () => {
    const used = [...readRepositoryFile("docs/guides/kit.md").matchAll(/svc\.([a-z]\w+)\(/g)].map(([, name]) => name as string);
    expect(used.length).toBeGreaterThan(2);
    expect(used.filter((name) => operations[name] === undefined)).toEqual([]);
  });
});
