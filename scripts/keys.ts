// `npm run keys`: generates the secrets of a production deployment and says where they belong. They go to the terminal, or with
// --out to a new file that only its owner can read, and nowhere else. What each protects is in docs/keys.md.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isOrigin } from "../core/ledger/checkpoint.ts";
import { freshSecrets, ledgerSecrets, secretNames, serviceSecrets, type SecretName } from "./fresh-secrets.ts";

const usage = `Usage: npm run --silent keys -- --ledger-origin <host/path> --audit-origin <host/audit/0> [options]

  --ledger-origin    LEDGER_ORIGIN, name of the ledger: host and path, no scheme    api.example.com/ledger/2026h2
  --audit-origin     name of the audit log; repeat it for further shards            api.example.com/audit/0
  --witness-name     name of the witness in the ledger; the ledger's host and /witness unless given
  --only NAME,...    these secrets only, for a rotation
  --json             one JSON object of the secrets on stdout, for wrangler secret bulk; everything else on stderr
  --out FILE         the secrets into this new file instead of the terminal, readable by its owner only
  --ledger-out FILE  the ledger's secrets into a file of their own, for a ledger in another account
`;

const stop = (sentence: string): never => {
  process.stderr.write(`${sentence}\n\n${usage}`);
  process.exit(2);
};

const argumentsGiven = () => {
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
    return stop((error as Error).message);
  }
};

const given = argumentsGiven();
if (given.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const isSecretName = (name: string): name is SecretName => (secretNames as readonly string[]).includes(name);
const asked = given.only?.split(",") ?? secretNames;
const wanted = asked.filter(isSecretName);
const unknown = asked.filter((name) => !isSecretName(name));
if (unknown.length > 0) stop(`--only: ${unknown.join(", ")}: not one of ${secretNames.join(", ")}.`);

const ledgerOrigin = given["ledger-origin"] ?? "";
const auditOrigins = given["audit-origin"] ?? [];
const witnessName = given["witness-name"] ?? `${ledgerOrigin.split("/")[0]}/witness`;
if (wanted.includes("LEDGER_KEY") && !isOrigin(ledgerOrigin)) stop("--ledger-origin: a host and a path, without a scheme.");
if (wanted.includes("LEDGER_WITNESS_KEY") && !isOrigin(witnessName)) stop("--witness-name: a host and a path, without a scheme.");
const shards = auditOrigins.map((origin) => (isOrigin(origin) ? /\/audit\/(\d{1,4})$/.exec(origin)?.[1] : undefined));
const areShards = shards.length > 0 && !shards.includes(undefined) && new Set(shards).size === shards.length;
if (wanted.includes("AUDIT_KEY") && !areShards) stop("--audit-origin: a host, a path and /audit/<shard>, no shard twice.");

const outs = [given.out, given["ledger-out"]].filter((path) => path !== undefined);
const taken = outs.filter((path) => existsSync(path));
if (taken.length > 0) stop(`${taken.join(", ")}: there already. It may hold the only copy of other keys.`);

const { secrets, publicParts } = await freshSecrets(wanted, { ledgerOrigin, auditOrigins, witnessName }, new Date().toISOString());

const jsonOf = (values: object): string => `${JSON.stringify(values, null, 2)}\n`;
const those = (names: readonly SecretName[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (secrets[name] === undefined ? [] : [[name, secrets[name]]])));
const keep = (path: string, values: object): void => writeFileSync(path, jsonOf(values), { mode: 0o600, flag: "wx" });
const say = (text: string): void => {
  (given.json ? process.stderr : process.stdout).write(`${text}\n`);
};

const ledgerOut = given["ledger-out"];
const service = those(ledgerOut === undefined ? secretNames : serviceSecrets);
if (ledgerOut !== undefined) keep(ledgerOut, those(ledgerSecrets));
if (given.out !== undefined) keep(given.out, service);
else if (given.json) process.stdout.write(jsonOf(service));
else
  say(
    ["Secrets. They are shown once and kept nowhere.\n", ...Object.entries(service).map(([name, value]) => `${name}=${value}`)].join("\n"),
  );
if (given.out !== undefined) say(`${given.out} holds ${Object.keys(service).join(", ")}.`);
if (ledgerOut !== undefined) say(`${ledgerOut} holds ${Object.keys(those(ledgerSecrets)).join(", ")}.`);

say(`
Public parts: to publish, and for others to pin.

${jsonOf(publicParts)}`);

const elsewhere = ledgerOut === undefined ? "" : `\n     npx wrangler secret bulk ${ledgerOut}   (in the ledger's account)`;
const vars = ledgerOut === undefined ? "LEDGER_VKEYS stays empty: the ledger is embedded" : "LEDGER_VKEYS and LEDGER_URL too";
if (given.only === undefined) {
  say(`Next:
  1. [vars] in wrangler.toml: LEDGER_ORIGIN = "${ledgerOrigin}" and AUDIT_VKEY as above; ${vars}.
  2. npx wrangler secret bulk ${given.out ?? "secrets.json"}   (the JSON that --json prints and --out writes)${elsewhere}
  3. Keep a copy where only those get who may restore the service, then delete the file. docs/keys.md says what each protects,
     what to do when it leaks, and how to change it later: npm run --silent keys -- --only NAME`);
} else say("How each takes the place of the one before it: docs/keys.md, Rotation.");
