// Reads the repository for the architecture tests: its source files, their text and their imports.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** Folders with source code. Everything else is configuration, text or third-party code. */
const codeFolders = ["core", "storage", "durable-objects", "workers", "widget", "verifier", "kit", "scripts", "test", "d1-migrations"];

const listFiles = (folder: string, extensions: readonly string[]): string[] =>
  globSync(extensions.map((extension) => `${folder}/**/*.${extension}`))
    .filter((path) => !path.endsWith(".gen.ts") && !/^test\/(?:widget\/forms|releases)\//.test(path))
    .map((path) => path.replaceAll("\\", "/"));

const readText = new Map<string, string>();
export const readRepositoryFile = (path: string): string => {
  const text = readText.get(path) ?? readFileSync(path, "utf8");
  readText.set(path, text);
  return text;
};

/** Lists TypeScript and JavaScript files, sorted. Excludes generated files. */
export const listScriptFiles = (): string[] => codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs"])).sort();

/** Lists scripts, styles and migrations in alphabetical order. */
export const listSourceFiles = (): string[] =>
  codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs", "css", "sql"])).sort();

/** Lists code, documents and configuration in alphabetical order. */
export const listTextFiles = (): string[] =>
  [
    ...listSourceFiles(),
    ...globSync(["*.md", "*.json", "*.toml", "*.ts", "*.yaml", "docs/**/*.{md,json,svg}", ".ci/*", ".npmrc", ".gitignore"]),
  ].sort();

export interface Import {
  readonly file: string;
  /** The module specifier as written in the file. */
  readonly specifier: string;
  /** The path from the repository root, or null for a package. */
  readonly target: string | null;
  readonly isTypeOnly: boolean;
  /** The complete import statement. */
  readonly statement: string;
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/gm;

/**
 * Returns true if the position is inside a template literal, which can contain code as text. This is the case after an odd number of
 * backticks.
 */
const isInTemplate = (text: string, at: number): boolean => text.slice(0, at).split("`").length % 2 === 0;

/** Lists static imports, re-exports and dynamic imports with a constant path, including type-only imports. */
export const parseImports = (file: string): Import[] =>
  [...readRepositoryFile(file).matchAll(importPattern)]
    .filter(({ index }) => !isInTemplate(readRepositoryFile(file), index))
    .map(([statement, typeWord, fromStatement, fromCall]) => {
      const specifier = (fromStatement ?? fromCall) as string;
      return {
        file,
        specifier,
        // `?raw` imports a file as text.
        target: specifier.startsWith(".")
          ? posix.normalize(join(dirname(file), specifier.replace(/\?raw$/, "")).replaceAll("\\", "/"))
          : null,
        isTypeOnly: typeWord !== undefined,
        statement,
      };
    });

export const isInside = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** Returns the package name in a specifier, without any path: `@scope/name`, `name`, `node:name` or `cloudflare:name`. */
export const extractPackageName = (specifier: string): string =>
  specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] as string);

/** Returns `file:line: text` for every matching line. */
export const findMatchingLines = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    readRepositoryFile(file)
      .split("\n")
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
