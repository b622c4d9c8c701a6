// Runs the service with a producer of events beside it, in a process of its own that a test can kill. Arguments: state folder,
// folder of the bundle, the receiver that may be called, the milliseconds between two sweeps. Prints the address when it listens.
import { loadProducerScript } from "../../scripts/bench/producer.ts";
import { type D1Like, startRuntime } from "../../scripts/local-runtime.ts";
import { createDemoWorld, seedDemo } from "../../scripts/demo-world.ts";
import { testVars, worldSecret } from "./local-vars.ts";

const [stateDir, bundleDir, receiver, sweepMs] = process.argv.slice(2);
if (stateDir === undefined || bundleDir === undefined || receiver === undefined || sweepMs === undefined)
  throw new Error("usage: events-child <state folder> <bundle folder> <host:port of the receiver> <sweep ms>");
// An empty log takes some forty thousand bytes: a hundred events fill one here, so that it is also killed while its older half goes into a segment.
const vars = { ...testVars, DEV_FETCH_ALLOW: receiver, DEV_EVENT_SEQUENCE_BYTES: "53000" };
const seed = (db: D1Like): Promise<void> => seedDemo(db, createDemoWorld(worldSecret), Date.now());
const runtime = await startRuntime({ port: 0, stateDir, bundleDir, vars, seed, sidecarScript: loadProducerScript() });
setInterval(() => {
  runtime.scheduled("* * * * *").catch(() => undefined); // the next sweep does what this one could not
}, Number(sweepMs));
console.log(JSON.stringify({ url: runtime.url }));
