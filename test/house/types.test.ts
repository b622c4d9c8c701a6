// Every file of TypeScript is checked by some tsconfig, as strictly as all others.
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { relative } from "node:path";
import { expect, test } from "vitest";
import { read, scriptFiles } from "./repository.ts";

const configurations = globSync("**/tsconfig*.json", { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.wrangler)$/.test(path) });

test("every file is type-checked", () => {
  const checked = new Set(
    configurations.flatMap((path) =>
      execFileSync("node_modules/.bin/tsc", ["--listFilesOnly", "-p", path], { encoding: "utf8" })
        .split("\n")
        .map((file) => relative(process.cwd(), file)),
    ),
  );
  const typed = scriptFiles().filter((file) => /\.(?:ts|tsx|mts)$/.test(file));
  expect(typed.length).toBeGreaterThan(100);
  expect(typed.filter((file) => !checked.has(file) && !file.endsWith("widget/build.d.mts"))).toEqual([]);
});

test("no configuration is less strict than the others", () => {
  const alone = configurations.filter((path) => !/"extends"/.test(read(path)));
  for (const path of alone) {
    const { compilerOptions } = JSON.parse(read(path)) as { compilerOptions: Record<string, unknown> };
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
      read(path).replace('"noPropertyAccessFromIndexSignature": false', ""),
    ),
  );
  expect(weakened).toEqual([]);
});
