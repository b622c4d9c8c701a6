// Checks the rules for source files: names, opening comments and forbidden content.
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { findMatchingLines, readRepositoryFile, listScriptFiles, listSourceFiles, listTextFiles } from "./repository.ts";

const scripts = listScriptFiles();
const sources = listSourceFiles();
const texts = listTextFiles();

describe("a source file", () => {
  test("is found by the tests", () => {
    expect(sources).toContain("core/result.ts");
    expect(sources).toContain("d1-migrations/0001_schema.sql");
    expect(texts).toContain("wrangler.toml");
  });

  test("opens with a comment about its content", () => {
    const opened = /^(?:#!.*\n)?(?:\/\/ |\/\*|-- )/;
    expect(sources.filter((file) => !opened.test(readRepositoryFile(file)))).toEqual([]);
  });

  test("has a name in kebab-case", () => {
    const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/;
    const migration = /^\d{4}_[a-z0-9_]+\.sql$/;
    const languageTag = /^[a-z]{2}-[A-Z]{2}\.ts$/;
    const odd = sources.filter((file) => ![kebab, migration, languageTag].some((pattern) => pattern.test(basename(file))));
    expect(odd).toEqual([]);
  });

  test("has a specific name", () => {
    const vague = /^(?:utils?|helpers?|common|manager|handler|service|misc)\.[a-z]+$/;
    expect(sources.filter((file) => vague.test(basename(file)))).toEqual([]);
  });

  // Patterns are split so that this file does not match itself.
  const forbidden: readonly (readonly [string, RegExp])[] = [
    ["a silenced compiler", new RegExp(`@ts-${"ignore"}|@ts-${"nocheck"}|@ts-${"expect-error"}`)],
    ["an escape from types", new RegExp(`\\bas ${"any"}\\b`)],
    ["a focused or skipped test", /\b(?:describe|test|it|suite)\.(?:only\b|skip|todo\b|fails\b|runIf\b)/],
    ["a to-do note", new RegExp(`\\b(?:${"TO"}DO|${"FIX"}ME|X{3})\\b`)],
    ["a silently ignored error", /catch(?: \([^)]*\))? \{\s*\}/],
    ["a debugger", /^\s*debugger\b/],
  ];
  for (const [what, pattern] of forbidden) {
    test(`contains no ${what.replace(/^an? /, "")}`, () => {
      expect(findMatchingLines(scripts, pattern)).toEqual([]);
    });
  }

  test("of the Worker logs through workers/log.ts only", () => {
    const service = scripts.filter((file) => /^(?:core|storage|workers)\//.test(file));
    const others = service.filter((file) => file !== "workers/log.ts" && !file.startsWith("workers/pages/client/"));
    expect(findMatchingLines(others, /\bconsole\./)).toEqual([]);
  });

  test("contains SQL only in storage, Durable Objects, scripts and tests", () => {
    const outside = scripts.filter((file) => /^(?:core|workers|widget)\//.test(file));
    expect(
      findMatchingLines(
        outside,
        /\.prepare\(\s*(?:["`]|$)|\.sql\.exec\(|\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE) [a-z_*]+ (?:FROM|SET|WHERE|\()/,
      ),
    ).toEqual([]);
  });
});

describe("the core", () => {
  test("reads no clock, uses no randomness and does no input or output", () => {
    const core = scripts.filter((file) => file.startsWith("core/") && !file.endsWith(".d.ts"));
    expect(
      findMatchingLines(
        core,
        /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bcrypto\.(?:subtle\.\w+|getRandomValues|randomUUID)\(|\bfetch\(|\bprocess\.|\bsetTimeout\(/,
      ),
    ).toEqual([]);
  });
});

describe("the repository", () => {
  test("contains no local file paths", () => {
    expect(findMatchingLines(texts, /(?<![\w.~-])\/(?:work|root|home\/[\w-]+|Users\/[\w-]+)\//)).toEqual([]);
  });

  test("locks its packages without registry URLs", () => {
    const lock = readFileSync("package-lock.json", "utf8");
    expect(JSON.parse(lock).lockfileVersion).toBe(3);
    expect(lock).not.toMatch(/"resolved"/);
    expect(lock).not.toMatch(/registry\./);
  });

  test("contains its full license", () => {
    const licence = readFileSync("LICENSE", "utf8");
    expect(licence).toContain("Apache License\n");
    expect(licence).toContain("END OF TERMS AND CONDITIONS");
    expect(licence).toContain("Copyright 2026 the svc authors");
    expect(JSON.parse(readFileSync("package.json", "utf8")).license).toBe("Apache-2.0");
  });

  test("has one command for all checks, which CI runs", () => {
    const run = readFileSync(".ci/run", "utf8");
    expect(run).toMatch(/^#!\/usr\/bin\/env bash\n/);
    expect(run).toMatch(/^set -euo pipefail$/m);
    expect(run).toMatch(/^npm test$/m);
    expect(readRepositoryFile("README.md")).toContain("npm test");
  });

  test("has a script for every npm script that uses scripts/run.mjs", () => {
    const commands = Object.values(JSON.parse(readFileSync("package.json", "utf8")).scripts as Record<string, string>);
    const opened = commands.flatMap((command) => [...command.matchAll(/node scripts\/run\.mjs ([a-z-]+)/g)].map(([, name]) => name));
    expect(opened.length).toBeGreaterThan(5);
    expect(opened.filter((name) => !existsSync(`scripts/${name}.ts`))).toEqual([]);
  });
});
