// Checks the style sheet: its size, the contrast of its colors, and the icons.
import { globSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { iconNames } from "../../workers/pages/shared/icon-names.ts";

const maxStyleBytes = 12_000;

test("the style sheet is at most 12 kB compressed and loads nothing", async () => {
  const { outputFiles } = await build({ entryPoints: ["workers/pages/styles/app.css"], bundle: true, minify: true, write: false });
  const css = outputFiles[0]?.text ?? "";
  expect(gzipSync(css, { level: 9 }).byteLength).toBeLessThanOrEqual(maxStyleBytes);
  expect(css).not.toMatch(/url\(|@import|@font-face/);
});

type Scheme = "light" | "dark";

const tokens = readFileSync("workers/pages/styles/tokens.css", "utf8");

/** Returns the red, green and blue values of a token in a color scheme. */
const parseColor = (token: string, scheme: Scheme): number[] => {
  const [, value = ""] = new RegExp(`--${token}: ([^;]+);`).exec(tokens) ?? [];
  const colors = value.match(/#[0-9a-f]{6}/g) ?? [];
  const color = colors[scheme === "dark" && colors.length > 1 ? 1 : 0];
  if (color === undefined) throw new Error(`no color --${token}`);
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
};

/** Computes the relative luminance (WCAG 2.2). */
const computeLuminance = (color: number[]): number => {
  const [red = 0, green = 0, blue = 0] = color.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const computeContrast = (front: string, back: string, scheme: Scheme): number => {
  const [a, b] = [computeLuminance(parseColor(front, scheme)), computeLuminance(parseColor(back, scheme))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

const papers = ["paper", "canvas", "sunken"];
const texts: readonly (readonly [front: string, back: string])[] = [
  ...["ink", "quiet"].flatMap((front) =>
    [...papers, "action-tint", "good-tint", "caution-tint", "bad-tint"].map((back) => [front, back] as const),
  ),
  ...["action", "good", "caution", "bad"].flatMap((front) => [...papers, `${front}-tint`].map((back) => [front, back] as const)),
  ["on-fill", "fill"],
  ["on-fill", "fill-hover"],
  ["on-fill", "bad-fill"],
];

test.each(["light", "dark"] as const)("text has a contrast ratio of at least 4.5, and field borders of at least 3 (%s)", (scheme) => {
  const weak = [
    ...texts.filter(([front, back]) => computeContrast(front, back, scheme) < 4.5),
    ...papers.map((back) => ["edge", back] as const).filter(([front, back]) => computeContrast(front, back, scheme) < 3),
  ];
  expect(weak.map((pair) => pair.join(" on "))).toEqual([]);
});

test("every icon in the list is used, and the shapes of each are in icons.gen.ts", () => {
  const sources = globSync("workers/pages/**/*.{ts,tsx}", { exclude: ["**/icon-names.ts", "**/*.gen.ts"] }).map((path) =>
    readFileSync(path, "utf8"),
  );
  expect(iconNames.filter((name) => !sources.some((source) => source.includes(`"${name}"`)))).toEqual([]);
  const shapes = readFileSync("workers/pages/shared/icons.gen.ts", "utf8");
  expect(iconNames.filter((name) => !new RegExp(`^  "?${name}"?: '<`, "m").test(shapes))).toEqual([]);
});
