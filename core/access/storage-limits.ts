// Limits on what one owner can store within a number of days, and what a refusal says.

export interface StorageLimit {
  /** The length of the window, in whole days (UTC). */
  readonly days: number;
  readonly records: number;
  readonly bytes: number;
}

/**
 * Whose records are counted together: a client's without an API key, a business's with one, a person's shares, everything in a business's
 * sandbox, or the policy texts captured for a business.
 */
export type StorageOwnerKind = "client" | "business" | "person" | "sandbox" | "policies";

export interface StorageLimits extends Readonly<Record<StorageOwnerKind, StorageLimit>> {
  /** How many new combinations of purpose, recipients and origin get counters, per client per day. */
  readonly newGroups: number;
}

/** No request is refused because of policy texts. */
export const storageLimitMessages: Readonly<Record<Exclude<StorageOwnerKind, "policies">, string>> = {
  client: "Daily limit of submissions without an API key reached for this client. Retry tomorrow (UTC).",
  business: "Daily limit of submissions with an API key reached for this business. Retry tomorrow (UTC).",
  person: "Daily limit of shares reached for this person. Retry tomorrow (UTC).",
  sandbox: "Sandbox limit reached. Test records are deleted after 30 days. Retry tomorrow (UTC).",
};

/** Returns whether a refusal's detail is the message of a storage limit. These limits reset at the start of the next day. */
export const isStorageLimitMessage = (detail: string | undefined): boolean =>
  Object.values(storageLimitMessages).some((message) => message === detail);
