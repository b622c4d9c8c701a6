// `npm run format`: formats everything and settles what the linter can settle safely.
import { spawnSync } from "node:child_process";

const { status } = spawnSync("node_modules/.bin/biome", ["check", "--write", "."], { stdio: "inherit" });
process.exit(status ?? 1);
