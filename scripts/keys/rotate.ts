// Runs a rotation step by step. Before a step changes anything, the state file records the step and the secrets that it will set. As a
// result, the same command continues after any interruption and never generates a second key.
import { existsSync, readFileSync } from "node:fs";
import { toIso } from "../../core/time.ts";
import { writeSecrets, type Secrets } from "../deploy/secrets.ts";
import { getCurrentIndexKey, listMasterKeyVersions, postponeEnd } from "./changes.ts";
import { rotations, type RotationKind, type RotationStep } from "./rotations.ts";

type SteppedKind = keyof typeof rotations;

/** The keys whose rotation changes stored values. */
export type StoredKind = Extract<SteppedKind, "master" | "index">;

/** Where the secrets are stored, and how changed secrets reach the service. */
export interface KeyStore {
  readonly read: () => Secrets;
  readonly write: (secrets: Secrets) => void;
  /** Uploads the changed secrets to the service, or tells the operator to restart the local service. */
  readonly publish: (changed: Secrets) => Promise<void>;
}

interface RotationState {
  /** Number of completed steps. */
  readonly completed: number;
  readonly startedAt: number;
  /** When the last step that changed secrets was completed. */
  readonly previousAt?: number;
  /** The secrets that the current step sets. Null if the step has not been prepared yet. */
  readonly pending: Secrets | null;
  /** When `pending` was prepared. The end of the earlier keys' validity in `pending` is computed from this time. */
  readonly preparedAt?: number;
  /** Where the service continues to process its stored values. Null before the first batch. */
  readonly cursor: object | null;
}

type States = Partial<Record<RotationKind, RotationState>>;

export interface StoredStepResult {
  readonly version: string;
  readonly outdated: number;
  readonly next: object | null;
}

export interface RotationOptions {
  readonly store: KeyStore;
  /** The path of the state file. Only its owner can read the file. */
  readonly statePath: string;
  /**
   * Makes the service re-encrypt the next batch of its stored values or indexes. If `isCheck` is true, it only counts the outdated ones.
   */
  readonly processStored: (kind: StoredKind, cursor: object | null, isCheck: boolean) => Promise<StoredStepResult>;
  /** True if the earlier key has leaked. The rotation then ends the earlier key as soon as the new key is used everywhere. */
  readonly isLeaked?: boolean;
  readonly now: () => number;
  readonly report: (text: string) => void;
}

const notStarted: RotationState = { completed: 0, startedAt: 0, pending: null, cursor: null };

const readStates = (path: string): States => (existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as States) : {});

const getState = (statePath: string, kind: SteppedKind): RotationState => readStates(statePath)[kind] ?? notStarted;

const saveState = (statePath: string, kind: SteppedKind, state: RotationState | null): void => {
  const { [kind]: _, ...others } = readStates(statePath);
  writeSecrets(statePath, { ...others, ...(state !== null && { [kind]: state }) } as unknown as Secrets);
};

/** Throws if the running service does not encrypt with the key in the secrets yet. */
const assertCurrentKeyIsUsed = (kind: StoredKind, store: KeyStore, version: string): void => {
  const current = kind === "index" ? getCurrentIndexKey(store.read()) : listMasterKeyVersions(store.read()).at(-1);
  if (version !== current)
    throw new Error(
      `The service still encrypts with ${kind} key ${version}, not ${current}. Deploy or restart it, then run this command again.`,
    );
};

/** Returns the number of stored values that need an earlier key. */
export const countOutdatedValues = async (
  kind: StoredKind,
  { store, processStored }: Pick<RotationOptions, "store" | "processStored">,
): Promise<number> => {
  let count = 0;
  for (let cursor: object | null = null; ; ) {
    const step: StoredStepResult = await processStored(kind, cursor, true);
    assertCurrentKeyIsUsed(kind, store, step.version);
    count += step.outdated;
    if (step.next === null) return count;
    cursor = step.next;
  }
};

