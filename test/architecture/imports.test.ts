// Checks that imports follow the table in import-rules.ts and form no cycles. The folders api, pages and background import operations;
// operations import core and storage; storage imports core; core imports nothing.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { findImportCycles } from "./import-cycles.ts";
import { formatImportRow, importRules, type ImportRule } from "./import-rules.ts";
import { type Import, parseImports, isInside, extractPackageName, readRepositoryFile, listScriptFiles } from "./repository.ts";

const files = listScriptFiles();
const imports = files.flatMap(parseImports);

const findRule = (file: string): ImportRule | undefined =>
  importRules.filter(({ from }) => isInside(file, from)).sort((a, b) => b.from.length - a.from.length)[0];

/** A rule that allows a folder does not allow subfolders that have rules of their own. Those subfolders must be listed by name. */
const isAllowed = ({ file, specifier, target, isTypeOnly }: Import): boolean => {
  const rule = findRule(file);
  if (rule === undefined) return false;
  if (target === null) return rule.packages === "any" || rule.packages.includes(extractPackageName(specifier));
  if (findRule(target) === rule) return true;
  if (rule.allowed.some((place) => isInside(target, place) && (findRule(target)?.from.length ?? 0) <= place.length)) return true;
  if (rule.allowed.includes("workers") && isInside(target, "workers")) return true; // the composition root may import all of workers/
  if (rule.packages === "any" && rule.allowed.some((place) => isInside(target, place))) return true;
  return isTypeOnly && (rule.types ?? []).some((place) => isInside(target, place));
};

const formatImport = (edge: Import): string => `${edge.file} imports ${edge.specifier}${edge.isTypeOnly ? " (types)" : ""}`;

describe("import cycles", () => {
  const createEdges = (file: string, ...targets: readonly string[]) => targets.map((target) => ({ file, target }));

  test("are found with exactly the files that belong to them", () => {
    const imports = [
      ...createEdges("app.ts", "b.ts", "self.ts"),
      ...createEdges("b.ts", "c.ts"),
      ...createEdges("c.ts", "d.ts", "leaf.ts"),
      ...createEdges("d.ts", "b.ts"),
      ...createEdges("self.ts", "self.ts"),
    ];
    expect(findImportCycles(imports)).toEqual([["b.ts", "c.ts", "d.ts"], ["self.ts"]]);
    expect(findImportCycles(imports.filter(({ file }) => file !== "d.ts" && file !== "self.ts"))).toEqual([]);
  });

  test("do not exist, not even among type-only imports", () => {
    const code = imports.flatMap(({ file, target }) => (target === null || file.startsWith("test/") ? [] : [{ file, target }]));
    expect(findImportCycles(code)).toEqual([]);
  });
});

describe("imports", () => {
  test("are found in many files", () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(200);
  });

  test("follow the table of allowed imports", () => {
    expect(imports.filter((edge) => !isAllowed(edge)).map(formatImport)).toEqual([]);
  });

  test("name existing files with their extension", () => {
    const broken = imports.filter(
      ({ target }) => target !== null && !target.endsWith(".gen.ts") && !target.endsWith("build.mjs") && !existsSync(target),
    );
    expect(broken.map(formatImport)).toEqual([]);
  });

  test("have a rule for every file, and every rule names an existing folder or file", () => {
    expect(
      files.filter((file) => findRule(file) === undefined),
      "files without a rule in test/architecture/import-rules.ts",
    ).toEqual([]);
    expect(importRules.map(({ from }) => from).filter((from) => !existsSync(from))).toEqual([]);
  });

  test("never go through a barrel file", () => {
    const barrels = files.filter((file) => /^export \* from/m.test(readRepositoryFile(file)));
    // These entry files may re-export: Cloudflare requires Durable Object classes in the entry file, and the kit exports its generated
    // types.
    const entries = ["workers/index.ts", "workers/ledger/entry.ts", "scripts/demo-month/worker.ts", "kit/client.ts"];
    const reexports = imports.filter(({ file, statement }) => /^\s*export/.test(statement) && !entries.includes(file)).map(formatImport);
    expect([...barrels, ...reexports]).toEqual([]);
    expect(files.filter((file) => /(?:^|\/)index\.tsx?$/.test(file))).toEqual(["workers/index.ts"]);
  });

  test("match the table in docs/internals/architecture.md", () => {
    const shown = readRepositoryFile("docs/internals/architecture.md").split("\n");
    expect(
      importRules.map(formatImportRow).filter((row) => !shown.includes(row)),
      "rows of import-rules.ts that the table does not have",
    ).toEqual([]);
  });
});
