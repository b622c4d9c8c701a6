// Dependencies of the operations in this folder.
import type { IntakeState } from "../../../core/intake/intake-state.ts";
import type { JournalName } from "../../../core/intake/journal-name.ts";
import type { IntakeJournal } from "../../../durable-objects/intake-journal/object.ts";
import type { Runtime, Stores } from "../dependencies.ts";

export interface Intake {
  /** What this isolate knows about the availability of the databases that accept submissions. */
  readonly intakeState: IntakeState;
  readonly intakeJournal: (name: JournalName) => DurableObjectStub<IntakeJournal>;
}

export interface IntakeDependencies extends Runtime, Stores, Intake {}
