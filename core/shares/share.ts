// The noun: a share as both sides see it, and what its state is at a moment (SPEC, States and transitions, Share).
import type { Environment } from "../access/entitlement.ts";
import type { BusinessId, ClientId, ShareId } from "../ids.ts";
import type { Instant } from "../time.ts";
import type { ContactKey } from "./fields.ts";

export const shareStatuses = ["active", "revoked", "expired", "ceased", "superseded"] as const;
export type ShareStatus = (typeof shareStatuses)[number];

export interface Share {
  readonly id: ShareId;
  readonly status: ShareStatus;
  readonly fingerprint: string;
  /** Name as it was shown to the person. */
  readonly business: { readonly id: BusinessId; readonly name: string };
  readonly clientId: ClientId;
  readonly environment: Environment;
  /** Scheme, host and port of the page that asked. */
  readonly origin: string;
  readonly purpose: string;
  readonly scope: readonly ContactKey[];
  readonly disclosureHash: string;
  readonly createdAt: Instant;
  /** Exclusive. */
  readonly expiresAt: Instant;
  readonly durationDays: number;
  readonly revokedAt: Instant | null;
  readonly ceaseBy: Instant | null;
  readonly acknowledgedAt: Instant | null;
  readonly supersedes: ShareId | null;
  readonly supersededBy: ShareId | null;
  /** How far the clock it lives by is ahead of the time: its sandbox may have been moved. None for a live share. */
  readonly clockOffsetMs: number;
  /** Told to the person alone: when the business last redeemed or read the values, or was told of a change; null where it never did. */
  readonly lastDeliveredAt?: Instant | null;
}

/** Time alone ends a share: one that the sweep has not come to yet has expired all the same. */
export const getShareStatus = (state: ShareStatus, expiresAt: Instant, now: Instant): ShareStatus =>
  state === "active" && expiresAt <= now ? "expired" : state;

/** The host for what is published, as a certificate's origin domain. */
export const getOriginDomain = (origin: string): string => new URL(origin).hostname;
