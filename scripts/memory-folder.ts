// Where `npm test` keeps the databases of its tests. They outlive nobody, and on a disk each of their commits waits for it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

const memoryFolder = "/dev/shm"; // Linux has it; no other system has such a folder
const prefix = "svc-tests-";
const neededBytes = 2 * 1_024 ** 3; // containers often have 64 MiB here, which the first browsers would fill
const maxFolderAgeMs = 60 * 60_000; // no run is longer: what is older was left by one that was killed

/** Whether files there may be run, as tests of installed commands do. False as well where there is no such folder. */
const canExecute = (): boolean => {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts.map((line) => line.split(" ")).findLast(([, path]) => path === memoryFolder)?.[3];
    return options !== undefined && !options.split(",").includes("noexec");
  } catch {
    return false;
  }
};

const hasRoom = (): boolean => {
  const { bavail, bsize } = statfsSync(memoryFolder);
  return bavail * bsize > neededBytes;
};

const removeOldFolders = (): void => {
  for (const name of readdirSync(memoryFolder).filter((found) => found.startsWith(prefix))) {
    const path = join(memoryFolder, name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (madeAt !== undefined && Date.now() - madeAt > maxFolderAgeMs) rmSync(path, { recursive: true, force: true });
  }
};

/** Does the work with a folder in memory, gone afterwards; with null where this machine has none that is fit. */
export const withMemoryFolder = async <T>(work: (folder: string | null) => Promise<T>): Promise<T> => {
  if (!(canExecute() && hasRoom())) return work(null);
  removeOldFolders();
  const folder = mkdtempSync(join(memoryFolder, prefix));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
