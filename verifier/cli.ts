// svc-verify: checks an evidence pack on the command line, without network access. The file can also be imported as a module, which exports
// the same checks.
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process, { argv, stderr, stdout } from "node:process";
import { pathToFileURL } from "node:url";
import { fromHex } from "../core/bytes.ts";
import { parseIJson } from "../core/i-json.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import type { Report } from "./checks.ts";
import { trustOf, type Trust } from "./trust.ts";
import { asObject } from "./json.ts";
import { defaultVerificationOptions, verifyPack, type VerificationOptions } from "./verify-pack.ts";
import { verifyPublic } from "./verify-public.ts";
import { verifyWithdrawal } from "./verify-withdrawal.ts";

const usage = `Usage: svc-verify <evidence.zip | withdrawal.json> [options]

  Checks an evidence pack, or a withdrawal receipt as returned by the API.

  --trust <trust.json>        the keys you trust (download /.well-known/svc-trust.json from the issuer)
  --expect-fingerprint <hex>  the fingerprint you expect
  --require tsa,witness=<n>   require a timestamp, n witnesses, or both
  --json                      print the report as JSON
  --help                      print this text

Exit codes: 0 every check passed; 1 a check failed (the first one is named); 2 invalid usage or an unreadable file;
3 nothing is wrong, but required evidence is missing or no trust file was given.
`;

/** Makes the command print the message and exit with code 2. */
class UsageError extends Error {}

interface CliOptions {
  readonly pack: string;
  readonly trust: string | null;
  readonly expectedFingerprint: string | null;
  readonly requiresTimestamp: boolean;
  readonly witnessMin: number;
  readonly json: boolean;
}

/** Adds the requirements in `text` to those of earlier options. */
const addRequirements = (text: string, options: CliOptions): CliOptions => {
  let { requiresTimestamp, witnessMin } = options;
  for (const requirement of text.split(",")) {
    const [, count] = /^witness=([1-9][0-9]?)$/.exec(requirement) ?? [];
    if (requirement === "tsa") requiresTimestamp = true;
    else if (count !== undefined) witnessMin = Math.max(witnessMin, Number(count));
    else throw new UsageError(`--require takes tsa and witness=<n>, not "${requirement}"`);
  }
  return { ...options, requiresTimestamp, witnessMin };
};

const parseArguments = (args: readonly string[]): CliOptions | "help" => {
  const rest = [...args];
  let options: CliOptions = { pack: "", trust: null, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0, json: false };
  const takeValue = (option: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new UsageError(`${option} needs a value`);
    return value;
  };
  const takeOnlyValue = (option: string, earlier: string | null): string => {
    if (earlier !== null) throw new UsageError(`${option} is accepted only once`);
    return takeValue(option);
  };
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === "--help" || argument === "-h") return "help";
    if (argument === "--json") options = { ...options, json: true };
    else if (argument === "--trust") options = { ...options, trust: takeOnlyValue(argument, options.trust) };
    else if (argument === "--require") options = addRequirements(takeValue(argument), options);
    else if (argument === "--expect-fingerprint")
      options = { ...options, expectedFingerprint: takeOnlyValue(argument, options.expectedFingerprint).toLowerCase() };
    else if (argument.startsWith("-")) throw new UsageError(`unknown option ${argument}`);
    else if (options.pack !== "") throw new UsageError("only one pack at a time is accepted");
    else options = { ...options, pack: argument };
  }
  if (options.pack === "") throw new UsageError("the path of a pack is required");
  const { expectedFingerprint } = options;
  if (expectedFingerprint !== null && fromHex(expectedFingerprint)?.length !== 32) {
    throw new UsageError("--expect-fingerprint takes 64 hex digits");
  }
  return options;
};

const readBytes = async (path: string): Promise<Uint8Array> => {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};

const readTrust = async (path: string): Promise<Trust> => {
  const parsed = parseIJson(await readBytes(path));
  const trust = parsed.ok ? trustOf(parsed.value) : null;
  if (trust === null) throw new UsageError(`${path} is not a trust document`);
  return trust;
};

const outcomeLabels = { pass: "pass", fail: "FAIL", incomplete: "MISSING", skipped: "-" } as const;
const verdictMessages = {
  valid: "VALID: every check passed.",
  incomplete: "INCOMPLETE: nothing is wrong, but evidence is missing:",
  invalid: "INVALID: the first check that failed is",
} as const;

const formatReport = (report: Report): string => {
  const lines = report.checks.map(({ id, outcome, detail, asks }) => {
    const description = outcome === "pass" ? [asks, detail].filter((text) => text !== "").join(" ") : detail;
    return `${outcomeLabels[outcome].padEnd(8)}${id.padEnd(25)}${description}`;
  });
  const details = report.verdict === "invalid" ? ` ${report.failed}` : report.missing.map((text) => `\n  ${text}`).join("");
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, "", ...notes, `${report.cert_id ?? "no certificate"}  ${verdictMessages[report.verdict]}${details}`, ""].join("\n");
};

const exitCodes = { valid: 0, invalid: 1, incomplete: 3 } as const;
const usageErrorExitCode = 2;

/** Parses a withdrawal receipt. Returns null unless the file contains `receipt` and `canonical`. */
const parseReceiptFile = (bytes: Uint8Array): JsonObject | null => {
  const parsed = parseIJson(bytes);
  const file = parsed.ok ? asObject(parsed.value) : null;
  const data = asObject(file?.data) ?? file;
  return data !== null && "receipt" in data && "canonical" in data ? data : null;
};

const verifyFile = (bytes: Uint8Array, options: VerificationOptions): Promise<Report> => {
  const receipt = parseReceiptFile(bytes);
  return receipt === null ? verifyPack(bytes, options) : verifyWithdrawal(receipt, options);
};

/** Runs the command and returns its exit code. */
export const runCli = async (args: readonly string[]): Promise<number> => {
  try {
    const options = parseArguments(args);
    if (options === "help") {
      stdout.write(usage);
      return 0;
    }
    const trust = options.trust === null ? null : await readTrust(options.trust);
    const report = await verifyFile(await readBytes(options.pack), { ...defaultVerificationOptions, ...options, trust });
    stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    return exitCodes[report.verdict];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`svc-verify: ${error.message}\n\n${usage}`);
    return usageErrorExitCode;
  }
};

export { trustOf, verifyPack, verifyPublic, verifyWithdrawal };

/**
 * Returns true if this file was started as a command, not imported. Resolves symbolic links, because npm installs commands as symbolic
 * links.
 */
const isCommand = (): boolean => argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(argv[1])).href;

if (isCommand()) process.exitCode = await runCli(argv.slice(2));
