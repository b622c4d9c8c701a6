// Imports point one way: api, pages and background to operations, operations to core and storage, storage to core, core to
// nothing. An import that points another way is named with its file.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatImportRow, importRules, type ImportRule } from "./import-rules.ts";
import { type Import, parseImports, isInside, packageNameFrom, readRepositoryFile, listScriptFiles } from "./repository.ts";

const files = listScriptFiles();
const imports = files.flatMap(parseImports);

const findRule = (file: string): ImportRule | undefined =>
  importRules.filter(({ from }) => isInside(file, from)).sort((a, b) => b.from.length - a.from.length)[0];

/** A rule for a folder does not let its neighbours with a rule of their own in: they are named, or they are not allowed. */
const isAllowed = ({ file, specifier, target, isTypeOnly }: Import): boolean => {
  const rule = findRule(file);
  if (rule === undefined) return false;
  if (target === null) return rule.packages === "any" || rule.packages.includes(packageNameFrom(specifier));
  if (findRule(target) === rule) return true;
  if (rule.allowed.some((place) => isInside(target, place) && (findRule(target)?.from.length ?? 0) <= place.length)) return true;
  if (rule.allowed.includes("workers") && isInside(target, "workers")) return true; // where everything is put together
  if (rule.packages === "any" && rule.allowed.some((place) => isInside(target, place))) return true;
  return isTypeOnly && (rule.types ?? []).some((place) => isInside(target, place));
};

const nameImport = (edge: Import): string => `${edge.file} imports ${edge.specifier}${edge.isTypeOnly ? " (types)" : ""}`;

describe("imports", () => {
  test("there are files and imports to look at", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
  });

  test("point only where the table lets them", () => {
    expect(imports.filter((edge) => !isAllowed(edge)).map(nameImport)).toEqual([]);
  });

  test("name files that are there, with their extension", () => {
    const broken = imports.filter(
      ({ target }) => target !== null && !target.endsWith(".gen.ts") && !target.endsWith("build.mjs") && !existsSync(target),
    );
    expect(broken.map(nameImport)).toEqual([]);
  });

  test("leave no folder without a rule and no rule without a folder", () => {
    expect(files.filter((file) => findRule(file) === undefined)).toEqual([]);
    expect(importRules.map(({ from }) => from).filter((from) => !existsSync(from))).toEqual([]);
  });

  test("never go through a barrel: a path in an import is the path of the code", () => {
    const barrels = files.filter((file) => /^export \* from/m.test(readRepositoryFile(file)));
    const entries = ["workers/index.ts", "workers/ledger/entry.ts"]; // the platform looks for objects in the entry
    const reexports = imports.filter(({ file, statement }) => /^\s*export/.test(statement) && !entries.includes(file)).map(nameImport);
    expect([...barrels, ...reexports]).toEqual([]);
    expect(files.filter((file) => /(?:^|\/)index\.tsx?$/.test(file))).toEqual(["workers/index.ts"]);
  });

  test("docs/internals/architecture.md shows the table as it is enforced", () => {
    const shown = readRepositoryFile("docs/internals/architecture.md").split("\n");
    expect(importRules.map(formatImportRow).filter((row) => !shown.includes(row))).toEqual([]);
  });
});
