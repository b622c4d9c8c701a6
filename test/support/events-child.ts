// Runs the service and an event producer in a separate process that a test can kill. Arguments: state folder, bundle folder, host:port of
// the receiver, milliseconds between runs of the cron job. Prints the URL once it listens.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadProducerScript } from "../../scripts/bench/producer.ts";
import { type D1Like, prepareDatabases } from "../../scripts/local-databases.ts";
import { startPreparedRuntime } from "../../scripts/local-runtime.ts";
import { createDemoWorld, seedDemo } from "../../scripts/demo-world.ts";
import { testVars, worldSecret } from "./local-vars.ts";

const [stateDir, bundleDir, receiver, cronMs] = process.argv.slice(2);
if (stateDir === undefined || bundleDir === undefined || receiver === undefined || cronMs === undefined)
  throw new Error("usage: events-child <state folder> <bundle folder> <host:port of the receiver> <cron ms>");
// An empty event sequence takes about 40,000 bytes. With this limit, 100 events fill it, so the process is sometimes killed while it moves
// events to a segment.
const vars = { ...testVars, DEV_FETCH_ALLOW: receiver, DEV_EVENT_SEQUENCE_BYTES: "53000" };
const seed = (db: D1Like): Promise<void> => seedDemo(db, createDemoWorld(worldSecret), Date.now());
if (!existsSync(join(stateDir, "v3"))) await prepareDatabases({ stateDir, seed }); // after a restart, they already exist
const runtime = await startPreparedRuntime({ port: 0, stateDir, bundleDir, vars, sidecarScript: loadProducerScript() });
setInterval(() => {
  runtime.scheduled("* * * * *").catch(() => undefined); // the next run retries what failed
}, Number(cronMs));
console.log(JSON.stringify({ url: runtime.url }));
