// Runs the service in a separate process that a test can kill. Arguments: state folder, bundle folder. Prints the URL once it listens.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type D1Like, prepareDatabases } from "../../scripts/local-databases.ts";
import { startPreparedRuntime } from "../../scripts/local-runtime.ts";
import { createDemoWorld, seedDemo } from "../../scripts/demo-world.ts";
import { testVars, worldSecret } from "./local-vars.ts";

const [stateDir, bundleDir] = process.argv.slice(2);
if (stateDir === undefined || bundleDir === undefined) throw new Error("usage: runtime-child <state folder> <bundle folder>");
const seed = (db: D1Like): Promise<void> => seedDemo(db, createDemoWorld(worldSecret), Date.now());
if (!existsSync(join(stateDir, "v3"))) await prepareDatabases({ stateDir, seed }); // after a restart, they already exist
const { INTAKE_WAIT_MS } = process.env;
const vars = INTAKE_WAIT_MS === undefined ? testVars : { ...testVars, INTAKE_WAIT_MS };
const runtime = await startPreparedRuntime({ port: 0, stateDir, bundleDir, vars });
console.log(JSON.stringify({ url: runtime.url }));
