// A removal request: a person authorizes us to ask data brokers to delete the person's data. The list of brokers is fixed, so that no one
// can use a request to send messages to anyone else.
import type { ConsumerId, RemovalId } from "../ids.ts";
import { refuse, ok, type Result } from "../result.ts";
import { dayMs, type Instant } from "../time.ts";

/** The display name of each data broker, by its name in the API. */
export const removalTargets = {
  acxiom: "Acxiom",
  beenverified: "BeenVerified",
  epsilon: "Epsilon",
  experian_marketing: "Experian Marketing Services",
  intelius: "Intelius",
  lexisnexis: "LexisNexis Risk Solutions",
  mylife: "MyLife",
  peoplefinders: "PeopleFinders",
  radaris: "Radaris",
  spokeo: "Spokeo",
  truepeoplesearch: "TruePeopleSearch",
  whitepages: "Whitepages",
} as const;

export type RemovalTargetName = keyof typeof removalTargets;

export const removalTargetNames = Object.keys(removalTargets) as readonly RemovalTargetName[];

export const removalStatuses = ["requested", "in_progress", "completed", "rejected"] as const;
export type RemovalStatus = (typeof removalStatuses)[number];

export interface RemovalTarget {
  readonly name: RemovalTargetName;
  readonly status: RemovalStatus;
  readonly completedAt: Instant | null;
}

/** The hash of the affidavit file, and the issuer's signature on it. The person's audit chain also contains the hash. */
export interface AffidavitProof {
  readonly sha256: string;
  readonly signature: string;
  readonly kid: string;
}

export interface Removal {
  readonly id: RemovalId;
  readonly consumerId: ConsumerId;
  readonly status: RemovalStatus;
  readonly targets: readonly RemovalTarget[];
  readonly notes: string | null;
  readonly requestedAt: Instant;
  readonly completedAt: Instant | null;
  /** When the data brokers will be checked again; null until the removal is completed. */
  readonly recheckAt: Instant | null;
  readonly affidavit: AffidavitProof | null;
}

/** Parses the targets and removes duplicates; null means all targets. Refuses unknown names. */
export const parseRemovalTargets = (names: readonly string[] | null): Result<readonly RemovalTargetName[], "invalid_request"> => {
  const requested = new Set(names ?? removalTargetNames);
  const known = removalTargetNames.filter((name) => requested.has(name));
  return known.length === requested.size
    ? ok(known)
    : refuse("invalid_request", "targets: must contain only names that GET /v1/me/removals lists.");
};

const isFinalStatus = (status: RemovalStatus): boolean => status === "completed" || status === "rejected";

const recheckIntervalMs = 90 * dayMs; // data brokers buy new lists every quarter

/** Returns when to check the data brokers again. `now` is when the removal was completed or last checked. */
export const getNextRemovalCheck = (now: Instant): Instant => now + recheckIntervalMs;

export interface RemovalUpdate {
  readonly removal: Removal;
  readonly isCompleted: boolean;
}

/**
 * Applies an operator's status updates. A final status never changes. Once the statuses of all targets are final, the removal is final too.
 * Refuses an update without targets, unknown targets, and a removal that is already final.
 */
export const applyRemovalProgress = (
  removal: Removal,
  statuses: ReadonlyMap<string, RemovalStatus>,
  now: Instant,
): Result<RemovalUpdate, "invalid_request"> => {
  if (statuses.size === 0) return refuse("invalid_request", "targets: must contain at least one target.");
  const names = new Set<string>(removal.targets.map(({ name }) => name));
  if ([...statuses.keys()].some((name) => !names.has(name)))
    return refuse("invalid_request", "targets: must contain only targets of this removal.");
  if (isFinalStatus(removal.status)) return refuse("invalid_request", "The removal is already final, so it cannot be changed.");
  const targets = removal.targets.map((target) => {
    const status = statuses.get(target.name);
    if (status === undefined || isFinalStatus(target.status)) return target;
    return { ...target, status, completedAt: status === "completed" ? now : null };
  });
  const isDone = targets.every(({ status }) => isFinalStatus(status));
  const isCompleted = isDone && targets.some(({ status }) => status === "completed");
  const status = isCompleted ? "completed" : isDone ? "rejected" : "in_progress";
  const times = isCompleted ? { completedAt: now, recheckAt: getNextRemovalCheck(now) } : {};
  return ok({ removal: { ...removal, targets, status, ...times }, isCompleted });
};
