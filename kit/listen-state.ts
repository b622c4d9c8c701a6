// What `svc listen` keeps between two runs, in `.svc` where it is started: the place it has read to, and the secret it signs with, so
// that a receiver needs to be told only once.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../core/access/entitlement.ts";

const stateFolder = ".svc";

export interface ListenState {
  /** Of which service: the feed of another one has other numbers. */
  readonly api: string;
  readonly secret: string;
  /** `seq` of the last event that the receiver answered; null where none was yet. */
  readonly cursor: number | null;
}

const getStatePath = (environment: Environment): string => join(stateFolder, `listen-${environment}.json`);

/** Null where nothing is kept, or nothing that can be read. */
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

/** Whole or not at all: what is cut short by a crash is the copy beside it. */
export const saveListenState = (environment: Environment, kept: ListenState): void => {
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  writeFileSync(join(stateFolder, ".gitignore"), "*\n");
  const path = getStatePath(environment);
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(file, JSON.stringify(kept));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
};
