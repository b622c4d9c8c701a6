// The counted walks of docs/walks.md: as many files as the table says, each there, and each reached from one before it or lent by the
// composition of the isolate.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importsOf, read } from "./repository.ts";

const text = read("docs/walks.md");
const counts = [...text.matchAll(/^\| (\w+) \| (\d+) \|(?: \d+)? \|$/gm)].map(
  ([, walk, files]) => [walk as string, Number(files)] as const,
);
const filesOf = (walk: string): readonly string[] => {
  const list = new RegExp(`^- ${walk}: ((?:.|\\n {2})+)`, "m").exec(text)?.[1] ?? "";
  return [...list.matchAll(/`([^`]+)`/g)].map(([, file]) => file as string);
};

const composition = ["workers/services.ts", "workers/proof-services.ts"];

describe("the counted walks", () => {
  test("are the seven that are told", () => {
    expect(counts.map(([walk]) => walk)).toEqual(["consent", "withdrawal", "delivery", "anchoring", "grant", "redemption", "change"]);
  });

  test.each(counts)("%s has as many files as the table says, each once", (walk, count) => {
    const files = filesOf(walk);
    expect(files).toHaveLength(count);
    expect(new Set(files).size).toBe(count);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  test.each(counts)("%s reaches each file from one before it", (walk) => {
    const files = filesOf(walk);
    const unreached = files.filter((file, at) => {
      const before = [...files.slice(0, at), ...composition];
      return at > 0 && !before.some((earlier) => importsOf(earlier).some(({ target }) => target === file));
    });
    expect(unreached).toEqual([]);
  });
});
