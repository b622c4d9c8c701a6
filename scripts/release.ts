// `npm run release`: builds what is deployed, and keeps the page script of this deployment under its own name for good, so that
// pages that pin it go on working after the next one; and with it the share part that it loads. Part of `npm run deploy`; what it
// adds belongs into the repository.
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildAssets, releasedDir } from "./build.ts";

/** Where people of this deployment decide about shares: the page script has to know whose messages to believe. */
const appUrl = /^APP_URL = "([^"]+)"/m.exec(readFileSync("wrangler.toml", "utf8"))?.[1];
if (appUrl === undefined) throw new Error("release: wrangler.toml has no APP_URL");

const { hash12, integrity, share } = await buildAssets(appUrl);
const saveRelease = (name: string): string => {
  const kept = join(releasedDir, name);
  if (existsSync(kept)) return "";
  copyFileSync(join("dist/assets/v1", name), kept);
  return `\nNew: commit ${kept}.`;
};
const name = `svc-${hash12}.js`;
console.log(`/v1/${name}  integrity="${integrity}"${saveRelease(name)}${saveRelease(`svc-share-${share.hash12}.js`)}`);
