// `npm run admin`: operator commands. Most of them call the service's admin routes, so the service checks and audits them like any other
// request.
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../core/hash.ts";
import { addShard } from "./add-shard.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";
import { reserveStateFolder } from "./state-lock.ts";

const usage = `Usage: npm run admin -- <command>

  token                     Generate an operator token. Put ADMIN_TOKEN into the secrets file, and deploy.
  show <biz_...>            Show the status and plan of a business.
  approve <biz_...>         Activate a pending business.
  suspend <biz_...>         Suspend a business. Payments do not lift the suspension.
  unsuspend <biz_...>       Activate a suspended business.
  close <biz_...>           Close a business and end its subscription.
  plan <biz_...> <plan>     Set the plan: free, business or enterprise.
  removals                  List removal requests that are unfinished or due to be checked again.
  removal <rmv_...>         Show a removal request with the person's data. The person's history shows that it was opened.
  removal <rmv_...> checked Record that you checked the brokers of a completed removal again.
  removal <rmv_...> <target>=<status> ...
                            Set the status of removal targets: requested, in_progress, completed or rejected.
  shards                    List the shards: state, size, and which one gets new accounts.
  shards add [<shard>]      Add a shard to wrangler.toml. Run npm run deploy afterward.
  shards close <shard>      Stop creating accounts and certificates in a shard.
  shards open <shard>       Create accounts and certificates in a shard again.
  stuck                     List work that is overdue, and emails that were not delivered.
  resend <mail id>          Resend an email that was not delivered.
  figures                   Show the figures that can trigger alerts, with their thresholds.
  incidents                 List the incidents on the public status page.
  incident open <maintenance|degraded|outage> <component,...> <title> <text>
                            Publish an incident. Components: forms, certificates, sharing, portal, webhooks, email.
  incident update <id> <text>
                            Add an update to an incident.
  incident end <id> <text>  Add the last update to an incident and end it.
  export <folder>           Write everything that the local service has stored to an encrypted folder. Stop npm start first.
  import <folder> [--dry-run]
                            Read an export into the local service, which must have no data yet.
  restore-drill             Use a copy of the local data to show what a restore recovers. Stop npm start first.

Environment:
  ADMIN_URL                 Root of the API, such as https://api.example.com/v1. Default: the local service.
  ADMIN_TOKEN               The operator token. Default: the local token in .dev.vars.
  EXPORT_PASSPHRASE         Encrypts an export. At least 20 characters.`;

const statusByCommand: Readonly<Record<string, string>> = { approve: "active", unsuspend: "active", suspend: "suspended", close: "closed" };

/** The minimum and maximum number of arguments for each command. */
const argumentCounts: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["token", [0, 0]],
  ["show", [1, 1]],
  ["approve", [1, 1]],
  ["suspend", [1, 1]],
  ["unsuspend", [1, 1]],
  ["close", [1, 1]],
  ["plan", [2, 2]],
  ["removals", [0, 0]],
  ["removal", [1, Number.POSITIVE_INFINITY]],
  ["shards", [0, 2]],
  ["stuck", [0, 0]],
  ["resend", [1, 1]],
  ["figures", [0, 0]],
  ["incidents", [0, 0]],
  ["incident", [3, 5]],
  ["export", [1, 1]],
  ["import", [1, 2]],
  ["restore-drill", [0, 0]],
]);

const shardStateByAction: Readonly<Record<string, string>> = { open: "open", close: "closed" };

const callAdminRoute = async (path: string, body?: object): Promise<void> => {
  const local = process.env.ADMIN_URL === undefined ? loadLocalSettings() : null;
  const base = (process.env.ADMIN_URL ?? `${local?.origin}/v1`).replace(/\/+$/, "");
  if (!/^https?:/.test(base) || !URL.canParse(base))
    throw new Error("ADMIN_URL must be the root of the API, such as https://api.example.com/v1.");
  const token = process.env.ADMIN_TOKEN ?? local?.vars.ADMIN_TOKEN ?? "";
  const response = await fetch(`${base}/admin/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(
      local === null
        ? `${base} does not respond: ${error instanceof Error ? String(error.cause ?? error.message) : error}`
        : `No service is running at ${local.origin}. Start it first: npm start. For a deployment, set ADMIN_URL and ADMIN_TOKEN.`,
    );
  });
  const reply = (await response.json().catch(() => {
    throw new Error(`${base} did not return JSON. Set ADMIN_URL to the root of the API, such as https://api.example.com/v1.`);
  })) as {
    readonly data?: unknown;
    readonly error?: { readonly code: string; readonly message: string };
  };
  if (!response.ok) throw new Error(`${response.status} ${reply.error?.code}: ${reply.error?.message}`);
  console.log(JSON.stringify(reply.data, null, 2));
};

