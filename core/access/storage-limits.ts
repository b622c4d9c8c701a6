// Limits on what one client, business or person can store within a number of days, and the error messages for exceeding them.

export interface StorageLimit {
  /** The length of the window, in whole days (UTC). */
  readonly days: number;
  readonly records: number;
  readonly bytes: number;
}

/**
 * What a limit applies to. `client`: submissions without an API key. `business`: submissions with an API key. `person`: shares. `sandbox`:
 * a business's sandbox records. `policies`: a business's captured policy texts.
 */
export type StorageOwnerKind = "client" | "business" | "person" | "sandbox" | "policies";

export interface StorageLimits extends Readonly<Record<StorageOwnerKind, StorageLimit>> {
  /**
   * For each client, the maximum number of new combinations of purpose, recipients and origin per day that get separate counters.
   * Submissions with further new combinations are accepted, but are not counted by combination.
   */
  readonly newGroups: number;
}

/** The error detail for each limit. The limit on policy texts never causes a request to be refused, so it has no detail. */
export const storageLimitMessages: Readonly<Record<Exclude<StorageOwnerKind, "policies">, string>> = {
  client: "This client has reached its daily limit of submissions without an API key. Retry tomorrow (UTC).",
  business: "This business has reached its daily limit of submissions with an API key. Retry tomorrow (UTC).",
  person: "This person has reached the daily limit of shares. Retry tomorrow (UTC).",
  sandbox: "This sandbox has reached its limit for the last 30 days. Retry tomorrow (UTC), when older test records no longer count.",
};

/**
 * Returns whether the detail of a refusal is one of the storage limit messages. Such a request can succeed later: each day at midnight
 * (UTC), the oldest day leaves the window.
 */
export const isStorageLimitMessage = (detail: string | undefined): boolean =>
  Object.values(storageLimitMessages).some((message) => message === detail);
