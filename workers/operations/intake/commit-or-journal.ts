// Writes a submission to its database or, while the database does not respond, to the journal.
import type { JournalName } from "../../../core/intake/journal-name.ts";
import type { JournalEntry, KeyedReceipt } from "../../../durable-objects/intake-journal/entry.ts";
import { withDeadline } from "../../../storage/database.ts";
import { findStorageFault, StorageFault } from "../../../storage/faults.ts";
import type { IntakeDependencies } from "./dependencies.ts";
import type { IntakeTarget } from "./choose-intake-target.ts";

export interface SubmissionWrite<T> {
  readonly journal: JournalName;
  readonly target: Promise<IntakeTarget>;
  readonly commit: () => Promise<T>;
  /**
   * Builds the journal's entry, which contains the same rows that `commit` writes. Null if the cached account is too old to issue a
   * certificate without the database.
   */
  readonly buildEntry: (() => Promise<JournalEntry>) | null;
  /** How many more submissions the client may send today (UTC), as last known; null if there is no limit. */
  readonly room: number | null;
  /** The maximum number of bytes of the client's entries in the journal; null if there is no limit. */
  readonly maxBytes: number | null;
}

export type WrittenSubmission<T> =
  | { readonly kind: "committed"; readonly results: T }
  | { readonly kind: "journaled" }
  | { readonly kind: "repeated"; readonly receipt: KeyedReceipt };

const appendTimeoutMs = 800; // together with the default wait for the database, this lets the caller get a response within 1.5 seconds

const journalSubmission = async <T>(
  services: IntakeDependencies,
  { journal, buildEntry, room, maxBytes }: SubmissionWrite<T>,
): Promise<WrittenSubmission<T>> => {
  if (buildEntry === null) throw new StorageFault("outage");
  const entry = await buildEntry();
  const result = await withDeadline(async () => services.intakeJournal(journal).append(entry, room, maxBytes), appendTimeoutMs);
  if (result.kind === "refused") throw new StorageFault("outage", "JOURNAL_FULL");
  return result;
};

/**
 * Returns once the submission is stored durably. If the database responds with an error, throws that error. Journals the submission if
 * `target` is the journal, or if the database does not respond in time, was reset or is overloaded. The database may still commit the batch
 * later, which is harmless, because the journal contains the same rows. Throws a StorageFault of kind `outage` if neither the database nor
 * the journal stored the submission.
 */
export const commitOrJournal = async <T>(services: IntakeDependencies, write: SubmissionWrite<T>): Promise<WrittenSubmission<T>> => {
  const { intakeState, clock, config } = services;
  const { journal } = write;
  if ((await write.target) === "journal") return journalSubmission(services, write);
  try {
    const results = await withDeadline(write.commit, config.intakeWaitMs);
    intakeState.recordAnswer(journal, clock());
    return { kind: "committed", results };
  } catch (error) {
    if (findStorageFault(error)?.kind !== "outage") throw error;
    intakeState.recordSilence(journal, clock());
    return journalSubmission(services, write);
  }
};
