// Looks again, once a week, whether the proof of each verified domain is still there. The owners are told of the first miss; after
// two weeks and three misses the domain is no longer theirs to speak for.
import { checked, type CheckOutcome } from "../../core/accounts/domain-claim.ts";
import { factOf } from "../../core/facts.ts";
import type { Instant } from "../../core/time.ts";
import { commitQuietly } from "../../storage/commit.ts";
import { batch, type Database } from "../../storage/database.ts";
import { chainOf, claimDueChecks, isChecked, lapse, noteCheck, type DueDomain } from "../../storage/domains.ts";
import { ownerMails } from "../../storage/owners.ts";
import { findProof } from "../operations/portal/domain-proof.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const maxPerRun = 20; // each is one call of at most eight seconds; all at once

const keep = async (platform: Platform, db: Database, due: DueDomain, outcome: CheckOutcome, now: Instant): Promise<void> => {
  const { id, state: before, domain } = due;
  const { state } = outcome;
  if (outcome.kind === "kept") {
    await noteCheck(db, id, before, state, outcome.nextAt).run();
    return;
  }
  if (outcome.kind === "warned") {
    const data = { domain, lapses_at: outcome.state.lapsesAt };
    const onlyIf = isChecked(id, "verified", state);
    const mails = await ownerMails(db, platform.vault, due.businessId, { template: "domain_missing", data, now, onlyIf });
    await batch(db, [noteCheck(db, id, before, state, outcome.nextAt), ...mails]);
    return;
  }
  const chain = await chainOf(db, due.businessId);
  if (chain === null) return;
  const isLapsed = isChecked(id, "lapsed", state);
  const act = { type: "domain.lapsed", entityType: "domain", entityId: id, payload: { domain } } as const;
  const fact = factOf({ chain, actor: { kind: "system" } }, act, now);
  const notice = { template: "domain_lapsed", data: { domain }, now, onlyIf: isLapsed } as const;
  const mails = await ownerMails(db, platform.vault, due.businessId, notice);
  await commitQuietly(db, platform, [lapse(db, id, before, state), ...mails], [fact], isLapsed);
};

const checkHome = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  const due = await claimDueChecks(db, now, maxPerRun);
  await Promise.all(
    due.map(async (domain) =>
      keep(platform, db, domain, checked(domain.state, (await findProof(platform, domain, domain.method)).sighting, now), now),
    ),
  );
};

/** One run looks at a few; the next goes on. */
export const checkDomains = (platform: Platform): Promise<void> => inEachHome(platform, "domains", (db) => checkHome(platform, db));
