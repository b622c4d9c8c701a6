// `npm run keys`: generates the secrets of a production deployment and says where they belong. They go to the terminal, or with
// --out to a new file that only its owner can read, and nowhere else. What each protects is in docs/operate/keys.md.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isTlogOrigin } from "../core/ledger/checkpoint.ts";
import { generateSecrets, ledgerSecrets, secretNames, serviceSecrets, type SecretName } from "./generate-secrets.ts";

const usage = `Usage: npm run --silent keys -- --ledger-origin <host/path> --audit-origin <host/audit/0> [options]

  --ledger-origin    LEDGER_ORIGIN, name of the ledger: host and path, no scheme    api.example.com/ledger/2026h2
  --audit-origin     name of the audit log; repeat it for further shards            api.example.com/audit/0
  --witness-name     name of the witness in the ledger; the ledger's host and /witness unless given
  --only NAME,...    these secrets only, for a rotation
  --json             one JSON object of the secrets on stdout, for wrangler secret bulk; everything else on stderr
  --out FILE         the secrets into this new file instead of the terminal, readable by its owner only
  --ledger-out FILE  the ledger's secrets into a file of their own, for a ledger in another account
`;

const exitWithUsage = (sentence: string): never => {
  process.stderr.write(`${sentence}\n\n${usage}`);
  process.exit(2);
};

const parseArguments = () => {
  try {
    return parseArgs({
      options: {
        "ledger-origin": { type: "string" },
        "audit-origin": { type: "string", multiple: true },
        "witness-name": { type: "string" },
        only: { type: "string" },
        json: { type: "boolean", default: false },
        out: { type: "string" },
        "ledger-out": { type: "string" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
};

const options = parseArguments();
if (options.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const isSecretName = (name: string): name is SecretName => (secretNames as readonly string[]).includes(name);
const requestedNames = options.only?.split(",") ?? secretNames;
const requestedSecrets = requestedNames.filter(isSecretName);
const unknownNames = requestedNames.filter((name) => !isSecretName(name));
if (unknownNames.length > 0) exitWithUsage(`--only: ${unknownNames.join(", ")}: not one of ${secretNames.join(", ")}.`);

const ledgerOrigin = options["ledger-origin"] ?? "";
const auditOrigins = options["audit-origin"] ?? [];
const witnessName = options["witness-name"] ?? `${ledgerOrigin.split("/")[0]}/witness`;
if (requestedSecrets.includes("LEDGER_KEY") && !isTlogOrigin(ledgerOrigin))
  exitWithUsage("--ledger-origin: a host and a path, without a scheme.");
if (requestedSecrets.includes("LEDGER_WITNESS_KEY") && !isTlogOrigin(witnessName))
  exitWithUsage("--witness-name: a host and a path, without a scheme.");
const logNumbers = auditOrigins.map((origin) => (isTlogOrigin(origin) ? /\/audit\/(\d{1,4})$/.exec(origin)?.[1] : undefined));
const areLogNumbersValid = logNumbers.length > 0 && !logNumbers.includes(undefined) && new Set(logNumbers).size === logNumbers.length;
if (requestedSecrets.includes("AUDIT_KEY") && !areLogNumbersValid)
  exitWithUsage("--audit-origin: a host, a path and /audit/<shard>, no shard twice.");

const outputPaths = [options.out, options["ledger-out"]].filter((path) => path !== undefined);
const existingPaths = outputPaths.filter((path) => existsSync(path));
if (existingPaths.length > 0) exitWithUsage(`${existingPaths.join(", ")}: there already. It may hold the only copy of other keys.`);

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

const ledgerOut = options["ledger-out"];
const serviceValues = pickSecrets(ledgerOut === undefined ? secretNames : serviceSecrets);
if (ledgerOut !== undefined) writeSecrets(ledgerOut, pickSecrets(ledgerSecrets));
if (options.out !== undefined) writeSecrets(options.out, serviceValues);
else if (options.json) process.stdout.write(toJson(serviceValues));
else
  print(
    ["Secrets. They are shown once and kept nowhere.\n", ...Object.entries(serviceValues).map(([name, value]) => `${name}=${value}`)].join(
      "\n",
    ),
  );
if (options.out !== undefined) print(`${options.out} holds ${Object.keys(serviceValues).join(", ")}.`);
if (ledgerOut !== undefined) print(`${ledgerOut} holds ${Object.keys(pickSecrets(ledgerSecrets)).join(", ")}.`);

print(`
Public parts: to publish, and for others to pin.

${toJson(publicParts)}`);

const ledgerInstructions = ledgerOut === undefined ? "" : `\n     npx wrangler secret bulk ${ledgerOut}   (in the ledger's account)`;
const vars = ledgerOut === undefined ? "LEDGER_VKEYS stays empty: the ledger is embedded" : "LEDGER_VKEYS and LEDGER_URL too";
if (options.only === undefined) {
  print(`Next:
  1. [vars] in wrangler.toml: LEDGER_ORIGIN = "${ledgerOrigin}" and AUDIT_VKEY as above; ${vars}.
  2. npx wrangler secret bulk ${options.out ?? "secrets.json"}   (the JSON that --json prints and --out writes)${ledgerInstructions}
  3. Keep a copy where only those get who may restore the service, then delete the file. docs/operate/keys.md says what each protects,
     what to do when it leaks, and how to change it later: npm run --silent keys -- --only NAME`);
} else print("How each takes the place of the one before it: docs/operate/keys.md, Rotation.");
