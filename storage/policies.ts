// Snapshots of policies: rows in D1, the text in KV under its own hash. A text that is there can never be stale.

const textKey = (contentHash: string): string => `policy:${contentHash}`;

/** The text whose SHA-256 is `contentHash`; null when it is not there. */
export const policyText = (kv: KVNamespace, contentHash: string): Promise<string | null> => kv.get(textKey(contentHash));

export const storePolicyText = (kv: KVNamespace, contentHash: string, text: string): Promise<void> => kv.put(textKey(contentHash), text);
