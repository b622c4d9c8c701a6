// Installs packages that only a benchmark needs. They have their own folders in `dist`, because svc does not depend on them.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Installs these versions into `dist/<name>` unless this was done before. Returns the folder. */
export const installPackages = (name: string, versions: Readonly<Record<string, string>>): string => {
  const folder = resolve("dist", name);
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: versions }, null, 2);
  const manifestPath = join(folder, "package.json");
  const isInstalled =
    existsSync(manifestPath) && readFileSync(manifestPath, "utf8") === manifest && existsSync(join(folder, "package-lock.json"));
  if (isInstalled) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(manifestPath, manifest);
  console.log(`${name.padEnd(16)} installing ${Object.keys(versions).join(", ")} into ${folder}`);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return folder;
};
