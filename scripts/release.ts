// `npm run release`: builds the assets of the production deployment and prints the integrity hash of its page script. Also saves this
// version's Worker, page script and developer kit, which are used to test later versions. Commit the files that it adds or changes.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import deployments from "../svc.config.ts";
import { buildKit } from "../kit/build.ts";
import { buildWidget } from "../widget/build.mjs";
import { resolveDeployment } from "./deploy/config.ts";
import { bundleWorker } from "./local-runtime.ts";
import { releaseAssets } from "./release-assets.ts";
import { saveWorker } from "./released-worker.ts";

const isTagged = (version: string): boolean =>
  spawnSync("git", ["tag", "--list", `v${version}`], { encoding: "utf8" }).stdout.trim() !== "";

/**
 * Saves the version's files for test/flows/earlier-releases.test.ts and test/flows/upgrade.test.ts. Replaces them until the version is
 * tagged, and does not change them after that. Returns a list with the folder, or an empty list if nothing was saved.
 */
const saveForTests = async (): Promise<readonly string[]> => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const folder = join("test/releases", version);
  if (existsSync(folder) && isTagged(version)) return [];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await buildKit("dist/npm");
  // Built without the deployment's URL, so that the script works with a local service.
  const { share } = await buildWidget({ outDir: "dist/release" });
  for (const path of [...globSync("dist/npm/*.mjs"), "dist/release/v1/svc.js", `dist/release/v1/svc-share-${share.hash12}.js`])
    cpSync(path, join(folder, basename(path)));
  await bundleWorker("dist/release/worker");
  saveWorker("dist/release/worker", folder);
  return [folder];
};

const domain = deployments.production?.domain ?? "example.com";
const { hosts } = resolveDeployment(deployments, "production", { domain, isPlaceholderAllowed: true });
const { path, integrity, newFiles } = await releaseAssets(`https://${hosts.app}`);
const savedPaths = [...newFiles, ...(await saveForTests())];
console.log([`${path}  integrity="${integrity}"`, ...savedPaths.map((each) => `Saved ${each}. Commit it.`)].join("\n"));
