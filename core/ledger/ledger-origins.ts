// The names of the embedded ledgers that a deployment serves.
import type { ShardId } from "../ids.ts";
import { getLedgerOrigin } from "./log-names.ts";
import type { LedgerSettings } from "./settings.ts";

/** Lists the names of the current and earlier embedded ledgers. If the ledger is external, the list is empty. */
export const listLedgerOrigins = ({ url, origin, retiredKeys }: LedgerSettings, shards: readonly ShardId[]): readonly string[] =>
  url === "" ? [...new Set([...shards.map((shard) => getLedgerOrigin(origin, shard)), ...retiredKeys.map((key) => key.origin)])] : [];
