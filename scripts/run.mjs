// Entry point of the npm scripts: installs missing dependencies, then runs the command with the Node version pinned in package.json. It is
// plain JavaScript, because it runs on the machine's own Node (20 or later); the commands are TypeScript on Node 24.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const node = join(root, "node_modules", "node", "bin", "node");

const readPackages = (path) => JSON.parse(readFileSync(join(root, path), "utf8")).packages;

/** Returns true if node_modules contains the locked version of every package. Optional packages for other platforms may be missing. */
const isInstalled = () => {
  if (!existsSync(node) || !existsSync(join(root, "node_modules", ".package-lock.json"))) return false;
  const installed = readPackages("node_modules/.package-lock.json");
  return Object.entries(readPackages("package-lock.json")).every(([path, { version, optional }]) => {
    const found = installed[path];
    return path === "" || (found === undefined ? optional === true : found.version === version);
  });
};

if (!isInstalled()) {
  process.stderr.write("Installing dependencies (once) ...\n");
  // npm writes to stderr, because stdout belongs to the command.
  const install = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", install, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) {
    process.stderr.write(
      "The dependencies could not be installed with npm ci. Check the network and the disk, and run the command again.\n",
    );
    process.exit(status ?? 1);
  }
}

const [command, ...args] = process.argv.slice(2);
const child = spawn(node, ["--import", "./scripts/report-errors.ts", join(root, "scripts", `${command}.ts`), ...args], {
  cwd: root,
  stdio: "inherit",
  env: {
    ...process.env,
    // With this cache, Node compiles the packages and strips the types of the scripts only once, which saves a third of a second per start.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, "node_modules", ".cache", "node"),
    PATH: `${dirname(node)}:${join(root, "node_modules", ".bin")}:${process.env.PATH}`,
  },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
