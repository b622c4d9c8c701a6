// Calculates the tables of docs/operate/scaling.md from the measured tables of docs/reference/benchmarks.md. `npm run bench -- --scaling`
// prints them. Run it after a measured figure changes.
import { issuingRatio } from "../../core/shards/placement.ts";

const shardBytes = 10e9 * issuingRatio; // D1's limit for one database, times the share of it that certificates may fill
const accountBytes = 1e12; // D1's limit for all databases of an account
const rates = [1, 79, 1_000, 10_000];
const secondsPerMonth = 30 * 86_400;

/** Costs per certificate. `objects` is per million certificates. */
interface Cost {
  readonly d1Rows: number;
  readonly d1Bytes: number;
  readonly cpuMs: number;
  /** Cost of the Durable Objects' rows, requests and duration, and of writes to R2, in USD for a million certificates. */
  readonly objects: number;
  readonly objectBytes: number;
  /** Bytes in R2. */
  readonly tileBytes: number;
}

const tileBytes = 350; // the size of an entry and its leaf hash, in the audit log and in the ledger

/** The costs of a prototype whose database rows are shorter than those of the service. */
const slim: Cost = { d1Rows: 7.05, d1Bytes: 1_200, cpuMs: 2.5, objects: 1.15, objectBytes: 600, tileBytes };

const readNumber = (text: string, pattern: RegExp): number => {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`benchmarks.md has no match for ${pattern}`);
  return Number(found.replaceAll(",", ""));
};

const readMeasured = (benchmarks: string): Cost => ({
  d1Rows: readNumber(benchmarks, /^\| certificate, 64 at a time \| ([\d.,]+) rows/m),
  d1Bytes: readNumber(benchmarks, /^\| certificate, 64 at a time \| [\d.,]+ rows \| ([\d,]+) B/m),
  cpuMs: readNumber(benchmarks, /^\| POST \/v1\/consent \| \d+ \| [\d.]+ ms \| [\d.]+ ms \| ([\d.]+) ms/m),
  objects: 7.22, // includes deleting the entry from the ledger (1.00) and four writes to R2 for 256 entries (0.07)
  objectBytes: 383, // an audit log entry, and the key of the statement in the ledger
  tileBytes,
});

const units = [
  ["years", 365 * 86_400],
  ["days", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

const formatDuration = (seconds: number): string => {
  const [unit, length] = units.find(([, size]) => seconds >= 2 * size) ?? (["s", 1] as const);
  return `${Number((seconds / length).toPrecision(2))} ${unit}`;
};

const formatRow = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const millions = (count: number): string => `${Number((count / 1e6).toPrecision(3)).toLocaleString("en")} M`;
const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;
const dollars = (amount: number): string => Number(amount.toPrecision(amount < 100 ? 2 : 3)).toLocaleString("en");

const buildWall = (name: string, capacity: number, { d1Bytes }: Cost): string =>
  formatRow([
    name,
    `${millions(capacity / d1Bytes)} of ${kilobytes(d1Bytes)}`,
    ...rates.map((rate) => formatDuration(capacity / d1Bytes / rate)),
  ]);

/** The cost in USD of issuing a million certificates, beyond what the plan includes. */
const issuing = ({ d1Rows, cpuMs, objects }: Cost): number => 0.3 + 0.02 * cpuMs + d1Rows + objects + 0.08;
/** The cost in USD per month of storing a million certificates. */
const storing = ({ d1Bytes, objectBytes, tileBytes: r2Bytes }: Cost): number =>
  (d1Bytes / 1_000) * 0.75 + (objectBytes / 1_000) * 0.2 + (r2Bytes / 1_000) * 0.015;

/** Returns the lines to paste into docs/operate/scaling.md. */
export const buildScalingTables = (benchmarks: string): readonly string[] => {
  const today = readMeasured(benchmarks);
  const costs = [today, slim];
  return [
    "Walls:",
    buildWall("Shard, 90% of 10 GB", shardBytes, today),
    buildWall("Shard with slim rows", shardBytes, slim),
    buildWall("D1 of the account, 1 TB", accountBytes, today),
    buildWall("D1 of the account with slim rows", accountBytes, slim),
    "Costs:",
    formatRow(["Requests and CPU", ...costs.map(({ cpuMs }) => `0.30 + ${(0.02 * cpuMs).toFixed(2)}`)]),
    formatRow(["D1 rows written", ...costs.map(({ d1Rows }) => d1Rows.toFixed(2))]),
    formatRow(["Durable Objects and R2", ...costs.map(({ objects }) => objects.toFixed(2))]),
    formatRow(["Queue operations", "0.08", "0.08"]),
    formatRow(["**Once**", ...costs.map((cost) => `**${issuing(cost).toFixed(1)}**`)]),
    formatRow(["D1 storage, per month", ...costs.map(({ d1Bytes }) => ((d1Bytes / 1_000) * 0.75).toFixed(2))]),
    formatRow(["Object storage, per month", ...costs.map(({ objectBytes }) => ((objectBytes / 1_000) * 0.2).toFixed(2))]),
    formatRow(["R2 storage, per month", ...costs.map(({ tileBytes: r2Bytes }) => ((r2Bytes / 1_000) * 0.015).toFixed(3))]),
    formatRow(["**Per month**", ...costs.map((cost) => `**${storing(cost).toFixed(2)}**`)]),
    formatRow(["**In five years**", ...costs.map((cost) => `**${Math.round(issuing(cost) + 60 * storing(cost))}**`)]),
    "A month of traffic:",
    ...rates.map((rate) => {
      const certificates = (rate * secondsPerMonth) / 1e6;
      const amounts = [...costs.map(issuing), ...costs.map(storing)].map((price) => dollars(price * certificates));
      return formatRow([`${rate.toLocaleString("en")}/s`, `${millions(certificates * 1e6)}`, ...amounts]);
    }),
  ];
};
