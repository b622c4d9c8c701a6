// Installs the programs that svc is compared with. They have their own folder, because svc does not depend on them.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The versions of the programs that svc is compared with. The list includes what c15t needs to run on Node with PostgreSQL. */
const versions = {
  "@c15t/backend": "2.2.1",
  "@hono/node-server": "2.1.9",
  "@modelcontextprotocol/server-everything": "2026.8.31",
  c15t: "2.2.1",
  "graphile-worker": "0.18.0",
  hono: "4.13.19",
  klaro: "0.7.22",
  kysely: "0.28.19",
  orejime: "3.2.1",
  pg: "8.23.1",
  "pg-boss": "12.38.0",
  standardwebhooks: "1.1.1",
  tarteaucitronjs: "1.34.0",
  "vanilla-cookieconsent": "3.1.0",
};

/** The programs in this folder that import the packages. They are copied into the install folder, so that Node finds the packages. */
const programs = ["c15t-server.mjs", "deliver-with-graphile-worker.mjs", "deliver-with-pg-boss.mjs"];

/** Installs the packages unless this was done before. Returns the folder. */
export const installPeers = (): string => {
  const folder = resolve("dist/peers");
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: versions }, null, 2);
  const manifestPath = join(folder, "package.json");
  const isInstalled =
    existsSync(manifestPath) && readFileSync(manifestPath, "utf8") === manifest && existsSync(join(folder, "package-lock.json"));
  if (!isInstalled) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(manifestPath, manifest);
    console.log(`peers            installing ${Object.keys(versions).length} packages into ${folder}`);
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  for (const program of programs) copyFileSync(join(import.meta.dirname, program), join(folder, program));
  return folder;
};
