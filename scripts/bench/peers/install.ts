// Installs the programs that svc is compared with.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "../installed-packages.ts";

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

/** Installs the packages unless this was done before, and copies the programs next to them. Returns the folder. */
export const installPeers = (): string => {
  const folder = installPackages("peers", versions);
  for (const program of programs) copyFileSync(join(import.meta.dirname, program), join(folder, program));
  return folder;
};
