// Work in the database of every home.
import type { Home } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { failingAlone } from "../log.ts";
import type { Platform } from "../services.ts";

/** Each minute begins with another home: one with work beyond every allowance leaves the others their turn. */
const inTurn = ({ homes, clock }: Pick<Platform, "homes" | "clock">): readonly (readonly [Home, Database])[] => {
  const all = homes.all();
  const first = Math.floor(clock() / minuteMs) % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
};

/** One home after the other. One that fails keeps no other waiting: its rows stay, and the next run finds them. */
export const inEachHome = async (
  platform: Pick<Platform, "homes" | "log" | "clock">,
  at: string,
  work: (db: Database, home: Home) => Promise<unknown>,
): Promise<void> => {
  for (const [home, db] of inTurn(platform)) await failingAlone(platform, at, () => work(db, home));
};
