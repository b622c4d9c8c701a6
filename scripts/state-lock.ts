// Makes sure that only one process at a time uses a state folder. Two services with the same databases would sign two histories of a log,
// and an export would contain two states.
import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartRefusal } from "./settings.ts";

const busyCode = 5; // SQLITE_BUSY

const heldLocks: DatabaseSync[] = []; // keeps the databases open, because a garbage-collected database is closed, which releases its lock

/**
 * Reserves the state folder for this process. The operating system releases the folder when the process ends, even if it is killed. Throws
 * a StartRefusal if another process has reserved the folder.
 */
export const reserveStateFolder = (stateDir: string): void => {
  mkdirSync(dirname(stateDir), { recursive: true });
  // The real path, so that a symbolic link to the folder has the same lock.
  const folder = existsSync(stateDir) ? realpathSync(stateDir) : join(realpathSync(dirname(stateDir)), basename(stateDir));
  const lock = new DatabaseSync(`${folder}.lock`); // not in the folder, because `npm start` may move the folder away
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { readonly errcode?: number }).errcode !== busyCode) throw error;
    throw new StartRefusal(
      `${stateDir} is in use by npm start or another command. Stop it first, or choose another folder with SVC_STATE_DIR.`,
    );
  }
  heldLocks.push(lock);
};
