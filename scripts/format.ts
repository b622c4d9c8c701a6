// `npm run format`: formats all files and applies safe lint fixes.
import { spawnSync } from "node:child_process";

const { status } = spawnSync("node_modules/.bin/biome", ["check", "--write", "."], { stdio: "inherit" });
process.exit(status ?? 1);
