// Erases the person of every certificate whose time has passed, in every home, and says in the log how far it has come.
import { erasureFact } from "../../core/certificates/erasure.ts";
import type { Home } from "../../core/ids.ts";
import { isoOrNull } from "../../core/time.ts";
import { commitQuietly } from "../../storage/commit.ts";
import type { Database } from "../../storage/database.ts";
import { dueForErasure, erasePersons, erasuresLeft, isErasedAlready, type DueCertificate } from "../../storage/erasures.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const maxPerBatch = 500;
const maxViewsPerBatch = 20_000; // one certificate can have 10,000

/** As many from the front as one batch may take; at least one. */
const batchOf = (due: readonly DueCertificate[]): readonly DueCertificate[] => {
  let views = 0;
  const end = due.findIndex(({ viewRows }, at) => {
    views += viewRows;
    return at > 0 && views > maxViewsPerBatch;
  });
  return end === -1 ? due : due.slice(0, end);
};

/** Until nobody is due or the allowance is used up; the next minute goes on. Answers how many were erased. */
const eraseDue = async (platform: Platform, db: Database): Promise<number> => {
  const now = platform.clock();
  let erased = 0;
  while (await platform.goesOn()) {
    const certificates = batchOf(await dueForErasure(db, now, maxPerBatch));
    if (certificates.length === 0) break;
    const certIds = certificates.map(({ id }) => id);
    const facts = certificates.map((certificate) =>
      erasureFact(certificate, { reason: "retention_ended", actor: { kind: "system" }, now }),
    );
    try {
      await commitQuietly(db, platform, erasePersons(db, certIds, now), facts);
    } catch (error) {
      if (isErasedAlready(error)) break; // another sweep or an owner was here: nothing was written, the next minute looks anew
      throw error;
    }
    erased += certificates.length;
  }
  return erased;
};

const sweepHome = async (platform: Platform, db: Database, home: Home): Promise<void> => {
  const erased = await eraseDue(platform, db);
  if (erased === 0) return;
  const { left, oldestDue } = await erasuresLeft(db, platform.clock());
  platform.log.progress({ at: "retention", home, done: erased, left, oldest_due: isoOrNull(oldestDue) });
};

export const eraseExpired = (platform: Platform): Promise<void> =>
  inEachHome(platform, "retention", (db, home) => sweepHome(platform, db, home));
