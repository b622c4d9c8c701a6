// svc-verify: checks an evidence pack on the command line, without any network. Also a module: programs import the same checks.
import { realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process, { argv, stderr, stdout } from "node:process";
import { pathToFileURL } from "node:url";
import { fromHex } from "../core/bytes.ts";
import { parseIJson } from "../core/i-json.ts";
import type { Report } from "./checks.ts";
import { trustOf, type Trust } from "./trust.ts";
import { asObject, type JsonObject } from "./json.ts";
import { defaultVerificationOptions, verifyPack, type VerificationOptions } from "./verify-pack.ts";
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
class UsageError extends Error {}

interface CliOptions {
  readonly pack: string;
  readonly trust: string | null;
  readonly expectedFingerprint: string | null;
  readonly requiresTimestamp: boolean;
  readonly witnessMin: number;
  readonly json: boolean;
}

const parseRequirement = (text: string): Pick<CliOptions, "requiresTimestamp" | "witnessMin"> => {
  let requiresTimestamp = false;
  let witnessMin = 0;
  for (const one of text.split(",")) {
    const [, count] = /^witness=([1-9][0-9]?)$/.exec(one) ?? [];
    if (one === "tsa") requiresTimestamp = true;
    else if (count !== undefined) witnessMin = Number(count);
    else throw new UsageError(`--require takes tsa and witness=<n>, not "${one}"`);
  }
  return { requiresTimestamp, witnessMin };
};

const parseArguments = (given: readonly string[]): CliOptions | "help" => {
  const rest = [...given];
  let asked: CliOptions = { pack: "", trust: null, expectedFingerprint: null, requiresTimestamp: false, witnessMin: 0, json: false };
  const valueAfter = (option: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new UsageError(`${option} needs a value`);
    return value;
  };
  for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
    if (one === "--help" || one === "-h") return "help";
    if (one === "--json") asked = { ...asked, json: true };
    else if (one === "--trust") asked = { ...asked, trust: valueAfter(one) };
    else if (one === "--require") asked = { ...asked, ...parseRequirement(valueAfter(one)) };
    else if (one === "--expect-fingerprint") asked = { ...asked, expectedFingerprint: valueAfter(one) };
    else if (one.startsWith("-")) throw new UsageError(`there is no option ${one}`);
    else if (asked.pack !== "") throw new UsageError("give one pack at a time");
    else asked = { ...asked, pack: one };
  }
  if (asked.pack === "") throw new UsageError("which pack?");
  const { expectedFingerprint } = asked;
  if (expectedFingerprint !== null && fromHex(expectedFingerprint)?.length !== 32) {
    throw new UsageError("--expect-fingerprint takes 64 lower-case hex digits");
  }
  return asked;
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
  incomplete: "INCOMPLETE: nothing is wrong, but this is missing:",
  invalid: "INVALID: the first check that failed is",
} as const;

const formatReport = (report: Report): string => {
  const lines = report.checks.map(({ id, outcome, detail, asks }) => {
    const said = outcome === "pass" ? [asks, detail].filter((text) => text !== "").join(" ") : detail;
    return `${outcomeLabels[outcome].padEnd(8)}${id.padEnd(25)}${said}`;
  });
  const after = report.verdict === "invalid" ? ` ${report.failed}` : report.missing.map((text) => `\n  ${text}`).join("");
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, "", ...notes, `${report.cert_id ?? "no certificate"}  ${verdictMessages[report.verdict]}${after}`, ""].join("\n");
};

const exitCodes = { valid: 0, invalid: 1, incomplete: 3 } as const;
const usageErrorExitCode = 2;

/** The receipt of a withdrawal says what was signed beside what it says; anything else is judged as a pack. */
const parseReceiptFile = (bytes: Uint8Array): JsonObject | null => {
  const parsed = parseIJson(bytes);
  const file = parsed.ok ? asObject(parsed.value) : null;
  const said = asObject(file?.data) ?? file;
  return said !== null && "receipt" in said && "canonical" in said ? said : null;
};

const verifyFile = (bytes: Uint8Array, demands: VerificationOptions): Promise<Report> => {
  const receipt = parseReceiptFile(bytes);
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
    const trust = asked.trust === null ? null : await readTrust(asked.trust);
    const demands: VerificationOptions = { ...defaultVerificationOptions, ...asked, trust };
    const report = await verifyFile(await readBytes(asked.pack), demands);
    stdout.write(asked.json ? `${JSON.stringify(report, null, 2)}\n` : formatReport(report));
    return exitCodes[report.verdict];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    stderr.write(`svc-verify: ${error.message}\n\n${usage}`);
    return usageErrorExitCode;
  }
};

export { trustOf, verifyPack, verifyPublic, verifyWithdrawal };

/** As a command this file is often reached through a link of another name. */
const isCommand = (): boolean => argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(argv[1])).href;

if (isCommand()) process.exitCode = await runCli(argv.slice(2));
