// The names of this deployment's own logs. Each shard has an audit log and, unless the ledger is external, a ledger.
import { firstShard, type ShardId } from "../ids.ts";

const shardPattern = "[0-9a-hjkmnp-tv-z]{2}";

/** Returns the name of a shard's audit log, such as `api.example.com/audit/00`. The host is that of the API, without a port. */
export const getAuditOrigin = (baseUrl: string, shard: ShardId): string => `${new URL(baseUrl).hostname}/audit/${shard}`;

/** Returns the shard in the name of an audit log of this deployment, or null for any other name. Does not check that the shard exists. */
export const parseAuditOrigin = (baseUrl: string, origin: string): ShardId | null => {
  const shard = new RegExp(`/audit/(${shardPattern})$`).exec(origin)?.[1] as ShardId | undefined;
  return shard !== undefined && getAuditOrigin(baseUrl, shard) === origin ? shard : null;
};

/**
 * Returns the name of a shard's ledger. The first shard's ledger has the configured name, such as `api.example.com/ledger/2026h2`. The
 * names of the others also contain the shard, such as `api.example.com/ledger/0a-2026h2`.
 */
export const getLedgerOrigin = (ledgerOrigin: string, shard: ShardId): string =>
  shard === firstShard ? ledgerOrigin : ledgerOrigin.replace(/[^/]*$/, (last) => `${shard}-${last}`);

/** Returns the shard whose ledger has this name, or null for any other name. */
export const parseLedgerOrigin = (ledgerOrigin: string, origin: string): ShardId | null => {
  if (origin === ledgerOrigin) return firstShard;
  const shard = new RegExp(`/(${shardPattern})-[^/]*$`).exec(origin)?.[1] as ShardId | undefined;
  return shard !== undefined && getLedgerOrigin(ledgerOrigin, shard) === origin ? shard : null;
};

/** Returns the name of the embedded ledger's own witness: the ledger's host followed by `/witness`. */
export const getWitnessName = (ledgerOrigin: string): string => `${ledgerOrigin.split("/")[0]}/witness`;
