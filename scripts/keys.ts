// `npm run keys`: generates the secrets for a production deployment and prints where to set them. Secrets go only to the terminal or, with
// --out, to a new file that only its owner can read. `npm run keys -- rotate` replaces a key of a deployment. docs/operate/keys.md
// describes both commands.
import { existsSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isTlogOrigin } from "../core/ledger/checkpoint.ts";
import { parseAuditOrigin } from "../core/ledger/log-names.ts";
import { runRotateCommand } from "./keys/rotate-command.ts";
import { embeddedSecrets, generateSecrets, ledgerSecrets, secretNames, serviceSecrets, type SecretName } from "./generate-secrets.ts";
import { parseOptions } from "./parse-options.ts";

if (process.argv[2] === "rotate") process.exit(await runRotateCommand(process.argv.slice(3)));

const usage = `Usage: npm run --silent keys -- --ledger-origin <host/path> --audit-origin <host/audit/00> [options]
       npm run keys -- rotate <kind>       Replace a key of a deployment; rotate --help explains it.

  --ledger-origin    Name of the ledger (LEDGER_ORIGIN): host and path without a scheme, such as api.example.com/ledger/2026h2.
  --audit-origin     Name of a shard's audit log, such as api.example.com/audit/00. Repeat it for further shards.
  --witness-name     Name of the ledger's witness. Default: the host of the ledger followed by /witness.
  --only NAME,...    Generate only these secrets, for a rotation.
  --json             Print the secrets as one JSON object for wrangler secret bulk on stdout; everything else goes to stderr.
  --out FILE         Write the secrets to this new file, readable by its owner only, instead of the terminal.
  --ledger-out FILE  Write the secrets of a ledger in another account to this new file.
  --help             Show this help.
`;

const exitWithUsage = (sentence: string): never => {
  process.stderr.write(`${sentence}\n\n${usage}`);
  process.exit(2);
};

const options = parseOptions(
  {
    "ledger-origin": { type: "string" },
    "audit-origin": { type: "string", multiple: true },
    "witness-name": { type: "string" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    out: { type: "string" },
    "ledger-out": { type: "string" },
    help: { type: "boolean", default: false },
  },
  usage,
);
if (options.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const isSecretName = (name: string): name is SecretName => (secretNames as readonly string[]).includes(name);
const ledgerOut = options["ledger-out"];
const usualSecrets: readonly SecretName[] = ledgerOut === undefined ? embeddedSecrets : [...new Set([...serviceSecrets, ...ledgerSecrets])];
const requestedNames = options.only?.split(",") ?? usualSecrets;
const requestedSecrets = requestedNames.filter(isSecretName);
const unknownNames = requestedNames.filter((name) => !isSecretName(name));
if (unknownNames.length > 0) exitWithUsage(`--only: unknown secret ${unknownNames.join(", ")}. Use ${secretNames.join(", ")}.`);

const ledgerOrigin = options["ledger-origin"] ?? "";
const auditOrigins = options["audit-origin"] ?? [];
const witnessName = options["witness-name"] ?? `${ledgerOrigin.split("/")[0]}/witness`;
const needsNames = requestedSecrets.includes("LOG_SEED");
if ((needsNames || requestedSecrets.includes("LEDGER_KEY")) && !isTlogOrigin(ledgerOrigin))
  exitWithUsage("--ledger-origin must be a host and a path without a scheme.");
if ((needsNames || requestedSecrets.includes("LEDGER_WITNESS_KEY")) && !isTlogOrigin(witnessName))
  exitWithUsage("--witness-name must be a host and a path without a scheme.");
const areAuditOriginsValid =
  auditOrigins.length > 0 &&
  new Set(auditOrigins).size === auditOrigins.length &&
  auditOrigins.every((origin) => parseAuditOrigin(`https://${origin.split("/")[0]}`, origin) !== null);
if ((needsNames || requestedSecrets.includes("AUDIT_KEY")) && !areAuditOriginsValid)
  exitWithUsage("--audit-origin must be the host of the API and /audit/<shard>. Each shard may occur only once.");

const outputPaths = [options.out, options["ledger-out"]].filter((path) => path !== undefined);
const existingPaths = outputPaths.filter((path) => existsSync(path));
if (existingPaths.length > 0)
  exitWithUsage(`${existingPaths.join(", ")} already exists and may contain the only copy of other keys. Choose another file name.`);

if (new Set(outputPaths.map((path) => resolve(path))).size < outputPaths.length)
  exitWithUsage("--out and --ledger-out must be different files.");
const missingFolders = outputPaths.map((path) => dirname(path)).filter((folder) => !existsSync(folder));
if (missingFolders.length > 0) exitWithUsage(`The folder ${missingFolders.join(", ")} does not exist.`);

const { secrets, publicParts } = await generateSecrets(
  requestedSecrets,
  { ledgerOrigin, auditOrigins, witnessName },
  new Date().toISOString(),
);

const toJson = (values: object): string => `${JSON.stringify(values, null, 2)}\n`;
const pickSecrets = (names: readonly SecretName[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (secrets[name] === undefined ? [] : [[name, secrets[name]]])));
const writeSecrets = (path: string, values: object): void => writeFileSync(path, toJson(values), { mode: 0o600, flag: "wx" });
const print = (text: string): void => {
  (options.json ? process.stderr : process.stdout).write(`${text}\n`);
};

const serviceValues = pickSecrets(ledgerOut === undefined ? secretNames : serviceSecrets);
if (ledgerOut !== undefined) writeSecrets(ledgerOut, pickSecrets(ledgerSecrets));
if (options.out !== undefined) writeSecrets(options.out, serviceValues);
else if (options.json) process.stdout.write(toJson(serviceValues));
else
  print(
    [
      "Secrets. They are shown only once and not stored anywhere.\n",
      ...Object.entries(serviceValues).map(([name, value]) => `${name}=${value}`),
    ].join("\n"),
  );
if (options.out !== undefined) print(`${options.out} contains ${Object.keys(serviceValues).join(", ")}.`);
if (ledgerOut !== undefined) print(`${ledgerOut} contains ${Object.keys(pickSecrets(ledgerSecrets)).join(", ")}.`);

print(`
Public keys, to publish and for others to pin:

${toJson(publicParts)}`);

const ledgerInstructions = ledgerOut === undefined ? "" : `\n     npx wrangler secret bulk ${ledgerOut}   (in the ledger's account)`;
const vars =
  ledgerOut === undefined
    ? "LEDGER_VKEYS stays empty because the ledger is embedded"
    : "also set LEDGER_VKEYS and LEDGER_URL. In the ledger's account, set AUDIT_VKEY as above";
if (options.only === undefined) {
  print(`Next:
  1. In wrangler.toml, [vars]: set LEDGER_ORIGIN = "${ledgerOrigin}"; ${vars}.
  2. Run: npx wrangler secret bulk ${options.out ?? "secrets.json"}   (the JSON that --json prints and --out writes)${ledgerInstructions}
  3. Store a copy where only people who may restore the service have access, then delete the file. docs/operate/keys.md explains what each
     secret protects, what to do when it leaks, and how to rotate it: npm run --silent keys -- --only NAME`);
} else print("To replace the current secrets, follow docs/operate/keys.md, Rotation.");
