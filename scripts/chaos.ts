// `npm run chaos`: makes one dependency of the service fail under load, checks that every write that the service acknowledged exists
// exactly once, and writes the result to docs/operate/reliability.md.
//   npm run chaos -- --list               lists the faults
//   npm run chaos -- --fault F5 --seed 1  runs one fault; the seed determines what the visitors do
//   npm run chaos -- --all                runs all faults, which takes about half an hour
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { faults, type Fault } from "./chaos/faults.ts";
import { describeFault, formatRow, insertRow } from "./chaos/results.ts";
import { parseOptions } from "./parse-options.ts";
import { ensureDevVars } from "./settings.ts";

const pagePath = "docs/operate/reliability.md";
const faultMs = 4_000; // longer than the time limit of every database request
const deadlineMs = 90_000; // after a process has died, some of its work waits for a minute
const rounds = { before: 2, during: Number.POSITIVE_INFINITY };
const maxPrinted = 10;

const usage = "Usage: npm run chaos -- --list | --fault <id>[,<id>…] [--seed <number>] | --all [--seed <number>]";

const values = parseOptions(
  {
    fault: { type: "string" },
    seed: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
  usage,
);

/**
 * Runs the faults and adds the results to docs/operate/reliability.md. Returns false if the service lost or duplicated a write even though
 * it promises not to.
 */
const runFaults = async (selected: readonly Fault[], seed: number): Promise<boolean> => {
  // Loading the local runtime takes seconds, so --list does not load it.
  const [{ buildAssets }, { bundleFaultyWorker, prepareService, runFault }] = await Promise.all([
    import("./build.ts"),
    import("./chaos/run-fault.ts"),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "svc-chaos-service-"));
  const bundleDir = join(folder, "bundle");
  let isKept = true;
  try {
    ensureDevVars();
    await buildAssets();
    await bundleFaultyWorker(bundleDir);
    const service = await prepareService(folder, bundleDir);
    for (const fault of selected) {
      const result = await runFault({ service, fault, seed, rounds, faultMs, deadlineMs });
      const row = formatRow(result);
      console.log(row);
      for (const text of [...result.lost, ...result.duplicated].slice(0, maxPrinted)) console.log(`  ${text}`);
      writeFileSync(pagePath, insertRow(readFileSync(pagePath, "utf8"), row));
      if (fault.isPromised && result.lost.length + result.duplicated.length > 0) isKept = false;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return isKept;
};

const ids = values.fault?.split(",") ?? [];
const unknown = ids.filter((id) => !faults.some((fault) => fault.id === id));
const seed = Number(values.seed);
const selected = values.all ? faults : faults.filter(({ id }) => ids.includes(id));
if (values.list) for (const fault of faults) console.log(`${fault.id.padEnd(4)} ${describeFault(fault).join(": ")}`);
else if (selected.length === 0 || unknown.length > 0 || !Number.isSafeInteger(seed) || seed < 0) {
  console.error(unknown.length > 0 ? `Unknown fault: ${unknown.join(", ")}. --list shows all faults.` : usage);
  process.exitCode = 2;
} else process.exitCode = (await runFaults(selected, seed)) ? 0 : 1;
