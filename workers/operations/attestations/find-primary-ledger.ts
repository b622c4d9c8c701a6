// Finds primary ledgers, for example by the ledger ID in a ledger receipt.
import type { LedgerAdapter } from "../../../core/ledger/adapter.ts";
import type { Proofs, Stores } from "../dependencies.ts";

/** Lists the current primary ledgers of all shards. A ledger that several shards share is listed once. */
export const listPrimaryLedgers = ({ shards, ledgersOf }: Pick<Proofs & Stores, "shards" | "ledgersOf">): readonly LedgerAdapter[] => [
  ...new Set(shards.all().flatMap(([shard]) => ledgersOf(shard).slice(0, 1))),
];

/** Finds a current or earlier primary ledger. */
export const findPrimaryLedger = (
  services: Pick<Proofs & Stores, "shards" | "ledgersOf" | "earlierLedgers">,
  isWanted: (ledger: LedgerAdapter) => boolean,
): LedgerAdapter | undefined => [...listPrimaryLedgers(services), ...services.earlierLedgers].find(isWanted);
