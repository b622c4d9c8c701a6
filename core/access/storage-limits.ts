// Limits on what one owner can store within a number of days, and the error messages for exceeding them.

export interface StorageLimit {
  /** The length of the window, in whole days (UTC). */
  readonly days: number;
  readonly records: number;
  readonly bytes: number;
}

/**
 * Whose records are counted together. Submissions count per client without an API key, and per business with one. Shares count per person,
 * and sandbox records and captured policy texts count per business.
 */
export type StorageOwnerKind = "client" | "business" | "person" | "sandbox" | "policies";

export interface StorageLimits extends Readonly<Record<StorageOwnerKind, StorageLimit>> {
  /** The number of new combinations of purpose, recipients and origin that get counters, per client per day. */
  readonly newGroups: number;
}

/** The error detail for each limit. Policy texts need none, because no request is refused for exceeding their limit. */
export const storageLimitMessages: Readonly<Record<Exclude<StorageOwnerKind, "policies">, string>> = {
  client: "Daily limit of submissions without an API key reached for this client. Retry tomorrow (UTC).",
  business: "Daily limit of submissions with an API key reached for this business. Retry tomorrow (UTC).",
  person: "Daily limit of shares reached for this person. Retry tomorrow (UTC).",
  sandbox: "Sandbox limit reached. Test records are deleted after 30 days. Retry tomorrow (UTC).",
};

/** Returns whether a refusal's detail is the message of a storage limit. These limits reset at the start of the next day. */
export const isStorageLimitMessage = (detail: string | undefined): boolean =>
  Object.values(storageLimitMessages).some((message) => message === detail);
