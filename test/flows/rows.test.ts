// Checks that no action writes more rows or bytes to the database than docs/reference/benchmarks.md states.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measureRowCosts } from "../../scripts/bench/rows.ts";
import { buildAssets } from "../../scripts/build.ts";
import { createDemoWorld } from "../../scripts/demo-world.ts";
import { testVars, worldSecret } from "../support/local-vars.ts";

const tolerance = 1.05;
const pageBytes = 4_096;

/** The figures in the page's table: the action, its rows and its bytes. */
const figures = [
  ...readFileSync("docs/reference/benchmarks.md", "utf8").matchAll(/^\| ([a-z0-9, ]+) \| ([\d.]+) rows \| ([\d,]+) B \|/gm),
].map(([, action, rows, bytes]) => ({
  action: action as string,
  rows: Number(rows),
  bytes: Number((bytes as string).replaceAll(",", "")),
}));

const state = mkdtempSync(join(tmpdir(), "svc-rows-test-"));
let costs: Awaited<ReturnType<typeof measureRowCosts>> = [];

beforeAll(async () => {
  await buildAssets();
  costs = await measureRowCosts({ state, bundledIn: state, vars: testVars, world: createDemoWorld(worldSecret) });
}, 900_000);
afterAll(() => rmSync(state, { recursive: true, force: true }));

test("every measured action has a figure", () => {
  expect(figures.map(({ action }) => action)).toEqual(costs.map(({ action }) => action));
});

test.each(figures)("$action writes at most 5% more than $rows rows and $bytes bytes", ({ action, rows, bytes }) => {
  const cost = costs.find((each) => each.action === action);
  expect(cost?.rows, JSON.stringify(cost?.statements)).toBeLessThanOrEqual(rows * tolerance);
  // A table grows by whole pages, so any action may be the one that adds a page.
  expect(cost?.bytes).toBeLessThanOrEqual(bytes * tolerance + (2 * pageBytes) / (cost?.count ?? 1));
});
