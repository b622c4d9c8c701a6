// The rotations that `npm run keys -- rotate` can run, as steps. A step either changes secrets or makes the service rewrap its stored data.
import { dayMs } from "../../core/time.ts";
import type { Secrets } from "../deploy/secrets.ts";
import { addLogSeed, addMasterKey, endOldLogSeeds, removeOldMasterKeys, replaceIssuerKey } from "./changes.ts";

export const rotationKinds = ["master", "index", "issuer", "logs", "webhook"] as const;
export type RotationKind = (typeof rotationKinds)[number];

export interface RotationStep {
  readonly title: string;
  /** The minimum time between the first step and this step, in milliseconds. */
  readonly afterMs: number;
  /** Returns the secrets that change; null for a step in which the service rewraps its stored data. */
  readonly change: ((secrets: Secrets, now: number) => Secrets | Promise<Secrets>) | null;
  /** True if the step must not run while the service still has values that are encrypted under an earlier master key. */
  readonly requiresCheck?: boolean;
}

/**
 * Longer than the retention of everything that cannot be rewrapped: seven days for recorded webhook attempts, and one day for submissions
 * in the journal and for idempotent responses.
 */
const masterKeyWaitMs = 8 * dayMs;

/** The time that readers who rely on certificates have to save the new keys before the earlier keys stop signing. */
const logKeyWaitMs = 30 * dayMs;

const logSteps: readonly RotationStep[] = [
  { title: "Add a second seed. Each log signs with the keys of both.", afterMs: 0, change: addLogSeed },
  {
    title: "Stop signing with the earlier keys, at least 30 days after the first step. They stay published.",
    afterMs: logKeyWaitMs,
    change: endOldLogSeeds,
  },
];

export const rotations: Readonly<Record<Exclude<RotationKind, "index" | "webhook">, readonly RotationStep[]>> = {
  master: [
    { title: "Add a new master key. It seals from now on, and the earlier key can still open.", afterMs: 0, change: addMasterKey },
    { title: "Wrap everything that is stored with the new key.", afterMs: 0, change: null },
    {
      title: "Remove the earlier key, at least 8 days after the first step, once nothing needs it.",
      afterMs: masterKeyWaitMs,
      change: removeOldMasterKeys,
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
  logs: logSteps,
};

/** For each kind of key that cannot be rotated: the reason, and what to do instead. */
export const refusals: Readonly<Record<"index" | "webhook", string>> = {
  index:
    "The index key cannot be rotated yet: certificates, withdrawals and shares are found only by values that it keys, so all of them would have to be indexed again. If it leaks, follow docs/operate/keys.md#after-a-leak.",
  webhook:
    "The operator cannot rotate a webhook signing secret: only its receiver can take over the new one. The owner of the endpoint rotates it in the portal or with POST /v1/webhooks/{id}/rotate-secret, and the earlier secret also signs for a day. To rotate the key that seals the secrets, rotate master.",
};
