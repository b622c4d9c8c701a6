// CPU time and memory of the runtime's processes, from /proc: what a request costs whatever else the machine is doing.
import { readdirSync, readFileSync } from "node:fs";

const ticksPerSecond = 100; // USER_HZ of Linux

const stat = (pid: string): readonly string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" "); // fields after the name, which may hold spaces
};

/** Process ids of every workerd started by this process, in order of start. */
export const runtimePids = (): readonly string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("workerd") && stat(pid)[1] === String(process.pid);
      } catch {
        return false; // it ended while we looked
      }
    })
    .sort((a, b) => Number(stat(a)[19]) - Number(stat(b)[19]));

/** Milliseconds of CPU, user and system. */
export const cpuMs = (pid: string): number => {
  const fields = stat(pid);
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
};

export const residentMiB = (pid: string): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
