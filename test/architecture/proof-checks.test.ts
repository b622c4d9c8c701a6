// docs/reference/proof-checks.md lists what is checked of the proofs; every id in it stands in the name of a test, and every id in the name
// of a test stands in it.
import { expect, test } from "vitest";
import { readRepositoryFile, listScriptFiles } from "./repository.ts";

const listed = [...readRepositoryFile("docs/reference/proof-checks.md").matchAll(/^\| ([FTCLOZX]\d+) \|/gm)].map(([, id]) => id as string);
const named = new Set(
  listScriptFiles()
    .filter((file) => file.endsWith(".test.ts"))
    .flatMap((file) => [...readRepositoryFile(file).matchAll(/\(((?:[FTCLOZX]\d+)(?:, [FTCLOZX]\d+)*)\)["`]/g)])
    .flatMap(([, ids]) => (ids as string).split(", ")),
);

test("every promise about proofs has a test that bears its id", () => {
  expect(listed.length).toBeGreaterThan(35);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((id) => !named.has(id))).toEqual([]);
});

test("every id in the name of a test is explained", () => {
  expect([...named].filter((id) => !listed.includes(id))).toEqual([]);
});
