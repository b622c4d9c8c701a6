// A share and its status at a point in time (SPEC Share).
import type { Environment } from "../access/entitlement.ts";
import type { BusinessId, ClientId, ShareId } from "../ids.ts";
import type { Instant } from "../time.ts";
import type { ContactKey } from "./fields.ts";
import type { RequestEvidence } from "./request-evidence.ts";

export const shareStatuses = ["active", "revoked", "expired", "ceased", "superseded"] as const;
export type ShareStatus = (typeof shareStatuses)[number];

export interface Share {
  readonly id: ShareId;
  readonly status: ShareStatus;
  readonly fingerprint: string;
  /** The business, with its name as shown to the person when the share was granted. */
  readonly business: { readonly id: BusinessId; readonly name: string };
  readonly clientId: ClientId;
  readonly environment: Environment;
  /** The scheme, host and port of the requesting page. */
  readonly origin: string;
  /** The evidence that the request came from the business. A renewal keeps the evidence of the share that it replaces. */
  readonly requestEvidence: RequestEvidence;
  readonly purpose: string;
  readonly scope: readonly ContactKey[];
  readonly disclosureHash: string;
  readonly createdAt: Instant;
  /** From this time on, the share is no longer active. */
  readonly expiresAt: Instant;
  readonly durationDays: number;
  readonly revokedAt: Instant | null;
  readonly ceaseBy: Instant | null;
  readonly acknowledgedAt: Instant | null;
  readonly supersedes: ShareId | null;
  readonly supersededBy: ShareId | null;
  /** How far the sandbox clock is ahead of real time, in milliseconds; 0 for a live share. */
  readonly clockOffsetMs: number;
  /**
   * When the business last received values, by redeeming the code, by reading them, or through a notification of a change. Null if it never
   * did. Shown only to the person.
   */
  readonly lastDeliveredAt?: Instant | null;
}

/** Returns the current status. From its expiry time on, a share counts as expired, even if a background job has not recorded this yet. */
export const getShareStatus = (stored: ShareStatus, expiresAt: Instant, now: Instant): ShareStatus =>
  stored === "active" && expiresAt <= now ? "expired" : stored;

/** Returns the host name, as in a certificate's `origin_domain`. */
export const getOriginDomain = (origin: string): string => new URL(origin).hostname;
