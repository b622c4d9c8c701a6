// Reads the CPU time and memory of the runtime's processes from /proc. Other load on the machine hardly changes these figures.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ on Linux

const readProcessStat = (pid: string): readonly string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" "); // the fields after the name, because the name may contain spaces
};

/** Lists the process IDs of the workerd processes that this process started, in start order. */
export const listRuntimePids = (): readonly string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd") && readProcessStat(pid)[1] === String(process.pid);
      } catch {
        return false; // the process has ended
      }
    })
    .sort((a, b) => Number(readProcessStat(a)[19]) - Number(readProcessStat(b)[19]));

/** Returns the user and system CPU time in milliseconds. */
export const getCpuMs = (pid: string): number => {
  const fields = readProcessStat(pid);
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
};

export const getResidentMiB = (pid: string): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
