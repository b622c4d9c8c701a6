// `npm run verify -- evidence.zip --trust trust.json`: builds the offline verifier and runs it.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { buildVerifier } from "../verifier/build.ts";

await buildVerifier("dist");
// Relative paths start from the folder where npm was run.
const cwd = process.env.INIT_CWD ?? process.cwd();
const { status } = spawnSync(process.execPath, [resolve("dist/svc-verify.mjs"), ...process.argv.slice(2)], { stdio: "inherit", cwd });
process.exit(status ?? 1);
