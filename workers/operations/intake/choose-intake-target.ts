// Decides whether a submission is written to its database or to the journal.
import type { JournalName } from "../../../core/intake/journal-name.ts";
import { withDeadline } from "../../../storage/database.ts";
import { getErrorKind } from "../../log.ts";
import type { IntakeDependencies } from "./dependencies.ts";

export type IntakeTarget = "database" | "journal";

const countTimeoutMs = 300; // a journal that does not respond for this long is treated as empty, so that it cannot delay a healthy database

/**
 * Decides based on this isolate's state. Asks the journal only if there is no recent information, so that a repeated submission finds the
 * one that another isolate has just journaled. Never rejects.
 */
export const chooseIntakeTarget = async (services: IntakeDependencies, journal: JournalName): Promise<IntakeTarget> => {
  const view = services.intakeState.getView(journal, services.clock());
  if (view !== "unknown") return view === "well" ? "database" : "journal";
  let waiting = 0;
  try {
    waiting = await withDeadline(() => services.intakeJournal(journal).countWaiting(), countTimeoutMs);
  } catch (error) {
    services.log.error({ at: "intake journal", error: getErrorKind(error) });
  }
  services.intakeState.recordCount(journal, waiting, services.clock());
  return waiting === 0 ? "database" : "journal";
};