/** Runs `incident open`, `incident update` or `incident end`. Returns false if the arguments do not form one of these commands. */
const runIncidentCommand = async ([action = "", ...words]: readonly string[]): Promise<boolean> => {
  if (action === "open" && words.length === 4) {
    const [impact = "", components = "", title = "", text = ""] = words;
    await callAdminRoute("incidents", { impact, components: components.split(","), title, text });
    return true;
  }
  const [incidentId = "", text = ""] = words;
  if ((action !== "update" && action !== "end") || words.length !== 2) return false;
  await callAdminRoute(`incidents/${encodeURIComponent(incidentId)}`, { text, ...(action === "end" && { ended: true }) });
  return true;
};

/** Runs `export` or `import`. Returns false if the arguments after the command are invalid. */
const runMoveCommand = async ([command = "", folder = "", option, ...others]: readonly string[]): Promise<boolean> => {
  const isDryRun = option === "--dry-run";
  if (folder === "" || folder.startsWith("-") || others.length > 0 || (option !== undefined && !(isDryRun && command === "import")))
    return false;
  const { runExportCommand, runImportCommand } = await import("./export/command.ts");
  if (command === "export") await runExportCommand(folder, console.log);
  else await runImportCommand(folder, isDryRun, console.log);
  return true;
};

/** Runs the restore drill with the current source code. */
const runDrill = async (): Promise<void> => {
  ensureDevVars();
  const settings = loadLocalSettings();
  reserveStateFolder(settings.stateDir);
  const [{ buildAssets }, { bundleWorker }, { runRestoreDrill }] = await Promise.all([
    import("./build.ts"),
    import("./local-runtime.ts"),
    import("./restore-drill.ts"),
  ]);
  await buildAssets();
  await bundleWorker();
  await runRestoreDrill({ settings, report: console.log });
};

/** Prints the usage and sets a failing exit code, so that a script that passed wrong arguments stops. */
const refuseArguments = (): void => {
  console.error(usage);
  process.exitCode = 2;
};

/** Parses arguments such as `spokeo=completed`. Returns null if one of them has a different form. */
const parseTargetStatuses = (args: readonly string[]): Readonly<Record<string, string>> | null => {
  const pairs = args.map((argument) => argument.split("="));
  return pairs.every(([target, targetStatus, ...rest]) => target && targetStatus && rest.length === 0) ? Object.fromEntries(pairs) : null;
};

const [command = "", id = "", plan = "", ...others] = process.argv.slice(2);
const argumentCount = process.argv.length - 3;
const [fewestArguments, mostArguments] = argumentCounts.get(command) ?? [0, 0];
const businessPath = `businesses/${encodeURIComponent(id)}`;
const status = statusByCommand[command];
const shardState = shardStateByAction[id];
try {
  // Extra arguments are refused, because `suspend <biz> <biz>` would otherwise suspend only the first business.
  if (argumentCounts.has(command) && (argumentCount < fewestArguments || argumentCount > mostArguments)) refuseArguments();
  else if (command === "token") {
    const token = randomBytes(32).toString("base64url");
    console.log(`ADMIN_TOKEN=${token}\nADMIN_TOKEN_SHA256=${sha256Hex(token)}`);
  } else if (command === "export" || command === "import") {
    if (!(await runMoveCommand(process.argv.slice(2)))) refuseArguments();
  } else if (command === "restore-drill") await runDrill();
  else if (command === "shards" && id === "add") {
    const shard = addShard("wrangler.toml", plan === "" ? undefined : plan);
    console.log(
      `Added shard ${shard} to wrangler.toml. Its database does not exist yet: npm run deploy creates it and uses its ID. If you deploy with wrangler instead, create the database with "npx wrangler d1 create svc-db-${shard}" and replace database_id first.`,
    );
  } else if (command === "shards" && shardState !== undefined && plan !== "")
    await callAdminRoute(`shards/${encodeURIComponent(plan)}`, { state: shardState });
  else if (command === "shards" && id === "") await callAdminRoute("shards");
  else if (command === "figures") await callAdminRoute("figures");
  else if (command === "incidents") await callAdminRoute("incidents");
  else if (command === "incident") {
    if (!(await runIncidentCommand(process.argv.slice(3)))) refuseArguments();
  } else if (command === "stuck") await callAdminRoute("stuck");
  else if (command === "resend" && id !== "") await callAdminRoute(`mail/${encodeURIComponent(id)}`, {});
  else if (command === "removals") await callAdminRoute("removals");
  else if (command === "removal" && id !== "" && plan === "") await callAdminRoute(`removals/${encodeURIComponent(id)}/open`, {});
  else if (command === "removal" && plan === "checked" && others.length === 0)
    await callAdminRoute(`removals/${encodeURIComponent(id)}/checked`, {});
  else if (command === "removal" && plan !== "") {
    const targets = parseTargetStatuses(process.argv.slice(4));
    if (targets === null) refuseArguments();
    else await callAdminRoute(`removals/${encodeURIComponent(id)}`, { targets });
  } else if (command === "show" && id !== "") await callAdminRoute(businessPath);
  else if (command === "plan" && plan !== "") await callAdminRoute(businessPath, { plan });
  else if (status !== undefined && id !== "") await callAdminRoute(businessPath, { status });
  else if (command === "" || command === "--help") console.log(usage);
  else refuseArguments();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
