// What the documents point to is there: files behind links, scripts behind commands, paths named in the text.
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRepositoryFile } from "./repository.ts";

const documents = globSync(["*.md", "docs/**/*.md"]).sort();

describe("the documents", () => {
  test("are there", () => {
    expect(documents).toContain("README.md");
    expect(documents).toContain("docs/internals/storage.md");
  });

  test("link to files that are there", () => {
    const broken = documents.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target]) => target as string)
        .filter((target) => !existsSync(join(dirname(document), target)))
        .map((target) => `${document}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test("name commands that package.json has", () => {
    const { scripts } = JSON.parse(readRepositoryFile("package.json")) as { scripts: Record<string, string> };
    const unknown = documents.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(/\bnpm run ([a-z][a-z:-]*)/g)]
        .map(([, name]) => name as string)
        .filter((name) => !(name in scripts))
        .map((name) => `${document}: npm run ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test("name source files that are there", () => {
    const named =
      /`((?:core|storage|durable-objects|workers|widget|scripts|test|d1-migrations|api|http|operations|pages|background|adapters)\/[\w./-]+\.(?:ts|tsx|mjs|sql|css))[` ]/g;
    const living = documents.filter((document) => !document.startsWith("docs/internals/decisions/")); // a decision speaks of its day
    const isThere = (path: string) => existsSync(path) || existsSync(join("workers", path)); // a walk may leave out "workers/"
    const gone = living.flatMap((document) =>
      [...readRepositoryFile(document).matchAll(named)]
        .map(([, path]) => path as string)
        .filter((path) => !path.endsWith(".gen.ts") && !isThere(path))
        .map((path) => `${document}: ${path}`),
    );
    expect(gone).toEqual([]);
  });
});
