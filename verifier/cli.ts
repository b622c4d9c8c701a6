// svc-verify: checks an evidence pack on the command line, without any network. Also a module: programs import the same checks.
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process, { argv, stderr, stdout } from "node:process";
import { pathToFileURL } from "node:url";
import { bytesOfHex } from "../core/bytes.ts";
import { parseIJson } from "../core/i-json.ts";
import type { Report } from "./checks.ts";
import { trustOf, type Trust } from "./trust.ts";
import { objectOf, type JsonObject } from "./json.ts";
import { noDemands, verifyPack, type Demands } from "./verify-pack.ts";
import { verifyPublic } from "./verify-public.ts";
import { verifyWithdrawal } from "./verify-withdrawal.ts";

const usage = `Usage: svc-verify <evidence.zip | withdrawal.json> [options]

  Checks an evidence pack, or the receipt of a withdrawal as the service answered it.

  --trust <trust.json>        the keys you trust (the issuer's /.well-known/svc-trust.json, fetched by yourself)
  --expect-fingerprint <hex>  the fingerprint you were given
  --require tsa,witness=<n>   ask for a time stamp, for n witnesses, or both
  --json                      the report as JSON
  --help                      this text

Exit code: 0 every check passed; 1 a check failed (the first one is named); 2 wrong usage, or a file that cannot be read;
3 nothing is wrong, but something that was asked for is missing, or no trust was given.
`;

/** Ends the program with exit code 2. */
class Unusable extends Error {}

interface Asked {
  readonly pack: string;
  readonly trust: string | null;
  readonly expectedFingerprint: string | null;
  readonly requiresTimestamp: boolean;
  readonly witnessMin: number;
  readonly json: boolean;
}

const requirement = (text: string): Pick<Asked, "requiresTimestamp" | "witnessMin"> => {
  let requiresTimestamp = false;
  let witnessMin = 0;
  for (const one of text.split(",")) {
    const [, count] = /^witness=([1-9][0-9]?)$/.exec(one) ?? [];
    if (one === "tsa") requiresTimestamp = true;
    else if (count !== undefined) witnessMin = Number(count);
    else throw new Unusable(`--require takes tsa and witness=<n>, not "${one}"`);
  }
  return { requiresTimestamp, witnessMin };
};

const parseArguments = (given: readonly string[]): Asked | "help" => {
  const rest = [...given];
  let asked: Asked = { pack: "", trust: null, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0, json: false };
  const valueAfter = (option: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new Unusable(`${option} needs a value`);
    return value;
  };
  for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
    if (one === "--help" || one === "-h") return "help";
    if (one === "--json") asked = { ...asked, json: true };
    else if (one === "--trust") asked = { ...asked, trust: valueAfter(one) };
    else if (one === "--require") asked = { ...asked, ...requirement(valueAfter(one)) };
    else if (one === "--expect-fingerprint") asked = { ...asked, expectedFingerprint: valueAfter(one) };
    else if (one.startsWith("-")) throw new Unusable(`there is no option ${one}`);
    else if (asked.pack !== "") throw new Unusable("give one pack at a time");
    else asked = { ...asked, pack: one };
  }
  if (asked.pack === "") throw new Unusable("which pack?");
  const { expectedFingerprint } = asked;
  if (expectedFingerprint !== null && bytesOfHex(expectedFingerprint)?.length !== 32) {
    throw new Unusable("--expect-fingerprint takes 64 lower-case hex digits");
  }
  return asked;
};

const bytesAt = async (path: string): Promise<Uint8Array> => {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Unusable(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};

const trustAt = async (path: string): Promise<Trust> => {
  const parsed = parseIJson(await bytesAt(path));
  const trust = parsed.ok ? trustOf(parsed.value) : null;
  if (trust === null) throw new Unusable(`${path} is not a trust document`);
  return trust;
};

const words = { pass: "pass", fail: "FAIL", incomplete: "MISSING", skipped: "-" } as const;
const verdicts = {
  valid: "VALID: every check passed.",
  incomplete: "INCOMPLETE: nothing is wrong, but this is missing:",
  invalid: "INVALID: the first check that failed is",
} as const;

const printed = (report: Report): string => {
  const lines = report.checks.map(({ id, outcome, detail, asks }) => {
    const said = outcome === "pass" ? [asks, detail].filter((text) => text !== "").join(" ") : detail;
    return `${words[outcome].padEnd(8)}${id.padEnd(25)}${said}`;
  });
  const after = report.verdict === "invalid" ? ` ${report.failed}` : report.missing.map((text) => `\n  ${text}`).join("");
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, "", ...notes, `${report.cert_id ?? "no certificate"}  ${verdicts[report.verdict]}${after}`, ""].join("\n");
};

const exitCodes = { valid: 0, invalid: 1, incomplete: 3 } as const;
const unusableCode = 2;

/** The receipt of a withdrawal says what was signed beside what it says; anything else is judged as a pack. */
const receiptIn = (bytes: Uint8Array): JsonObject | null => {
  const parsed = parseIJson(bytes);
  const file = parsed.ok ? objectOf(parsed.value) : null;
  const said = objectOf(file?.data) ?? file;
  return said !== null && "receipt" in said && "canonical" in said ? said : null;
};

const verifyFile = (bytes: Uint8Array, demands: Demands): Promise<Report> => {
  const receipt = receiptIn(bytes);
  return receipt === null ? verifyPack(bytes, demands) : verifyWithdrawal(receipt, demands);
};

/** Runs the command and answers with its exit code. */
export const runCli = async (given: readonly string[]): Promise<number> => {
  try {
    const asked = parseArguments(given);
    if (asked === "help") {
      stdout.write(usage);
      return 0;
    }
    const trust = asked.trust === null ? null : await trustAt(asked.trust);
    const demands: Demands = { ...noDemands, ...asked, trust };
    const report = await verifyFile(await bytesAt(asked.pack), demands);
    stdout.write(asked.json ? `${JSON.stringify(report, null, 2)}\n` : printed(report));
    return exitCodes[report.verdict];
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    stderr.write(`svc-verify: ${error.message}\n\n${usage}`);
    return unusableCode;
  }
};

export { trustOf, verifyPack, verifyPublic, verifyWithdrawal };

/** As a command this file is often reached through a link of another name. */
const isCommand = (): boolean => argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(argv[1])).href;

if (isCommand()) process.exitCode = await runCli(argv.slice(2));
