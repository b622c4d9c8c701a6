// Runs svc with the event producer in a process that the benchmark can kill. Arguments: state folder, bundle folder, host:port of the
// receiver. Expects the settings in SETTINGS (JSON). Prints READY and the URL once it listens.
import { createDemoWorld, seedDemo } from "../../demo-world.ts";
import type { D1Like } from "../../local-databases.ts";
import { startRuntime } from "../../local-runtime.ts";
import { loadProducerScript } from "../producer.ts";

const [stateDir = "", bundleDir = "", receiver = ""] = process.argv.slice(2);
const settings = JSON.parse(process.env.SETTINGS ?? "{}") as Record<string, string>;
const vars = { ...settings, DEV_FETCH_ALLOW: receiver };
const world = createDemoWorld(settings.ISSUER_KEY as string);
const seed = (db: D1Like): Promise<void> => seedDemo(db, world, Date.now());
const runtime = await startRuntime({ port: 0, printsLog: false, stateDir, bundleDir, vars, seed, sidecarScript: loadProducerScript() });
setInterval(() => {
  runtime.scheduled("* * * * *").catch(() => undefined); // ignore a failed run, because the next run retries its work
}, 60_000);
console.log(`READY ${runtime.url}`);
