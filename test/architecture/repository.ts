// Reads the repository for the architecture tests: its source files, their texts and their imports.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** Folders with source code; everything else is configuration, text or third-party. */
const codeFolders = ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "scripts", "test", "d1-migrations"];

const listFiles = (folder: string, extensions: readonly string[]): string[] =>
  globSync(extensions.map((extension) => `${folder}/**/*.${extension}`))
    .filter((path) => !path.endsWith(".gen.ts") && !path.startsWith("test/widget/forms/"))
    .map((path) => path.replaceAll("\\", "/"));

const readText = new Map<string, string>();
export const readRepositoryFile = (path: string): string => {
  const text = readText.get(path) ?? readFileSync(path, "utf8");
  readText.set(path, text);
  return text;
};

/** TypeScript and JavaScript files, sorted; generated files are left out. */
export const listScriptFiles = (): string[] => codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs"])).sort();

/** Scripts, styles and migrations, sorted. */
export const listSourceFiles = (): string[] =>
  codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs", "css", "sql"])).sort();

/** Code, documents and configuration, sorted. */
export const listTextFiles = (): string[] =>
  [
    ...listSourceFiles(),
    ...globSync(["*.md", "*.json", "*.toml", "*.ts", "*.yaml", "docs/**/*.{md,json,svg}", ".ci/*", ".npmrc", ".gitignore"]),
  ].sort();

export interface Import {
  readonly file: string;
  /** As written. */
  readonly specifier: string;
  /** Path from the repository root; null for a package. */
  readonly target: string | null;
  readonly isTypeOnly: boolean;
  /** The whole matched statement. */
  readonly statement: string;
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/gm;

/** Whether the position is inside a template literal, where code is data: an odd number of backticks precedes it. */
const isInTemplate = (text: string, at: number): boolean => text.slice(0, at).split("`").length % 2 === 0;

/** Static imports, re-exports and dynamic imports with a constant path, including type-only ones. */
export const parseImports = (file: string): Import[] =>
  [...readRepositoryFile(file).matchAll(importPattern)]
    .filter(({ index }) => !isInTemplate(readRepositoryFile(file), index))
    .map(([statement, typeWord, fromStatement, fromCall]) => {
      const specifier = (fromStatement ?? fromCall) as string;
      return {
        file,
        specifier,
        target: specifier.startsWith(".") ? posix.normalize(join(dirname(file), specifier).replaceAll("\\", "/")) : null,
        isTypeOnly: typeWord !== undefined,
        statement,
      };
    });

/** True when `path` is `place` or lies in it. */
export const isInside = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** The package of a specifier without the path in it: `@scope/name`, `name`, `node:name` or `cloudflare:name`. */
export const packageNameFrom = (specifier: string): string =>
  specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] as string);

/** `file:line: text` of every matching line. */
export const findMatchingLines = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    readRepositoryFile(file)
      .split("\n")
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
