// Reads the CPU time and memory of the runtime's processes from /proc. Other load on the machine hardly changes these figures.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // Linux reports CPU time in these ticks (USER_HZ)

const readProcessStat = (pid: string): readonly string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" "); // skip the process name, which may contain spaces
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

/** Lists a process and all its descendants. */
const listTree = (root: string): readonly string[] => {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [{ pid, parent: readProcessStat(pid)[1] }];
      } catch {
        return []; // the process has ended
      }
    });
  const found = [root];
  for (const above of found) found.push(...parents.filter(({ parent }) => parent === above).map(({ pid }) => pid));
  return found;
};

/** Returns the CPU time in milliseconds of the processes and all their descendants, including those that have ended. */
export const getTreeCpuMs = (roots: readonly string[]): number =>
  roots.flatMap(listTree).reduce((total, pid) => {
    try {
      const fields = readProcessStat(pid);
      return total + (fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) * 1_000) / ticksPerSecond;
    } catch {
      return total; // the process has just ended, and its parent will report its time
    }
  }, 0);
