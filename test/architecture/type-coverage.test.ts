// Checks that every TypeScript file is type-checked by some tsconfig, and that all tsconfig files are equally strict.
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { parseImports, readRepositoryFile, listScriptFiles } from "./repository.ts";

const configurations = globSync("**/tsconfig*.json", { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.wrangler)$/.test(path) });

const runTsc = (...args: readonly string[]): string => execFileSync("node_modules/.bin/tsc", args, { encoding: "utf8" });

const isTypeScript = (file: string): boolean => /\.(?:ts|tsx|mts)$/.test(file);

/**
 * Lists the files in a tsconfig and the files that they import. The compiler would return the same list, but it is slow because it reads
 * the declarations of every package.
 */
const listCheckedFiles = (path: string): Set<string> => {
  const { files } = JSON.parse(runTsc("--showConfig", "-p", path)) as { files: string[] };
  const checked = new Set(files.map((file) => join(dirname(path), file)));
  for (const file of checked)
    for (const { target } of isTypeScript(file) ? parseImports(file) : []) if (target !== null) checked.add(target);
  return checked;
};

test("every file is type-checked", () => {
  const checked = new Set(configurations.flatMap((path) => [...listCheckedFiles(path)]));
  const typed = listScriptFiles().filter(isTypeScript);
  expect(typed.length).toBeGreaterThan(100);
  expect(typed.filter((file) => !checked.has(file) && !file.endsWith("widget/build.d.mts"))).toEqual([]);
});

test("the compiler reports the same files as checked", () => {
  const listed = runTsc("--listFilesOnly", "-p", "verifier/tsconfig.json").trim().split("\n");
  const ours = listed.map((file) => relative(process.cwd(), file)).filter((file) => !file.startsWith("node_modules/"));
  expect([...listCheckedFiles("verifier/tsconfig.json")].sort()).toEqual(ours.sort());
});

test("no configuration is less strict than the others", () => {
  const alone = configurations.filter((path) => !/"extends"/.test(readRepositoryFile(path)));
  for (const path of alone) {
    const { compilerOptions } = JSON.parse(readRepositoryFile(path)) as { compilerOptions: Record<string, unknown> };
    expect(compilerOptions, path).toMatchObject({
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      noUnusedLocals: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
    });
  }
  const weakened = configurations.filter((path) =>
    /"(?:strict\w*|no[A-Z]\w*|exactOptionalPropertyTypes)": false/.test(
      readRepositoryFile(path).replace('"noPropertyAccessFromIndexSignature": false', ""),
    ),
  );
  expect(weakened).toEqual([]);
});
