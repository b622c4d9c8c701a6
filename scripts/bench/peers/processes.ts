// Starts the programs that svc is compared with and the services that crash tests kill, and finds free ports for them.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";

export const findFreePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

export interface Program {
  readonly pid: string;
  /** The line that the program printed when it was ready. */
  readonly ready: string;
  /** Sends SIGKILL to the program and all processes that it started, as if the machine had crashed. */
  readonly kill: () => Promise<void>;
}

const maxPrinted = 2_000; // the number of characters of its output that the error message for a failed program contains

const running = new Set<ChildProcess>();
const killTree = (child: ChildProcess): void => {
  if (!running.delete(child)) return;
  process.kill(-(child.pid as number), "SIGKILL"); // `detached` gave each program its own process group
};
process.once("exit", () => running.forEach(killTree)); // ends programs that are still running when a benchmark fails

/** Starts a Node program in the folder and waits until it prints a line that matches `ready`. Rejects if the program ends first. */
export const startProgram = async (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  ready = /^READY/,
): Promise<Program> => {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child);
  const ended = once(child, "exit");
  let printed = "";
  const readyLine = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream as NodeJS.ReadableStream }).on("line", (line) => {
        printed = `${printed}${line}\n`.slice(-maxPrinted);
        if (ready.test(line)) resolve(line);
      });
    void ended.then(() => {
      if (!running.delete(child)) return; // `kill` ended the program on purpose
      console.error(`peers: ${args.join(" ")} ended: ${printed}`);
      reject(new Error("peers: a program ended"));
    });
  });
  return {
    pid: String(child.pid),
    ready: readyLine,
    kill: async () => {
      killTree(child);
      await ended;
    },
  };
};
