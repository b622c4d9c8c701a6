// Ends child processes when this process ends, even if it is killed and cannot clean up. Otherwise, the runtime would keep running and
// occupy the port that the next start needs.
import { spawn, spawnSync } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Ends the current child processes with this name when this process ends, even if it is killed. Does nothing if the machine has no `pgrep`.
 */
export const endChildrenWithThisProcess = (name: string): void => {
  const { stdout } = spawnSync("pgrep", ["-P", String(process.pid), "-x", name], { encoding: "utf8" });
  const pids = (stdout ?? "").split("\n").filter((pid) => pid !== "");
  if (pids.length === 0) return;
  // `cat` reads until the other end of its pipe is closed, which happens when this process ends for any reason.
  const guard = spawn("sh", ["-c", 'cat > /dev/null; kill -9 "$@" 2> /dev/null', "sh", ...pids], {
    detached: true, // so that a signal to this process's group does not end the guard
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  (guard.stdin as Socket).unref();
};
