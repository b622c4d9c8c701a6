// Policy snapshots: a domain that certificates wait for is looked at once, and every one of them is linked to that capture.
//
// What is safe where, step by step. Dying anywhere only makes a lease due again a minute later:
//   1 claim    one row, one statement: of two workers one gets the lease. Nothing else has changed.
//   2 fetch    reads only; dying here costs one attempt.
//   3 texts    into KV under their hash: writing one twice changes nothing, and a text no row names is harmless.
//   4 commit   snapshots, capture, links, finished outbox rows and audit entries of the first hundred certificates in one
//              batch: all or nothing. A text is there before any row names it.
//   5 commits  of the next hundreds, each one batch. Whoever takes the lease over finds the capture, still fresh, and goes on.
// A certificate is linked exactly once whatever happens: linking a linked one fails the whole batch (0004_policies.sql).
// So policies_status tells the truth at every moment: pending until linked, then what that one capture found.
import type { Fact } from "../../core/facts.ts";
import { maxAttempts, nextCaptureAt } from "../../core/policies/patience.ts";
import { captureSharedMs } from "../../core/policies/snapshot.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { commit } from "../../storage/commit.ts";
import {
  claimPolicyLease,
  finishPolicyWork,
  forgivePolicyLease,
  postponePolicyLease,
  waitingForPolicies,
  type PolicyLease,
  type WaitingCertificate,
} from "../../storage/outboxes/policies.ts";
import {
  captureSince,
  insertCapture,
  isLinkedAlready,
  linkCertificates,
  storePolicyTexts,
  type PolicyCapture,
} from "../../storage/policies.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";
import { inParallel } from "./in-parallel.ts";
import { fetchPolicies, type FetchedPolicies } from "./policy-fetch.ts";

const atOnce = 2; // a host that hangs leaves the other free; more would wait for each other's six connections
const maxRunMs = 45 * secondMs; // no new lease after that: the next minute has its own run
const linkedAtOnce = 100; // a batch of about 105 statements
const maxLostRaces = 5; // in a row, each against a worker that got further; more is a fault

const nothingFound: FetchedPolicies = { found: { privacy: null, terms: null }, complete: true };

interface Linking {
  readonly capture: PolicyCapture;
  /** Rows that must be written with the first links; none for a capture that is stored already. */
  readonly rows: readonly Statement[];
}

const linkedFact = (waiting: WaitingCertificate, capture: PolicyCapture, now: Instant): Fact => ({
  type: "policy.linked",
  entityType: "certificate",
  entityId: waiting.certId,
  at: now,
  chains: [waiting.chain],
  actor: { kind: "system" },
  payload: { capture_id: capture.id, privacy: capture.hashes.privacy, terms: capture.hashes.terms },
});

/** Links everything that waits for the domain, oldest first, a hundred in a batch. */
const linkWaiting = async (platform: Platform, db: Database, domain: string, { capture, rows }: Linking): Promise<void> => {
  let unwritten = rows;
  for (let lostRaces = 0; lostRaces < maxLostRaces; ) {
    const waiting = await waitingForPolicies(db, domain, linkedAtOnce);
    if (waiting.length === 0) return;
    const now = platform.clock();
    const certIds = waiting.map(({ certId }) => certId);
    const ords = waiting.map(({ ord }) => ord);
    try {
      await commit(
        { db, vault: platform.vault, ledgerId: platform.config.ledger.id },
        [...unwritten, linkCertificates(db, capture.id, certIds), ...finishPolicyWork(db, { domain, ords, now })],
        waiting.map((one) => linkedFact(one, capture, now)),
      );
      unwritten = [];
      lostRaces = 0;
    } catch (error) {
      if (!isLinkedAlready(error)) throw error;
      lostRaces += 1;
    }
  }
  throw new Error("policies: the waiting certificates are linked and still wait");
};

/** A fresh capture is shared; otherwise the domain is looked at, and again later if it did not answer, but not forever. */
const captureUnder = async (platform: Platform, db: Database, lease: PolicyLease): Promise<void> => {
  const { domain, attempts } = lease;
  const fresh = await captureSince(db, domain, platform.clock() - captureSharedMs);
  if (fresh !== null) return linkWaiting(platform, db, domain, { capture: fresh, rows: [] });

  // More attempts than are allowed means that fetching itself ended the worker: do not try that again.
  const fetched = attempts > maxAttempts ? nothingFound : await fetchPolicies(platform, domain, lease.page);
  const now = platform.clock();
  if (!fetched.complete && attempts < maxAttempts) {
    await postponePolicyLease(db, domain, nextCaptureAt(attempts, now)).run();
    return;
  }
  await storePolicyTexts(db, platform.kv, domain, fetched.found);
  await linkWaiting(
    platform,
    db,
    domain,
    insertCapture(db, { domain, certId: lease.certId, found: fetched.found, now, random: platform.random }),
  );
};

/** Claimed one by one, until none is due or the run's time is up. */
async function* dueLeases(platform: Platform, db: Database, until: Instant): AsyncGenerator<PolicyLease> {
  while (platform.clock() < until) {
    const lease = await claimPolicyLease(db, platform.clock());
    if (lease === null) return;
    yield lease;
  }
}

/** Looks up what is due in one home. Safe to call at any time, from anywhere, twice at once. */
export const capturePolicies = (platform: Platform, db: Database): Promise<void> =>
  inParallel(atOnce, dueLeases(platform, db, platform.clock() + maxRunMs), async (lease) => {
    try {
      await captureUnder(platform, db, lease);
    } catch (error) {
      // A fault of ours keeps the lease for a minute and is not counted against the domain.
      platform.log.fault({ at: "policies", error: kindOfError(error) });
      await forgivePolicyLease(db, lease.domain).run();
    }
  });
