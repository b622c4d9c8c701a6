// Checks that references in the documentation are valid: links, npm commands and file paths.
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRepositoryFile } from "./repository.ts";

const documents = globSync(["*.md", "docs/**/*.md"]).sort();

describe("the documents", () => {
  test("include the main pages", () => {
    expect(documents).toContain("README.md");
    expect(documents).toContain("docs/internals/storage.md");
  });

  test("link to existing files", () => {
    const broken = documents.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target as string)
        .filter((target) => !existsSync(join(dirname(document), target)))
        .map((target) => `${document}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test("name commands that exist in package.json", () => {
    const { scripts } = JSON.parse(readRepositoryFile("package.json")) as { scripts: Record<string, string> };
    const unknown = documents.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(/\bnpm run ([a-z][a-z:-]*)/g)]
        .map(([, name]) => name as string)
        .filter((name) => !(name in scripts))
        .map((name) => `${document}: npm run ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test("name existing source files", () => {
    const named =
      /`((?:core|storage|durable-objects|workers|widget|scripts|test|d1-migrations|api|http|operations|pages|background|adapters)\/[\w./-]+\.(?:ts|tsx|mjs|sql|css))[` ]/g;
    const living = documents.filter((document) => !document.startsWith("docs/internals/decisions/")); // decision records describe the past, so their references may be outdated
    const isThere = (path: string) => existsSync(path) || existsSync(join("workers", path)); // request-flows.md omits "workers/" from paths
    const gone = living.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(named)]
        .map(([, path]) => path as string)
        .filter((path) => !path.endsWith(".gen.ts") && !isThere(path))
        .map((path) => `${document}: ${path}`),
    );
    expect(gone).toEqual([]);
  });
});
