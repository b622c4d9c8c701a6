// The table of threats in docs/internals/security.md: every row names a test that exists.
import { readFileSync, existsSync } from "node:fs";
import { expect, test } from "vitest";

const rows = readFileSync("docs/internals/security.md", "utf8")
  .split("\n")
  .flatMap((line) => {
    const match = /^\| ([A-Z]\d+) \| .* \| `([^`]+)` "([^"]+)" \|$/.exec(line);
    return match === null ? [] : [{ id: match[1] as string, file: match[2] as string, name: match[3] as string }];
  });

test("there are threats, each under an id of its own", () => {
  expect(rows.length).toBeGreaterThan(40);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

test("every row of a threat table is one this test can read", () => {
  const written = readFileSync("docs/internals/security.md", "utf8")
    .split("\n")
    .filter((line) => /^\| [A-Z]\d+ \|/.test(line));
  expect(written.length).toBe(rows.length);
});

test.each(rows)("threat $id has its test", ({ file, name }) => {
  expect(existsSync(file), `${file} is not there`).toBe(true);
  expect(readFileSync(file, "utf8"), `${file} holds no test of that name`).toContain(`"${name}`);
});

test("every described route says what somebody can do with little", () => {
  const { paths } = JSON.parse(readFileSync("docs/reference/openapi.json", "utf8")) as { paths: Record<string, Record<string, unknown>> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const told = [...readFileSync("docs/internals/security.md", "utf8").matchAll(/^\| `([A-Z]+ \/[^`]*)` \|/gm)].map(
    ([, route]) => route as string,
  );
  expect(described.filter((route) => !told.includes(route))).toEqual([]);
  expect(told.filter((route) => route.includes("/v1/") && !described.includes(route))).toEqual([]);
});
