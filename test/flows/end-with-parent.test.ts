// Tests that child processes do not outlive the process that started them.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";

const parentScript = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { endChildrenWithThisProcess } from "./scripts/end-with-parent.ts";
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  await once(child, "spawn");
  endChildrenWithThisProcess("sleep");
  console.log(child.pid);
  setInterval(() => {}, 60_000);
`;

/**
 * Returns whether the process is running. A process that has ended still accepts signals until its parent reads its exit status. During
 * that time, it is in state Z.
 */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(existsSync("/proc/self/stat") ? readFileSync(`/proc/${pid}/stat`, "utf8") : "");
  } catch {
    return false;
  }
};

const hasPgrep = spawnSync("pgrep", ["-V"]).error === undefined;

test("child processes end when their parent is killed, on machines with pgrep", async () => {
  if (!hasPgrep) return;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", parentScript], { stdio: ["ignore", "pipe", "inherit"] });
  const [pid] = (await once(parent.stdout.setEncoding("utf8"), "data")) as [string];
  expect(isRunning(Number(pid))).toBe(true);
  parent.kill("SIGKILL");
  await vi.waitFor(() => expect(isRunning(Number(pid))).toBe(false), { timeout: 50_000, interval: 50 });
});
