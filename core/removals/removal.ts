// The noun: a person lets us ask others to delete them. Whom we ask is a fixed list, so no request of ours goes where somebody else
// wants it to go.
import type { ConsumerId, RemovalId } from "../ids.ts";
import { refuse, ok, type Result } from "../result.ts";
import { dayMs, type Instant } from "../time.ts";

/** By the name in answers, as people know them. */
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

/** What proves the file of an affidavit: its hash, which is in the person's chain too, signed by the issuer's key. */
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
  /** When we look again whether they are still gone. */
  readonly recheckAt: Instant | null;
  readonly affidavit: AffidavitProof | null;
}

/** Each named once; all of them where none is named. */
export const parseRemovalTargets = (names: readonly string[] | null): Result<readonly RemovalTargetName[], "invalid_request"> => {
  const asked = new Set(names ?? removalTargetNames);
  const known = removalTargetNames.filter((name) => asked.has(name));
  return known.length === asked.size ? ok(known) : refuse("invalid_request", "targets: must name targets of the list.");
};

const isFinalStatus = (status: RemovalStatus): boolean => status === "completed" || status === "rejected";

const recheckIntervalMs = 90 * dayMs; // brokers buy lists anew every quarter

export interface RemovalUpdate {
  readonly removal: Removal;
  readonly isCompleted: boolean;
}

/** What an operator found out about some of the targets. A removal is over when each of its targets is; what is over stays as it is. */
export const applyRemovalProgress = (
  removal: Removal,
  found: ReadonlyMap<string, RemovalStatus>,
  now: Instant,
): Result<RemovalUpdate, "invalid_request"> => {
  const names = new Set<string>(removal.targets.map(({ name }) => name));
  if ([...found.keys()].some((name) => !names.has(name))) return refuse("invalid_request", "targets: must be targets of the removal.");
  if (isFinalStatus(removal.status)) return refuse("invalid_request", "The removal is over.");
  const targets = removal.targets.map((target) => {
    const status = found.get(target.name);
    if (status === undefined || isFinalStatus(target.status)) return target;
    return { ...target, status, completedAt: status === "completed" ? now : null };
  });
  const isDone = targets.every(({ status }) => isFinalStatus(status));
  const isCompleted = isDone && targets.some(({ status }) => status === "completed");
  const status = isCompleted ? "completed" : isDone ? "rejected" : "in_progress";
  const times = isCompleted ? { completedAt: now, recheckAt: now + recheckIntervalMs } : {};
  return ok({ removal: { ...removal, targets, status, ...times }, isCompleted });
};
