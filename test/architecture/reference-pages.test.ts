// Checks that the documentation lists exactly the error codes (with their statuses), event types and limits that the code defines, mentions
// every setting that the Worker reads, and lists the same tools in agents.md and write-paths.md.
import { expect, test } from "vitest";
import { optInEventTypes, standardEventTypes } from "../../core/events/event.ts";
import { refusals } from "../../core/refusals.ts";
import { statusByCode } from "../../workers/http/statuses.ts";
import { defaultLimits, defaultNewGroups, defaultStorageLimits } from "../../workers/limits.ts";
import { parseWritePaths } from "../support/write-paths.ts";
import { readRepositoryFile } from "./repository.ts";

const readPage = (name: string): string => readRepositoryFile(`docs/reference/${name}.md`);

/** Returns the first two cells of each table row whose first cell starts with inline code. */
const parseRows = (page: string, name: RegExp): readonly (readonly [name: string, value: string])[] =>
  [...readPage(page).matchAll(/^\| `([^`]+)`(?: \\\*)? \| ([^|]+) \|/gm)]
    .map(([, first, second]) => [first as string, (second as string).trim()] as const)
    .filter(([first]) => name.test(first));

const formatLimit = ({ count, seconds }: { readonly count: number; readonly seconds: number }): string => {
  const periods: Readonly<Record<number, string>> = { 60: "minute", 600: "10 minutes", 900: "15 minutes", 3600: "hour", 86400: "day" };
  return `${count.toLocaleString("en-US")} per ${periods[seconds] ?? `${seconds} seconds`}`;
};

test("errors.md lists every error code once, with its status", () => {
  const listed = parseRows("errors", /^[a-z_]+$/);
  expect(listed.map(([code]) => code).sort()).toEqual(Object.keys(refusals).sort());
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(Object.entries(statusByCode).map(([code, status]) => [code, String(status)])),
  );
});

test("events.md lists every event type once", () => {
  const listed = [...readPage("events").matchAll(/^\| `([a-z._]+)` \| (?:share|certificate|none)/gm)].map(([, type]) => type);
  expect(listed.sort()).toEqual([...standardEventTypes, ...optInEventTypes, "test.ping"].sort());
});

test("limits.md lists every rate limit and storage limit once, with its default and whether development scales it", () => {
  const listed = parseRows("limits", /^[A-Z_]+$/);
  const rates = Object.entries(defaultLimits).map(([name, limit]) => ({ name, value: formatLimit(limit), scaled: limit.scaled }));
  const storage = Object.values(defaultStorageLimits).flatMap(({ recordsName, records, bytesName, bytes, scaled }) => [
    { name: recordsName, value: records.toLocaleString("en-US"), scaled },
    { name: bytesName, value: bytes.toLocaleString("en-US"), scaled },
  ]);
  const groups = { name: "CLIENT_DAY_GROUPS", value: String(defaultNewGroups), scaled: true };
  const defaults = [...rates, ...storage, groups];
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(defaults.map(({ name, value }) => [name, value])));
  expect(listed.length).toBe(defaults.length);
  const scaled = [...readPage("limits").matchAll(/^\| `([A-Z_]+)` \\\* \|/gm)].map(([, name]) => name);
  expect(scaled.sort()).toEqual(defaults.flatMap(({ name, scaled: isScaled }) => (isScaled ? [name] : [])).sort());
});

test("write-paths.md names only limits that exist", () => {
  const { writePaths, toolWrites } = parseWritePaths(readRepositoryFile("docs/internals/write-paths.md"));
  const rateLimits = Object.keys(defaultLimits);
  const storageLimits = Object.values(defaultStorageLimits).flatMap(({ recordsName, bytesName }) => [recordsName, bytesName] as string[]);
  for (const { limits } of writePaths) {
    expect(rateLimits).toContain(limits[0]);
    expect(limits.filter((name) => ![...rateLimits, ...storageLimits].includes(name))).toEqual([]);
  }
  for (const { limits } of toolWrites) {
    expect(limits[0]).toBe("AGENT_TOKEN");
    expect(limits.filter((name) => !rateLimits.includes(name))).toEqual([]);
  }
});

test("the guide about agents lists every tool once", () => {
  const listed = [...readRepositoryFile("docs/guides/agents.md").matchAll(/^\| `(svc_[a-z_]+)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(
    parseWritePaths(readRepositoryFile("docs/internals/write-paths.md"))
      .toolWrites.flatMap(({ tools }) => tools)
      .sort(),
  );
});

test("settings.md lists every setting that the Worker reads", () => {
  const sources = ["workers/env.ts", "core/ledger/settings.ts"].map((path) => readRepositoryFile(path));
  const read = sources.flatMap((source) =>
    [...source.matchAll(/\b(?:setting|text|number|address|secret)\("([A-Z][A-Z_0-9]+)"/g)].map(([, name]) => name as string),
  );
  expect(read.length).toBeGreaterThan(40);
  const page = readPage("settings");
  expect([...new Set(read)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
