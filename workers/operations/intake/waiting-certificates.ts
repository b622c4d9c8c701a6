// Checks whether a withdrawal for more than one certificate must wait for certificates that are still in a journal.
import { listJournals } from "../../../core/intake/journal-name.ts";
import type { BusinessId, ShardId } from "../../../core/ids.ts";
import { minuteMs, type Instant } from "../../../core/time.ts";
import { listClientsByBusiness } from "../../../storage/clients.ts";
import { withDeadline } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { IntakeDependencies } from "./dependencies.ts";

const checkTimeoutMs = 1_500;

interface IssuedCertificates {
  /** The business that issued them; null for all businesses. */
  readonly businessId: BusinessId | null;
  readonly issuedUntil: Instant;
}

/**
 * Returns true if a certificate that was issued no later than `issuedUntil` may still be in one of the shard's journals. Call this before
 * reading the certificates from the database. A journal that does not respond may contain such a certificate. Never rejects.
 */
export const mayHaveWaitingCertificates = async (
  services: IntakeDependencies,
  shard: ShardId,
  { businessId, issuedUntil }: IssuedCertificates,
): Promise<boolean> => {
  const hasWaiting = await runIsolated(services, "waiting certificates", async () => {
    const clients = businessId === null ? null : await listClientsByBusiness(services.shards.forId(businessId), businessId);
    const journals = listJournals(shard, clients === null ? null : clients.map(({ id }) => id));
    const check = (name: string) => withDeadline(async () => services.intakeJournal(name).hasIssuedUntil(issuedUntil), checkTimeoutMs);
    return (await Promise.all(journals.map(check))).includes(true);
  });
  return hasWaiting !== false;
};

/**
 * Returns when to look for waiting certificates again: after a minute at first, and after longer waits if an entry stays in a journal
 * because the database refuses it.
 */
export const getNextCheckAt = (issuedUntil: Instant, now: Instant): Instant => now + Math.max(minuteMs, now - issuedUntil);
