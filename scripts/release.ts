// `npm run release`: builds the assets of the production deployment and prints the integrity of its page script. Also saves this version's
// page script and developer kit, which are used to test later versions. Commit the files that it adds.
import { cpSync, existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import deployments from "../svc.config.ts";
import { buildKit } from "../kit/build.ts";
import { buildWidget } from "../widget/build.mjs";
import { resolveDeployment } from "./deploy/config.ts";
import { releaseAssets } from "./release-assets.ts";

/**
 * Saves the version's files for test/flows/earlier-releases.test.ts. Returns a list with the new folder, which is empty if the version was
 * saved before.
 */
const saveForTests = async (): Promise<readonly string[]> => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  const folder = join("test/releases", version);
  if (existsSync(folder)) return [];
  await buildKit("dist/npm");
  // Built without the deployment's URL, so that the script works with a local service.
  const { share } = await buildWidget({ outDir: "dist/release" });
  for (const path of [...globSync("dist/npm/*.mjs"), "dist/release/v1/svc.js", `dist/release/v1/svc-share-${share.hash12}.js`])
    cpSync(path, join(folder, basename(path)));
  return [folder];
};

const domain = deployments.production?.domain ?? "example.com";
const { hosts } = resolveDeployment(deployments, "production", { domain, isPlaceholderAllowed: true });
const { path, integrity, newFiles } = await releaseAssets(`https://${hosts.app}`);
const newPaths = [...newFiles, ...(await saveForTests())];
console.log([`${path}  integrity="${integrity}"`, ...newPaths.map((each) => `New: ${each}. Commit it.`)].join("\n"));
