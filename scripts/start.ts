// `npm start`: runs the whole service and a demo business site locally in the foreground. The first start also writes a month of demo data,
// unless `--empty` is given.
import { flushCompileCache } from "node:module";
import "./report-errors.ts";
import { buildAssets } from "./build.ts";
import { prepareDemoData } from "./demo-data.ts";
import { startDemoSite } from "./demo-site.ts";
import { createDemoWorld } from "./demo-world.ts";
import { endChildrenWithThisProcess } from "./end-with-parent.ts";
import { withCurrentState } from "./local-databases.ts";
import { startPreparedRuntime, type Runtime } from "./local-runtime.ts";
import { parseOptions } from "./parse-options.ts";
import { ensureDevVars, loadLocalSettings, paymentProviderMockFrom } from "./settings.ts";
import { assertCanStart } from "./startup-checks.ts";
import { reserveStateFolder } from "./state-lock.ts";
import { updateWorkerBundle } from "./worker-bundle.ts";

const usage = `Usage: npm start -- [options]

  --empty    Add no demo month to an empty database. Existing data is kept.
  --help     Show this help.

Environment: PORT, DEMO_PORT, SHARDS, SVC_STATE_DIR, and settings of the service: docs/reference/settings.md.`;

const options = parseOptions({ empty: { type: "boolean", default: false }, help: { type: "boolean", default: false } }, usage);
if (options.help) {
  console.log(usage);
  process.exit(0);
}

const stopTimeoutMs = 10_000; // stopping usually takes less than a second

const runStartStep = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
  const start = performance.now();
  process.stdout.write(`  ${name} ...`);
  const value = await work();
  process.stdout.write(` ${Math.round(performance.now() - start)} ms\n`);
  return value;
};

/** Runs a cron job, because the local runtime does not run any by itself. A failed run is reported and does not prevent the next one. */
const runCron = (runtime: Runtime, cron: string, at: Date): void => {
  runtime.scheduled(cron, at).catch((error: unknown) => console.error("cron:", error instanceof Error ? error.message : error));
};

const startCron = (runtime: Runtime): NodeJS.Timeout =>
  setInterval(() => {
    const at = new Date();
    runCron(runtime, "* * * * *", at);
    if (at.getMinutes() % 15 === 0) runCron(runtime, "*/15 * * * *", at);
  }, 60_000);

const main = async (): Promise<void> => {
  console.log("Starting svc");
  ensureDevVars();
  const settings = loadLocalSettings();
  await assertCanStart(settings);
  reserveStateFolder(settings.stateDir);
  await runStartStep("page script, styles", buildAssets);
  const bundled = updateWorkerBundle(); // bundling continues while the demo data is written
  bundled.catch(() => undefined); // the step below reports a failure, after the demo data is complete
  const world = createDemoWorld(settings.vars.ISSUER_KEY as string);
  const notices: string[] = [];
  const month = await runStartStep("databases, demo data", () =>
    withCurrentState(
      settings.stateDir,
      (text) => notices.push(text),
      () => prepareDemoData(settings, world, { isEmpty: options.empty }),
    ),
  );
  await runStartStep("bundle", () => bundled);
  const runtime = await runStartStep("runtime", () => startPreparedRuntime(settings));
  endChildrenWithThisProcess("workerd");
  if (month !== null)
    notices.push(
      `Wrote ${month.certificates} certificates of the last 30 days in ${Math.round(month.durationMs)} ms. To start without demo data: npm start -- --empty`,
    );
  for (const notice of notices) console.log(`  ${notice}`);
  const site = await startDemoSite(
    { port: settings.demoPort, cdnOrigin: settings.origin, clientId: world.acme.clients.live },
    paymentProviderMockFrom(settings),
  );
  const ticker = startCron(runtime);
  flushCompileCache(); // without this, Node would write the cache only at exit, and not at all if the process is killed
  if (month !== null) runCron(runtime, "* * * * *", new Date()); // the cron adds the demo data to the audit logs and the ledger

  console.log(`
  Home page            ${settings.origin}/        verify a certificate, withdraw consent, see the demo credentials
  Demo business site   ${settings.demoOrigin}/        a form that issues a certificate
  API                  ${settings.origin}/v1       documentation: ${settings.origin}/docs
  Health               ${settings.origin}/v1/health
  Demo client ID       ${world.acme.clients.live}
  Demo API key         ${world.acme.keys.live}
  Demo owner           ${world.ownerEmail}   sign in with a code from ${settings.origin}/dev/mail
  Pay for a plan       ${settings.origin}/v1/billing/checkout?plan=business   after signing in; opens the payment provider mock

  Issue a certificate from the command line: npm run demo
  Press Ctrl-C to stop. The data stays in ${settings.stateDir}.
`);

  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return; // after Ctrl-C, the signal arrives twice: from the terminal and from run.mjs
    isStopping = true;
    setTimeout(() => process.exit(1), stopTimeoutMs); // if the runtime hangs, its process is killed when this one ends
    clearInterval(ticker);
    site.close();
    await runtime.dispose();
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.removeAllListeners(signal); // the runtime's own listeners would end this process immediately, with a failing status
    process.on(signal, () => void stop());
  }
};

try {
  await main();
} catch (error) {
  process.stdout.write("\n"); // ends the line of the step that failed
  throw error;
}
