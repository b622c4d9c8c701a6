// Formats the table of measured faults in docs/operate/reliability.md.
import { faults, type FaultMode } from "./faults.ts";
import type { FaultResult } from "./run-fault.ts";

const heading = [
  "| Fault | Dependency | What it does | Seed | Acknowledged | Lost | Duplicated | Slowest response | Recovered after | Proven after |",
  "|---|---|---|---|---|---|---|---|---|---|",
];

const modeTexts: Readonly<Record<FaultMode, string>> = {
  hang: "Hangs",
  fail: "Fails",
  late: "Responds late",
  lose_answer: "Loses responses",
  wrong_data: "Returns wrong data",
  set_back: "Is reset to an earlier state",
};

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Returns the fault's dependency and effect as shown in the table, for example "Database 00" and "Hangs". */
export const describeFault = ({ dependency, mode, isPromised }: FaultResult["fault"]): readonly [string, string] => [
  capitalize(dependency),
  `${modeTexts[mode]}${isPromised ? "" : " (no promise)"}`,
];

const formatSeconds = (ms: number | null): string => (ms === null ? "not within 90 s" : `${(ms / 1_000).toFixed(1)} s`);

export const formatRow = (result: FaultResult): string => {
  const { fault, seed, acknowledged, lost, duplicated } = result;
  const times = [result.slowestMs, result.recoveredAfterMs, result.provenAfterMs].map(formatSeconds);
  return `| ${[fault.id, ...describeFault(fault), seed, acknowledged, lost.length, duplicated.length, ...times].join(" | ")} |`;
};

const rowPattern = /^\| (F\d+) \| [^|]+ \| [^|]+ \| (\d+) \|/;

/** Returns a number that sorts rows by the order of the faults, then by seed. */
const rankRow = (row: string): number => {
  const [, id = "", seed = ""] = rowPattern.exec(row) ?? [];
  return faults.findIndex((fault) => fault.id === id) * 1_000_000 + Number(seed);
};

/** Returns the page with this row, which replaces an earlier row for the same fault and seed. Throws if the page has no table. */
export const insertRow = (page: string, row: string): string => {
  const lines = page.split("\n");
  const start = lines.indexOf(heading[0] as string);
  if (start === -1) throw new Error("reliability.md has no table of faults");
  const end = lines.findIndex((line, at) => at > start && !line.startsWith("|"));
  const others = lines.slice(start + heading.length, end).filter((line) => rankRow(line) !== rankRow(row));
  const rows = [...others, row].sort((a, b) => rankRow(a) - rankRow(b));
  return [...lines.slice(0, start), ...heading, ...rows, ...lines.slice(end)].join("\n");
};
