// Finds certificates that may still be in a journal.
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { journalOfCertificate } from "../../../core/intake/journal-name.ts";
import type { CertId } from "../../../core/ids.ts";
import { withDeadline } from "../../../storage/database.ts";
import { findStorageFault } from "../../../storage/faults.ts";
import { runIsolated } from "../../log.ts";
import type { IntakeDependencies } from "./dependencies.ts";

const readTimeoutMs = 300;
const placeTimeoutMs = 1_500; // long enough for the journal to move one batch, and then this certificate, to the database

/** Returns the published certificate from the journal, or null if the journal does not have it or does not respond. */
const readJournal = async (services: IntakeDependencies, certId: CertId): Promise<PublishedCertificate | null> => {
  if (!services.shards.hasShardOf(certId)) return null; // requests with made-up IDs must not create Durable Objects for journals
  const published = await runIsolated(services, "intake journal", () =>
    withDeadline(() => services.intakeJournal(journalOfCertificate(certId)).findPublished(certId), readTimeoutMs),
  );
  return published == null ? null : (JSON.parse(published) as PublishedCertificate);
};

/**
 * Runs `find`. If the database does not have the certificate, asks the journal to move it there. If the journal has moved it, or may have
 * moved it seconds earlier, runs `find` again. Returns null only if neither has the certificate. Throws a StorageFault of kind `outage` if
 * one of them does not respond.
 */
export const findOrPlace = async <T>(services: IntakeDependencies, certId: CertId, find: () => Promise<T | null>): Promise<T | null> => {
  const found = await find();
  if (found !== null || !services.shards.hasShardOf(certId)) return found;
  const mayBePlaced = await withDeadline(() => services.intakeJournal(journalOfCertificate(certId)).place(certId), placeTimeoutMs);
  return mayBePlaced ? find() : null;
};

/**
 * Finds a certificate's public data. Works like `findOrPlace`, but while the database does not respond, uses the journal's copy, which
 * `fromJournal` converts. If the database has not responded recently, asks the journal first. Returns null only if the database has
 * confirmed that it does not have the certificate.
 */
export const findWhileAway = async <T>(
  services: IntakeDependencies,
  certId: CertId,
  find: () => Promise<T | null>,
  fromJournal: (certificate: PublishedCertificate) => T,
): Promise<T | null> => {
  const { intakeState, clock } = services;
  const journal = journalOfCertificate(certId);
  const isAway = intakeState.getView(journal, clock()) === "away";
  const first = isAway ? await readJournal(services, certId) : null;
  if (first !== null) return fromJournal(first);
  try {
    return await findOrPlace(services, certId, find);
  } catch (error) {
    if (isAway || findStorageFault(error)?.kind !== "outage") throw error;
    intakeState.recordSilence(journal, clock());
    const second = await readJournal(services, certId);
    if (second === null) throw error;
    return fromJournal(second);
  }
};
