// The steps of each rotation that `npm run keys -- rotate` can run. A step either changes secrets or makes the service process its stored
// data with the new key.
import { dayMs, minuteMs } from "../../core/time.ts";
import { maxDurationDays } from "../../core/shares/grant.ts";
import type { Secrets } from "../deploy/secrets.ts";
import {
  addKeyTo,
  addLogSeed,
  addMasterKey,
  endOldLogSeeds,
  removeOldKeysOf,
  removeOldMasterKeys,
  replaceIssuerKey,
  useNewKeyOf,
} from "./changes.ts";

export const rotationKinds = ["master", "index", "links", "issuer", "logs", "webhook"] as const;
export type RotationKind = (typeof rotationKinds)[number];

export interface RotationStep {
  readonly title: string;
  /** The minimum time between the first step and this step, in milliseconds. */
  readonly afterMs: number;
  /** Whether `afterMs` is measured from the previous change of secrets instead of the first step. */
  readonly isAfterPrevious?: boolean;
  /** The minimum time if the earlier key has leaked. The default is `afterMs`. */
  readonly afterLeakMs?: number;
  /** Returns the secrets that change. Null for a step that makes the service process its stored data with the new key. */
  readonly change: ((secrets: Secrets, now: number) => Secrets | Promise<Secrets>) | null;
  /** True if the step must not run while the service still has stored values that need an earlier key. */
  readonly requiresCheck?: boolean;
}

/**
 * Data that cannot be rewrapped is gone after this time. The service deletes recorded webhook attempts after seven days, and submissions in
 * the journal and responses saved for idempotency keys after one day.
 */
const masterKeyWaitMs = 8 * dayMs;

/**
 * After this time, no row is written with an index that is encrypted with an earlier key. Submissions wait in the journal for up to a day,
 * with the indexes that were current when they were submitted. The rest of the time is a margin.
 */
const indexWaitMs = 8 * dayMs;

/**
 * How long the earlier keys still sign after the new keys are added. Anyone who verifies certificates with saved keys must save the new
 * keys within this time.
 */
const logKeyWaitMs = 30 * dayMs;

/** After this time, no isolate runs with earlier secrets. */
const isolateWaitMs = 10 * minuteMs;

/** The emails about a share contain a link that ends the share, so the earlier key stays valid longer than any share lasts. */
const linkWaitMs = maxDurationDays * dayMs + isolateWaitMs;

const logSteps: readonly RotationStep[] = [
  { title: "Add a second seed. Each log signs with the keys of both.", afterMs: 0, change: addLogSeed },
  {
    title: "Stop signing with the earlier keys, at least 30 days after the first step. They stay published.",
    afterMs: logKeyWaitMs,
    change: endOldLogSeeds,
  },
];

export const rotations: Readonly<Record<Exclude<RotationKind, "webhook">, readonly RotationStep[]>> = {
  master: [
    { title: "Add a new master key. It encrypts from now on, and the earlier key can still decrypt.", afterMs: 0, change: addMasterKey },
    { title: "Wrap everything that is stored with the new key.", afterMs: 0, change: null },
    {
      title: "Remove the earlier key, at least 8 days after the first step and once nothing needs it.",
      afterMs: masterKeyWaitMs,
      change: removeOldMasterKeys,
      requiresCheck: true,
    },
  ],
  index: [
    {
      title: "Add a new key. Searches also find indexes that it encrypts, but they are still written as before.",
      afterMs: 0,
      change: addKeyTo("INDEX_ENCRYPTION_KEYS"),
    },
    {
      title: "Encrypt new indexes with the new key, at least 10 minutes later. Searches still find earlier ones.",
      afterMs: isolateWaitMs,
      change: useNewKeyOf("INDEX_ENCRYPTION_KEYS"),
    },
    {
      title: "Encrypt all stored indexes with the new key, at least 10 minutes later.",
      afterMs: isolateWaitMs,
      isAfterPrevious: true,
      change: null,
    },
    {
      title: "Search only for indexes of the new key, at least 8 days after step 2 and once nothing needs the earlier one.",
      afterMs: indexWaitMs,
      isAfterPrevious: true,
      change: removeOldKeysOf("INDEX_ENCRYPTION_KEYS"),
      requiresCheck: true,
    },
  ],
  issuer: [
    {
      title: "Replace the key. The earlier public key stays published with the end of its validity.",
      afterMs: 0,
      change: replaceIssuerKey,
    },
  ],
  links: [
    {
      title: "Add a new key. Its links and tokens are accepted, and the earlier key still creates them.",
      afterMs: 0,
      change: addKeyTo("LINK_KEYS"),
    },
    {
      title: "Create links and tokens with the new key, at least 10 minutes later. Earlier ones are still accepted.",
      afterMs: isolateWaitMs,
      change: useNewKeyOf("LINK_KEYS"),
    },
    {
      title: `Stop accepting links and tokens of the earlier key, at least ${maxDurationDays} days later, or 10 minutes with --leaked.`,
      afterMs: linkWaitMs,
      afterLeakMs: isolateWaitMs,
      isAfterPrevious: true,
      change: removeOldKeysOf("LINK_KEYS"),
    },
  ],
  logs: logSteps,
};
