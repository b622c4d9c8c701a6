// Writes workers/pages/shared/icons.gen.ts: the shapes of the icons that pages use, from lucide-static. The package is large (51 MB), so
// it is installed into dist/ only when this script runs, and the generated module is committed.
//
//   node scripts/run.mjs icons
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { iconNames } from "../workers/pages/shared/icon-names.ts";

const version = "1.62.0";
const folder = resolve("dist/lucide", version);
const icons = join(folder, "node_modules/lucide-static/icons");

if (!existsSync(icons)) {
  console.log(`Installing lucide-static ${version} (once, 51 MB) ...`);
  const options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const { status } = spawnSync("npm", ["install", "--prefix", folder, ...options, `lucide-static@${version}`], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Returns the elements inside the `svg` element on one line. */
const readShapes = (name: string): string => {
  const [, shapes] = /<svg[^>]*>(.*)<\/svg>/s.exec(readFileSync(join(icons, `${name}.svg`), "utf8")) ?? [];
  if (shapes === undefined) throw new Error(`icons: ${name} has no svg element`);
  return shapes.replaceAll(/\s+/g, " ").replaceAll(/> </g, "><").replaceAll(" />", "/>").trim();
};

const lines = [
  `// Written by scripts/icons.ts from lucide-static ${version} (ISC license, https://lucide.dev/license): 24 by 24 units, drawn with a`,
  "// 2 unit stroke.",
  'import type { IconName } from "./icon-names.ts";',
  "",
  "export const iconShapes: Readonly<Record<IconName, string>> = {",
  ...iconNames.map(
    (name) =>
      `  ${/^[a-z]+$/.test(name) ? name : `"${name}"`}: ${JSON.stringify(readShapes(name))
        .replaceAll('\\"', '"')
        .replace(/^"(.*)"$/, "'$1'")},`,
  ),
  "};",
  "",
];
writeFileSync("workers/pages/shared/icons.gen.ts", lines.join("\n"));
console.log(`workers/pages/shared/icons.gen.ts: ${iconNames.length} icons`);
