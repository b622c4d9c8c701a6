// Checks once a week that each verified domain still publishes its verification token. After the first miss, the owners get an email. After
// two weeks and three misses, the domain is no longer verified.
import { applyDomainCheck, type DomainCheckOutcome } from "../../core/accounts/domain-claim.ts";
import { createAuditedEvent } from "../../core/domain-events.ts";
import type { Instant } from "../../core/time.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import { batch, type Database } from "../../storage/database.ts";
import {
  findBusinessChain,
  claimDueDomainChecks,
  isDomainCheckRecorded,
  markDomainLapsed,
  recordDomainCheck,
  type DueDomain,
} from "../../storage/domains.ts";
import { prepareOwnerNotice } from "../operations/owner-notices.ts";
import { findDomainProof } from "../operations/portal/find-domain-proof.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";

const maxPerRun = 20; // each check takes at most eight seconds, and all checks run concurrently

const saveCheckOutcome = async (
  platform: Platform,
  db: Database,
  due: DueDomain,
  outcome: DomainCheckOutcome,
  now: Instant,
): Promise<void> => {
  const { id, state: before, domain } = due;
  const { state } = outcome;
  if (outcome.kind === "kept") {
    await recordDomainCheck(db, id, before, state, outcome.nextAt).run();
    return;
  }
  if (outcome.kind === "warned") {
    const data = { domain, lapsesAt: outcome.state.lapsesAt };
    const onlyIf = isDomainCheckRecorded(id, "verified", state);
    const notice = await prepareOwnerNotice(platform, db, due.businessId, { template: "domain_missing", data }, onlyIf);
    await batch(db, [recordDomainCheck(db, id, before, state, outcome.nextAt), ...notice]);
    return;
  }
  const chain = await findBusinessChain(db, due.businessId);
  if (chain === null) return;
  const isLapsed = isDomainCheckRecorded(id, "lapsed", state);
  const change = { type: "domain.lapsed", entityType: "domain", entityId: id, payload: { domain } } as const;
  const event = createAuditedEvent({ chain, actor: { kind: "system" } }, change, now);
  const notice = await prepareOwnerNotice(platform, db, due.businessId, { template: "domain_lapsed", data: { domain } }, isLapsed);
  await commitWithoutFollowUp(db, platform, [markDomainLapsed(db, id, before, state), ...notice], [event], isLapsed);
};

const checkShardDomains = async (platform: Platform, db: Database): Promise<void> => {
  const now = platform.clock();
  const due = await claimDueDomainChecks(db, now, maxPerRun);
  await Promise.all(
    due.map(async (domain) =>
      saveCheckOutcome(
        platform,
        db,
        domain,
        applyDomainCheck(domain.state, (await findDomainProof(platform, domain, domain.method)).finding, now),
        now,
      ),
    ),
  );
};

/** Checks the 20 most overdue domains in each shard. */
export const checkDomains = (platform: Platform): Promise<void> =>
  forEachShard(platform, "domains", (db) => checkShardDomains(platform, db));
