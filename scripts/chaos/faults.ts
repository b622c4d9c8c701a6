// The faults of `npm run chaos`: which dependency fails and how, and whether the service promises that no write is lost or duplicated.

/** Everything outside the Worker that the Worker calls. Each Durable Object class counts as one dependency. */
export const dependencies = [
  "database 00",
  "database 01",
  "KV",
  "anchor queue",
  "job queue",
  "AuditLog",
  "LedgerLog",
  "EventSequence",
  "DeliveryQueue",
  "DestinationHost",
  "RateLimiter",
  "IntakeJournal",
  "mail",
  "DNS",
  "payment provider",
  "model",
  "receivers",
  "R2",
] as const;
export type Dependency = (typeof dependencies)[number];

/**
 * What a dependency does to a call:
 * - hang: it does nothing, and the call fails only when the fault ends or the caller aborts the call.
 * - fail: it does nothing and fails immediately.
 * - late: it does the work and responds 1.5 seconds later.
 * - lose_answer: it does the work, and then the call fails.
 * - wrong_data: it does the work and returns different data. A queue accepts the message and drops it.
 */
export const callModes = ["hang", "fail", "late", "lose_answer", "wrong_data"] as const;
export type CallMode = (typeof callModes)[number];

/** `set_back`: the service is stopped, the database is restored to its state before the load, and the service is started again. */
export type FaultMode = CallMode | "set_back";

export interface FailingCall {
  readonly dependency: Dependency;
  readonly mode: CallMode;
}

export interface Fault {
  readonly id: string;
  readonly dependency: Dependency;
  readonly mode: FaultMode;
  /** Other dependencies that fail together with this one. */
  readonly alongside?: readonly FailingCall[];
  /** True if every acknowledged write must exist exactly once after the fault. */
  readonly isPromised: boolean;
}

/** Makes the service use the journal, which it does only while a database fails. */
const needsJournal: FailingCall = { dependency: "database 00", mode: "fail" };

const listModes = (dependency: Dependency): readonly FaultMode[] =>
  dependency.startsWith("database") ? [...callModes, "set_back"] : callModes;

/**
 * The service trusts its own databases, so it makes no promise if they return wrong data. It passes on the ledger's partial tiles
 * unchecked, because readers verify them against a signed checkpoint.
 */
const isPromised = (dependency: Dependency, mode: FaultMode): boolean =>
  mode !== "wrong_data" || !(dependency.startsWith("database") || dependency === "LedgerLog");

export const faults: readonly Fault[] = dependencies
  .flatMap((dependency) =>
    listModes(dependency).map((mode) => ({
      dependency,
      mode,
      isPromised: isPromised(dependency, mode),
      ...(dependency === "IntakeJournal" && { alongside: [needsJournal] }),
    })),
  )
  .map((fault, at) => ({ id: `F${at + 1}`, ...fault }));
