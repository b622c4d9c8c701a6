// Where `npm test` keeps the databases of its tests. They outlive nobody, and on a disk each of their commits waits for it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

const memory = "/dev/shm"; // Linux has it; no other system has such a folder
const prefix = "svc-tests-";
const neededBytes = 2 * 1_024 ** 3; // containers often have 64 MiB here, which the first browsers would fill
const keptMs = 60 * 60_000; // no run is longer: what is older was left by one that was killed

/** Whether files there may be run, as tests of installed commands do. False as well where there is no such folder. */
const runsPrograms = (): boolean => {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts.map((line) => line.split(" ")).findLast(([, path]) => path === memory)?.[3];
    return options !== undefined && !options.split(",").includes("noexec");
  } catch {
    return false;
  }
};

const hasRoom = (): boolean => {
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > neededBytes;
};

const removeOld = (): void => {
  for (const name of readdirSync(memory).filter((found) => found.startsWith(prefix))) {
    const path = join(memory, name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (madeAt !== undefined && Date.now() - madeAt > keptMs) rmSync(path, { recursive: true, force: true });
  }
};

/** Does the work with a folder in memory, gone afterwards; with null where this machine has none that is fit. */
export const withFolderInMemory = async <T>(work: (folder: string | null) => Promise<T>): Promise<T> => {
  if (!(runsPrograms() && hasRoom())) return work(null);
  removeOld();
  const folder = mkdtempSync(join(memory, prefix));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
