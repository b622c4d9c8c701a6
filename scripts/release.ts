// `npm run release`: builds the assets of a deployment and saves its page script and share script under their hashed names, so that pages
// that reference them by integrity keep working after later deployments. Part of `npm run deploy`. Commit the files it adds.
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildAssets, releasedDir } from "./build.ts";

/** The app's origin, which is built into the page script because the script accepts messages only from this origin. */
const appUrl = /^APP_URL = "([^"]+)"/m.exec(readFileSync("wrangler.toml", "utf8"))?.[1];
if (appUrl === undefined) throw new Error("release: set APP_URL in wrangler.toml.");

const { hash12, integrity, share } = await buildAssets(appUrl);
const saveRelease = (name: string): string => {
  const path = join(releasedDir, name);
  if (existsSync(path)) return "";
  copyFileSync(join("dist/assets/v1", name), path);
  return `\nNew file ${path}: commit it.`;
};
const name = `svc-${hash12}.js`;
console.log(`/v1/${name}  integrity="${integrity}"${saveRelease(name)}${saveRelease(`svc-share-${share.hash12}.js`)}`);
