// The repository as the house rules see it: its source files and what each imports.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** Folders with code of ours; everything else is configuration, text or somebody else's. */
const codeFolders = ["core", "storage", "durable-objects", "workers", "widget", "verifier", "scripts", "test", "d1-migrations"];

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

/** TypeScript and JavaScript of ours, sorted. */
export const listScriptFiles = (): string[] => codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs"])).sort();

/** All code of ours: scripts, styles and migrations. */
export const listSourceFiles = (): string[] =>
  codeFolders.flatMap((folder) => listFiles(folder, ["ts", "tsx", "mts", "mjs", "css", "sql"])).sort();

/** Every text a reader of the repository sees: code, documents, configuration. */
export const listTextFiles = (): string[] =>
  [
    ...listSourceFiles(),
    ...globSync(["*.md", "*.json", "*.toml", "*.ts", "*.yaml", "docs/**/*.{md,json,svg}", ".ci/*", ".npmrc", ".gitignore"]),
  ].sort();

export interface Import {
  readonly file: string;
  /** As written. */
  readonly specifier: string;
  /** Path from the root for files of ours, else null. */
  readonly target: string | null;
  readonly isTypeOnly: boolean;
  /** As it stands in the file. */
  readonly statement: string;
}

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/gm;

/** Code inside a template is somebody's data: an odd number of backticks stands before it. */
const isInTemplate = (text: string, at: number): boolean => text.slice(0, at).split("`").length % 2 === 0;

/** Static imports, re-exports, and imports with a constant path, of values and of types. */
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

/** `@scope/name` or `name` of a specifier with a path; `node:x` and `cloudflare:x` as they are. */
export const packageNameFrom = (specifier: string): string =>
  specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] as string);

/** `file:line: text` of every line that matches. */
export const findMatchingLines = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    readRepositoryFile(file)
      .split("\n")
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
