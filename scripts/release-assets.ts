// Builds the assets of a deployment. Also saves its page script and share script under their hashed names. Pages that pin a script with an
// `integrity` attribute therefore keep working after later deployments.
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { deploymentAssetsDir } from "./assets-folders.ts";
import { buildAssets, releasedDir } from "./build.ts";

export interface ReleasedScript {
  readonly path: string;
  readonly integrity: string;
  /** Files that were added to widget/released. They must be committed. */
  readonly newFiles: readonly string[];
}

/** Builds the assets. `appUrl` is built into the share script, which opens the consent sheet at this origin. */
export const releaseAssets = async (appUrl: string): Promise<ReleasedScript> => {
  const { hash12, integrity, share } = await buildAssets(appUrl);
  const name = `svc-${hash12}.js`;
  const newFiles = [name, `svc-share-${share.hash12}.js`].flatMap((file) => {
    const path = join(releasedDir, file);
    if (existsSync(path)) return [];
    copyFileSync(join(deploymentAssetsDir, "v1", file), path);
    return [path];
  });
  return { path: `/v1/${name}`, integrity, newFiles };
};
