// Stores the state of `svc listen` between runs: the signing secret and the position in each feed. The file is in `.svc` in the current
// folder. The secret stays the same, so a receiver needs to be configured only once.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../core/access/entitlement.ts";
import { sha256Hex } from "../core/hash.ts";

const stateFolder = ".svc";

interface ListenState {
  readonly secret: string;
  /** For each feed, identified by `buildFeedId`, the `seq` of the event after which the next run starts. */
  readonly positions: Readonly<Record<string, number>>;
  /** The position that an earlier version of the command saved. That version did not save which API key the position belongs to. */
  readonly earlier?: { readonly api: string; readonly position: number };
}

/**
 * Returns the ID of a feed. Every account has a separate feed, so the ID is a hash of the API key and the URL. The key cannot be computed
 * from it.
 */
export const buildFeedId = (api: string, apiKey: string): string => sha256Hex(`${api} ${apiKey}`);

const isPosition = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const getStatePath = (environment: Environment): string => join(stateFolder, `listen-${environment}.json`);

/** Returns the saved state. Returns null if there is none or it is invalid. */
export const loadListenState = (environment: Environment): ListenState | null => {
  try {
    const saved = JSON.parse(readFileSync(getStatePath(environment), "utf8")) as Partial<ListenState & { api: string; cursor: number }>;
    const { secret, positions = {}, api, cursor } = saved;
    if (!/^whsec_\S+$/.test(secret ?? "") || !Object.values(positions).every(isPosition)) return null;
    const state = { secret: secret as string, positions };
    return api !== undefined && isPosition(cursor) ? { ...state, earlier: { api, position: cursor as number } } : state;
  } catch {
    return null;
  }
};

/**
 * Writes a new file and renames it, so that a crash never leaves a partly written file. The new file's name contains the process ID,
 * because the command may also be running with another API key.
 */
export const saveListenState = (environment: Environment, state: Pick<ListenState, "secret" | "positions">): void => {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  writeFileSync(join(stateFolder, ".gitignore"), "*\n");
  const path = getStatePath(environment);
  const newPath = `${path}.${process.pid}.new`;
  const file = openSync(newPath, "w", 0o600);
  try {
    writeFileSync(file, JSON.stringify(state));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(newPath, path);
};
