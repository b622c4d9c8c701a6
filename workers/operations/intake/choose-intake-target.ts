// Decides whether to write a submission to its database or to the journal.
import type { JournalName } from "../../../core/intake/journal-name.ts";
import { withDeadline } from "../../../storage/database.ts";
import { getErrorKind } from "../../log.ts";
import type { IntakeDependencies } from "./dependencies.ts";

export type IntakeTarget = "database" | "journal";

/** A journal that does not respond within this time counts as empty, so that it cannot delay a healthy database. */
const countTimeoutMs = 300;

/**
 * Chooses the target based on what this isolate knows about the database and the journal. If it knows nothing recent, asks the journal
 * whether submissions are waiting, and chooses the journal if there are any. This way, a repeated submission finds the first one even if
 * another isolate journaled it. Never rejects.
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
