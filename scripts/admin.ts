// `npm run admin`: operator commands. Most of them call the service's admin routes, so the service checks and audits them like any other
// request.
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../core/hash.ts";
import { addShard } from "./add-shard.ts";
import { ensureDevVars, loadLocalSettings } from "./settings.ts";
import { reserveStateFolder } from "./state-lock.ts";

/** Calls the admin route with these path segments, and prints the response. */
const callAdminRoute = async (segments: readonly string[], body?: object): Promise<void> => {
  const local = process.env.ADMIN_URL === undefined ? loadLocalSettings() : null;
  const base = (process.env.ADMIN_URL ?? `${local?.origin}/v1`).replace(/\/+$/, "");
  if (!/^https?:/.test(base) || !URL.canParse(base))
    throw new Error("ADMIN_URL must be the root of the API, such as https://api.example.com/v1.");
  const token = process.env.ADMIN_TOKEN ?? local?.vars.ADMIN_TOKEN ?? "";
  const response = await fetch(`${base}/admin/${segments.map(encodeURIComponent).join("/")}`, {
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

const changeBusiness = (change: object) => (id: string) => callAdminRoute(["businesses", id], change);

const changeShard = (change: object) => (shard: string) => callAdminRoute(["shards", shard], change);

const printToken = (): void => {
  const token = randomBytes(32).toString("base64url");
  console.log(`ADMIN_TOKEN=${token}\nADMIN_TOKEN_SHA256=${sha256Hex(token)}`);
};

const addShardToConfiguration = (requested?: string): void => {
  const shard = addShard("wrangler.toml", requested);
  console.log(
    `Added shard ${shard} to wrangler.toml. Its database does not exist yet: npm run deploy creates it and uses its ID. If you deploy with wrangler instead, create the database with "npx wrangler d1 create svc-db-${shard}" and replace database_id first.`,
  );
};

/**
 * The syntax of a command, its help text, and the function to call with its arguments. In the syntax, `<…>` is any text, `[…]` is
 * optional, and `...` at the end repeats the last argument.
 */
type Command = readonly [form: string, help: string, run: (...args: string[]) => Promise<void> | void];

const commands: readonly Command[] = [
  ["token", "Generate an operator token. Put ADMIN_TOKEN into the secrets file, and deploy.", printToken],
  ["show <biz_...>", "Show the status and plan of a business.", (id) => callAdminRoute(["businesses", id])],
  ["approve <biz_...>", "Activate a pending business.", changeBusiness({ status: "active" })],
  ["suspend <biz_...>", "Suspend a business. Payments do not lift the suspension.", changeBusiness({ status: "suspended" })],
  ["unsuspend <biz_...>", "Activate a suspended business.", changeBusiness({ status: "active" })],
  ["close <biz_...>", "Close a business and end its subscription.", changeBusiness({ status: "closed" })],
  ["plan <biz_...> <plan>", "Set the plan: free, business or enterprise.", (id, plan) => callAdminRoute(["businesses", id], { plan })],
  ["removals", "List removal requests that are unfinished or due to be checked again.", () => callAdminRoute(["removals"])],
  [
    "removal <rmv_...>",
    "Show a removal request with the person's data. The person's history shows that it was opened.",
    (id) => callAdminRoute(["removals", id, "open"], {}),
  ],
  [
    "removal <rmv_...> checked",
    "Record that you checked the brokers of a completed removal again.",
    (id) => callAdminRoute(["removals", id, "checked"], {}),
  ],
  [
    "removal <rmv_...> <target>=<status>...",
    "Set the status of removal targets: requested, in_progress, completed or rejected.",
    (id, ...targets) => callAdminRoute(["removals", id], { targets: Object.fromEntries(targets.map((target) => target.split("="))) }),
  ],
  ["shards", "List the shards: state, size, and which one gets new accounts.", () => callAdminRoute(["shards"])],
  ["shards add [<shard>]", "Add a shard to wrangler.toml. Run npm run deploy afterward.", addShardToConfiguration],
  ["shards close <shard>", "Stop creating accounts and certificates in a shard.", changeShard({ state: "closed" })],
  ["shards open <shard>", "Create accounts and certificates in a shard again.", changeShard({ state: "open" })],
  ["stuck", "List work that is overdue, and emails that were not delivered.", () => callAdminRoute(["stuck"])],
  ["resend <mail_id>", "Resend an email that was not delivered.", (id) => callAdminRoute(["mail", id], {})],
  ["figures", "Show the figures that can trigger alerts, with their thresholds.", () => callAdminRoute(["figures"])],
  ["incidents", "List the incidents on the public status page.", () => callAdminRoute(["incidents"])],
  [
    "incident open <maintenance|degraded|outage> <component,...> <title> <text>",
    "Publish an incident. Components: forms, certificates, sharing, portal, webhooks, email.",
    (impact, components, title, text) => callAdminRoute(["incidents"], { impact, components: components.split(","), title, text }),
  ],
  ["incident update <id> <text>", "Add an update to an incident.", (id, text) => callAdminRoute(["incidents", id], { text })],
  [
    "incident end <id> <text>",
    "Add the last update to an incident and end it.",
    (id, text) => callAdminRoute(["incidents", id], { text, ended: true }),
  ],
  [
    "export <folder>",
    "Write everything that the local service has stored to an encrypted folder. Stop npm start first.",
    async (folder) => (await import("./export/command.ts")).runExportCommand(folder, console.log),
  ],
  [
    "import <folder> [--dry-run]",
    "Read an export into the local service, which must have no data yet.",
    async (folder, option?: string) => (await import("./export/command.ts")).runImportCommand(folder, option !== undefined, console.log),
  ],
  ["restore-drill", "Use a copy of the local data to show what a restore recovers. Stop npm start first.", runDrill],
];

const describeCommand = ([form, help]: Command): string => `  ${form.length < 26 ? form.padEnd(26) : `${form}\n${" ".repeat(28)}`}${help}`;

const usage = `Usage: npm run admin -- <command>

${commands.map(describeCommand).join("\n")}

Environment:
  ADMIN_URL                 Root of the API, such as https://api.example.com/v1. Default: the local service.
  ADMIN_TOKEN               The operator token. Default: the local token in .dev.vars.
  EXPORT_PASSPHRASE         Encrypts an export. At least 20 characters.`;

/** A text cannot start with `--`, so that `export --dry-run` does not create a folder named `--dry-run`. */
const fitsWord = (word: string | undefined, argument: string): boolean => {
  if (word === undefined) return false;
  if (word.startsWith("<target>=")) return /^[^=]+=[^=]+$/.test(argument);
  return word.includes("<") ? argument !== "" && !argument.startsWith("--") : argument === word.replace(/^\[(.*)\]$/, "$1");
};

/** Extra arguments do not fit, because `suspend <biz> <biz>` would otherwise suspend only the first business. */
const fitsForm = (form: string, args: readonly string[]): boolean => {
  const words = form.split(" ");
  const requiredCount = words.filter((word) => !word.startsWith("[")).length;
  const repeated = form.endsWith("...") ? words.at(-1) : undefined;
  return args.length >= requiredCount && args.every((argument, at) => fitsWord(words[at] ?? repeated, argument));
};

const args = process.argv.slice(2);
const [form = "", , run] = commands.find(([candidate]) => fitsForm(candidate, args)) ?? [];
try {
  if (run !== undefined) {
    const words = form.split(" ");
    await run(...args.filter((argument, at) => argument !== words[at]));
  } else if (args[0] === undefined || args[0] === "--help") console.log(usage);
  else {
    console.error(usage);
    process.exitCode = 2; // so that a script that passes wrong arguments stops
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
