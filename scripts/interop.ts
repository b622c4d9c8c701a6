// `npm run interop`: runs the tests that need the MCP Inspector, which is too large to install with every clone. Installs it into dist/
// once.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildAssets } from "./build.ts";

const version = "2.12.0"; // docs/guides/agents.md contains this version too
const folder = resolve("dist/inspector", version);

const run = (command: string, args: readonly string[], settings: Readonly<Record<string, string>> = {}): void => {
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...settings } });
  if (status !== 0) process.exit(status ?? 1);
};

if (!existsSync(join(folder, "node_modules/@modelcontextprotocol/inspector"))) {
  console.log(`Installing the MCP Inspector ${version} (once, 110 MB) ...`);
  const quietly = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  run("npm", ["install", "--prefix", folder, ...quietly, `@modelcontextprotocol/inspector@${version}`]);
}
await buildAssets(); // the tests need the built assets, which a fresh clone does not contain
run("node_modules/.bin/vitest", ["run", "--project=inspector", ...process.argv.slice(2)], { INSPECTOR: folder });
