// Work in the database of every home.
import type { Home } from "../../core/ids.ts";
import type { Database } from "../../storage/database.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";

/** One home after the other. One that fails keeps no other waiting: its rows stay, and the next run finds them. */
export const inEachHome = async (
  platform: Pick<Platform, "homes" | "log">,
  at: string,
  work: (db: Database, home: Home) => Promise<unknown>,
): Promise<void> => {
  for (const [home, db] of platform.homes.all()) {
    try {
      await work(db, home);
    } catch (error) {
      platform.log.fault({ at, error: kindOfError(error) });
    }
  }
};
