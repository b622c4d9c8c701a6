// Checks that every stress test selects existing test files, and titles that occur in them. Otherwise, a stress test could run nothing
// after a rename, and no one would notice.
import { existsSync, globSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stressTests, type StressTest } from "../../scripts/stress-tests.ts";
import { readRepositoryFile } from "./repository.ts";

const listPaths = ({ tests }: StressTest): string[] => tests.filter((argument) => argument.startsWith("test/"));

describe.each(Object.entries(stressTests))("npm run stress -- %s", (_, stressTest) => {
  test("selects existing test files", () => {
    expect(listPaths(stressTest)).not.toEqual([]);
    expect(listPaths(stressTest).filter((path) => !existsSync(path))).toEqual([]);
  });

  test("selects at least one title in each file when it has a title pattern", () => {
    const pattern = stressTest.tests[stressTest.tests.indexOf("-t") + 1] ?? "";
    const listTitles = (path: string): string[] =>
      [...readRepositoryFile(path).matchAll(/\btest(?:\.each\([^)]*\))?\(\s*["`]([^"`]+)/g)].map(([, title]) => title as string);
    const filtered = stressTest.tests.includes("-t") ? listPaths(stressTest) : [];
    expect(filtered.filter((path) => !listTitles(path).some((title) => new RegExp(pattern).test(title)))).toEqual([]);
  });

  test("sets only variables that a test or the test configuration reads", () => {
    const sources = ["vitest.config.ts", ...globSync("test/**/*.ts")].map(readRepositoryFile);
    expect(Object.keys(stressTest.settings).filter((name) => !sources.some((text) => text.includes(name)))).toEqual([]);
  });
});