const processAll = async (kind: StoredKind, { store, statePath, processStored, report }: RotationOptions): Promise<void> => {
  let count = 0;
  for (;;) {
    const state = getState(statePath, kind);
    const step = await processStored(kind, state.cursor, false);
    assertCurrentKeyIsUsed(kind, store, step.version);
    count += step.outdated;
    if (step.next === null) break;
    saveState(statePath, kind, { ...state, cursor: step.next });
  }
  report(`  ${count} values were encrypted with the new key.`);
};

const runStep = async (kind: SteppedKind, step: RotationStep, options: RotationOptions): Promise<void> => {
  const { store, statePath, now } = options;
  if (step.change === null) await processAll(kind as StoredKind, options);
  else {
    const state = getState(statePath, kind);
    const at = now();
    const { preparedAt = at } = state;
    const pending = state.pending === null ? await step.change(store.read(), at) : postponeEnd(state.pending, preparedAt, at);
    saveState(statePath, kind, { ...state, startedAt: state.startedAt || at, pending, preparedAt: at });
    store.write({ ...store.read(), ...pending });
    await store.publish(pending);
  }
  const { completed, startedAt, previousAt = startedAt } = getState(statePath, kind);
  const changedAt = step.change === null ? previousAt : now();
  saveState(statePath, kind, { completed: completed + 1, startedAt, previousAt: changedAt, pending: null, cursor: null });
};

/** Returns when a step is due. The result is valid only if at least one step is complete. */
const getDueAt = (
  { afterMs, afterLeakMs = afterMs, isAfterPrevious = false }: RotationStep,
  { startedAt, previousAt = startedAt }: RotationState,
  isLeaked: boolean,
): number => (isAfterPrevious ? previousAt : startedAt) + (isLeaked ? afterLeakMs : afterMs);

const describeDue = (step: RotationStep, state: RotationState, now: number, isLeaked: boolean): string => {
  const dueAt = getDueAt(step, state, isLeaked);
  return state.completed > 0 && dueAt > now ? ` It is due on ${toIso(dueAt)}.` : "";
};

export const describeRotation = (kind: SteppedKind, statePath: string, now: number, isLeaked = false): string => {
  const state = getState(statePath, kind);
  return rotations[kind]
    .map((step, index) => {
      const mark = index < state.completed ? "done" : index === state.completed ? "next" : "then";
      return `  ${mark}  ${index + 1}. ${step.title}${index < state.completed ? "" : describeDue(step, state, now, isLeaked)}`;
    })
    .join("\n");
};

/** Runs every step that is due. Returns whether the rotation is complete. */
export const runRotation = async (kind: SteppedKind, options: RotationOptions): Promise<boolean> => {
  const { statePath, isLeaked = false, now, report } = options;
  const steps = rotations[kind];
  let isRepeated = false;
  for (;;) {
    const state = getState(statePath, kind);
    const step = steps[state.completed];
    if (step === undefined) break;
    const dueAt = getDueAt(step, state, isLeaked);
    if (state.completed > 0 && dueAt > now()) {
      report(`\nThe next step is due on ${toIso(dueAt)}. Run the same command again then.`);
      return false;
    }
    report(`\n${state.completed + 1}. ${step.title}`);
    if (step.requiresCheck === true && state.pending === null) {
      const outdated = await countOutdatedValues(kind as StoredKind, options);
      if (outdated > 0) {
        if (isRepeated) {
          report(`  ${outdated} values still need the earlier key. Run the same command again in an hour.`);
          return false;
        }
        isRepeated = true;
        saveState(statePath, kind, { ...state, completed: steps.findIndex(({ change }) => change === null), cursor: null });
        report(`  ${outdated} values still need the earlier key. The previous step is repeated.`);
        continue;
      }
    }
    await runStep(kind, step, options);
  }
  saveState(statePath, kind, null);
  report("\nThe rotation is complete.");
  return true;
};
