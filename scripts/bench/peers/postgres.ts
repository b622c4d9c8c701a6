// Runs PostgreSQL for the programs that the benchmark compares svc with. It has its default durability: fsync and synchronous_commit are
// on.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface Postgres {
  readonly pid: number;
  /** Creates a database and returns its URL. */
  readonly createDatabase: (name: string) => string;
  /** Runs SQL and returns the rows, with columns separated by vertical bars. */
  readonly query: (database: string, sql: string) => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Returns the folder of the newest installed server programs. Debian does not put them on the PATH. */
const findPrograms = (): string => {
  const root = "/usr/lib/postgresql";
  try {
    return join(root, readdirSync(root).sort((a, b) => Number(b) - Number(a))[0] as string, "bin");
  } catch {
    throw new Error("peers: PostgreSQL is not installed. Install it, for example with: apt-get install postgresql");
  }
};

/** PostgreSQL refuses to run as root. If this process runs as root, returns the user that the PostgreSQL package creates. */
const findUser = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string): number => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

export const startPostgres = async (port: number): Promise<Postgres> => {
  const programs = findPrograms();
  const user = findUser();
  const folder = mkdtempSync(join(tmpdir(), "svc-peers-postgres-"));
  const [data, socket] = [join(folder, "data"), join(folder, "socket")];
  for (const path of [folder, data, socket]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }
  execFileSync(join(programs, "initdb"), ["-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"], {
    ...user,
    cwd: folder,
    stdio: "ignore",
  });
  const server: ChildProcess = spawn(
    join(programs, "postgres"),
    ["-D", data, "-p", String(port), "-k", socket, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"],
    { ...user, cwd: folder, stdio: "ignore" },
  );
  const connection = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres"];
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, [...connection, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  for (let attempt = 0; ; attempt += 1) {
    try {
      run("psql", "-At", "postgres", "-c", "select 1");
      break;
    } catch (error) {
      if (attempt === 100) throw error;
      await pause(100);
    }
  }
  return {
    pid: server.pid as number,
    createDatabase: (name) => {
      run("createdb", name);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    query: (database, sql) => run("psql", "-q", "-At", database, "-c", sql).split("\n"),
    stop: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT"); // PostgreSQL shuts down fast when it receives SIGINT
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
