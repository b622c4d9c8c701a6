// Checks whether a withdrawal for more than one certificate must wait for certificates that are still in a journal.
import { listStoredForms, type AddressIndex } from "../../../core/access/address-index.ts";
import { listJournals } from "../../../core/intake/journal-name.ts";
import type { BusinessId, ShardId } from "../../../core/ids.ts";
import { minuteMs, secondMs, type Instant } from "../../../core/time.ts";
import { listClientsByBusiness } from "../../../storage/clients.ts";
import { withDeadline } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { IntakeDependencies } from "./dependencies.ts";

const checkTimeoutMs = 2 * secondMs; // for one group of journals
const groupSize = 6; // an invocation can have six open connections at a time

interface PersonCertificates {
  /** The business that issued them; null for all businesses. */
  readonly businessId: BusinessId | null;
  readonly addressIndexes: readonly AddressIndex[];
  readonly issuedUntil: Instant;
}

/**
 * Returns true if a certificate of the person that was issued no later than `issuedUntil` may still be in one of the shard's journals. Call
 * this before reading the certificates from the database, so that a certificate that is moved in between is not missed. Returns true if a
 * journal does not respond. Never rejects.
 */
export const mayHaveWaitingCertificates = async (
  services: IntakeDependencies,
  shard: ShardId,
  { businessId, addressIndexes, issuedUntil }: PersonCertificates,
): Promise<boolean> => {
  const findWaiting = async (): Promise<boolean> => {
    const clients = businessId === null ? null : await listClientsByBusiness(services.shards.forId(businessId), businessId);
    const clientIds = clients?.map(({ id }) => id) ?? null;
    const addressForms = addressIndexes.flatMap(listStoredForms);
    const journals = listJournals(shard, clientIds);
    for (let start = 0; start < journals.length; start += groupSize) {
      const group = journals.slice(start, start + groupSize);
      const scope = { until: issuedUntil, clientIds, addressForms };
      const askGroup = () => Promise.all(group.map(async (name) => services.intakeJournal(name).mayContain(scope)));
      const answers = await withDeadline(askGroup, checkTimeoutMs);
      if (answers.includes(true)) return true;
    }
    return false;
  };
  const mayWait = await runIsolated(services, "waiting certificates", findWaiting);
  return mayWait !== false;
};

const maxCheckIntervalMs = 10 * minuteMs;

/**
 * Returns when to look for waiting certificates again. The interval grows from one to ten minutes, because an entry that the database
 * refuses stays in its journal.
 */
export const getNextCheckAt = (issuedUntil: Instant, now: Instant): Instant =>
  now + Math.min(Math.max(minuteMs, now - issuedUntil), maxCheckIntervalMs);
