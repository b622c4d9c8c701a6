// Checks that every row of the threat table in docs/internals/security.md points to an existing test, and that the page covers every route.
import { readFileSync, existsSync } from "node:fs";
import { expect, test } from "vitest";

const rows = readFileSync("docs/internals/security.md", "utf8")
  .split("\n")
  .flatMap((line) => {
    const match = /^\| ([A-Z]\d+) \| .* \| `([^`]+)` "([^"]+)" \|$/.exec(line);
    return match === null ? [] : [{ id: match[1] as string, file: match[2] as string, name: match[3] as string }];
  });

test("the threats have unique ids", () => {
  expect(rows.length).toBeGreaterThan(40);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

test("every row of the threat table can be parsed", () => {
  const written = readFileSync("docs/internals/security.md", "utf8")
    .split("\n")
    .filter((line) => /^\| [A-Z]\d+ \|/.test(line));
  expect(written.length).toBe(rows.length);
});

test.each(rows)("threat $id has its test", ({ file, name }) => {
  expect(existsSync(file), `${file} does not exist`).toBe(true);
  expect(readFileSync(file, "utf8"), `${file} has no test with this title`).toContain(`"${name}`);
});

test("no row names a test whose title begins only with another row's ID", () => {
  const ids = new Set(rows.map(({ id }) => id));
  const wrong = rows.filter(({ id, name }) => {
    const titleIds = (/^[A-Z]\d+(?:, [A-Z]\d+)*/.exec(name)?.[0] ?? "").split(", ").filter((titleId) => ids.has(titleId));
    return titleIds.length > 0 && !titleIds.includes(id);
  });
  expect(wrong).toEqual([]);
});

test("every route is covered by the security page", () => {
  const { paths } = JSON.parse(readFileSync("docs/reference/openapi.json", "utf8")) as { paths: Record<string, Record<string, unknown>> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const covered = [...readFileSync("docs/internals/security.md", "utf8").matchAll(/^\| `([A-Z]+ \/[^`]*)` \|/gm)].map(
    ([, route]) => route as string,
  );
  expect(
    described.filter((route) => !covered.includes(route)),
    "routes missing in docs/internals/security.md",
  ).toEqual([]);
  expect(covered.filter((route) => route.includes("/v1/") && !described.includes(route))).toEqual([]);
});
