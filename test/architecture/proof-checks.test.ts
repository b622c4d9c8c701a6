// Checks that docs/reference/proof-checks.md lists all proof checks by ID. Each listed ID must occur in a test title, and each ID in a test
// title must be listed.
import { expect, test } from "vitest";
import { readRepositoryFile, listScriptFiles } from "./repository.ts";

const listed = [...readRepositoryFile("docs/reference/proof-checks.md").matchAll(/^\| ([FTCLOZX]\d+) \|/gm)].map(([, id]) => id as string);
const named = new Set(
  listScriptFiles()
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [...readRepositoryFile(file).matchAll(/\(((?:[FTCLOZX]\d+)(?:, [FTCLOZX]\d+)*)\)["`]/g)])
    .flatMap(([, ids]) => (ids as string).split(", ")),
);

test("every proof check has a test with its id", () => {
  expect(listed.length).toBeGreaterThan(35);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((id) => !named.has(id))).toEqual([]);
});

test("every id in a test title is documented", () => {
  expect([...named].filter((id) => !listed.includes(id))).toEqual([]);
});
