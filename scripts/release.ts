// `npm run release`: builds what is deployed, and keeps the page script of this deployment under its own name for good, so that
// pages that pin it go on working after the next one. Part of `npm run deploy`; what it adds belongs into the repository.
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { buildAssets, releasedDir } from "./build.ts";

const { hash12, integrity } = await buildAssets();
const name = `svc-${hash12}.js`;
const kept = join(releasedDir, name);
const isNew = !existsSync(kept);
if (isNew) copyFileSync(join("dist/assets/v1", name), kept);
console.log(`/v1/${name}  integrity="${integrity}"${isNew ? `\nNew: commit ${kept}.` : ""}`);
