// Stores the state of `svc listen` between runs: the feed position and the signing secret. The file is in `.svc` in the current folder.
// Because the secret stays the same, a receiver needs to be configured only once.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../core/access/entitlement.ts";

const stateFolder = ".svc";

export interface ListenState {
  /** URL of the service to which the cursor belongs. */
  readonly api: string;
  readonly secret: string;
  /** The `seq` of the event after which the next run starts, or null if no position is saved. */
  readonly cursor: number | null;
}

const getStatePath = (environment: Environment): string => join(stateFolder, `listen-${environment}.json`);

/** Returns the saved state. Returns null if there is none or it is invalid. */
export const loadListenState = (environment: Environment): ListenState | null => {
  try {
    const { api, secret, cursor } = JSON.parse(readFileSync(getStatePath(environment), "utf8")) as Partial<ListenState>;
    const isCursor = cursor === null || (Number.isSafeInteger(cursor) && (cursor as number) >= 0);
    if (typeof api !== "string" || !/^whsec_\S+$/.test(secret ?? "") || !isCursor) return null;
    return { api, secret: secret as string, cursor: cursor ?? null };
  } catch {
    return null;
  }
};

/** Writes a new file and renames it, so that a crash never leaves a partly written file. */
export const saveListenState = (environment: Environment, state: ListenState): void => {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  writeFileSync(join(stateFolder, ".gitignore"), "*\n");
  const path = getStatePath(environment);
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(file, JSON.stringify(state));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
};
