// Creates a temporary in-memory folder for the databases of `npm test`. In a folder on disk, every commit would wait for the disk.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

const memoryFolder = "/dev/shm"; // this folder exists only on Linux
const prefix = "svc-tests-";
const neededBytes = 2 * 1_024 ** 3; // containers often provide only 64 MiB, which the browsers would fill
const maxFolderAgeMs = 60 * 60_000; // no run takes this long, so an older folder was left by a run that was killed

/** Returns true if files in the memory folder can be executed. Some tests install commands there and run them. */
const canExecute = (): boolean => {
  try {
    const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
    const options = mounts.map((line) => line.split(" ")).findLast(([, path]) => path === memoryFolder)?.[3];
    return options !== undefined && !options.split(",").includes("noexec");
  } catch {
    return false;
  }
};

const hasFreeSpace = (): boolean => {
  const { bavail, bsize } = statfsSync(memoryFolder);
  return bavail * bsize > neededBytes;
};

const removeOldFolders = (): void => {
  for (const name of readdirSync(memoryFolder).filter((found) => found.startsWith(prefix))) {
    const path = join(memoryFolder, name);
    const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (modifiedAt !== undefined && Date.now() - modifiedAt > maxFolderAgeMs) rmSync(path, { recursive: true, force: true });
  }
};

/** Runs `work` with a new folder in memory, and deletes the folder afterward. Passes null if this machine has no suitable folder. */
export const withMemoryFolder = async <T>(work: (folder: string | null) => Promise<T>): Promise<T> => {
  if (!(canExecute() && hasFreeSpace())) return work(null);
  removeOldFolders();
  const folder = mkdtempSync(join(memoryFolder, prefix));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
