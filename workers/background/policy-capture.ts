// Policy snapshots: what certificates wait for is captured once, and every one of them is linked to that capture. Businesses take
// turns: whoever has many sites, or sites that hang, has them captured one after the other, and another business in between.
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
import { createAuditedEvent, type DomainEvent } from "../../core/domain-events.ts";
import { maxCaptureAttempts, computeNextCaptureAt } from "../../core/policies/capture-retries.ts";
import { captureReuseMs } from "../../core/policies/snapshot.ts";
import type { Instant } from "../../core/time.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import {
  claimPolicyLease,
  endPolicyTurn,
  finishPolicyWork,
  revertPolicyAttempt,
  postponePolicyLease,
  listCertificatesAwaitingPolicies,
  type PolicyLease,
  type PolicyTopic,
  type WaitingCertificate,
} from "../../storage/outboxes/policies.ts";
import {
  findCaptureSince,
  insertPolicyCapture,
  isAlreadyLinked,
  linkPolicyCapture,
  storePolicyTexts,
  type PolicyCapture,
} from "../../storage/policies.ts";
import { getErrorKind } from "../log.ts";
import { claimEach } from "../operations/work-budget.ts";
import type { Platform } from "../services.ts";
import { fetchPolicies, type FetchedPolicies } from "./policy-fetch.ts";

const workerCount = 2; // a host that hangs leaves the other free; more would wait for each other's six connections
const certificatesPerBatch = 100; // a batch of about 105 statements
const maxLostRaces = 5; // in a row, each against a worker that got further; more is a fault

const emptyPolicies: FetchedPolicies = { found: { privacy: null, terms: null }, isComplete: true, isOfOrigin: false };

interface LinkTarget {
  readonly capture: PolicyCapture;
  /** Rows that must be written with the first links; none for a capture that is stored already. */
  readonly rows: readonly Statement[];
}

const policyLinkedEvent = ({ certId, chain }: WaitingCertificate, { id, hashes }: PolicyCapture, now: Instant): DomainEvent => {
  const payload = { capture_id: id, privacy: hashes.privacy, terms: hashes.terms };
  return createAuditedEvent(
    { chain, actor: { kind: "system" } },
    { type: "policy.linked", entityType: "certificate", entityId: certId, payload },
    now,
  );
};

/** Links everything that waits for the topic, oldest first, a hundred in a batch. */
const linkWaitingCertificates = async (platform: Platform, db: Database, of: PolicyTopic, { capture, rows }: LinkTarget): Promise<void> => {
  let unwritten = rows;
  for (let lostRaces = 0; lostRaces < maxLostRaces; ) {
    const waiting = await listCertificatesAwaitingPolicies(db, of, certificatesPerBatch);
    if (waiting.length === 0) return;
    const now = platform.clock();
    const certIds = waiting.map(({ certId }) => certId);
    const ords = waiting.map(({ ord }) => ord);
    try {
      await commitWithoutFollowUp(
        db,
        platform,
        [...unwritten, linkPolicyCapture(db, capture.id, certIds), ...finishPolicyWork(db, { of, ords, now })],
        waiting.map((one) => policyLinkedEvent(one, capture, now)),
      );
      unwritten = [];
      lostRaces = 0;
    } catch (error) {
      if (!isAlreadyLinked(error)) throw error;
      lostRaces += 1;
    }
  }
  throw new Error("policies: the waiting certificates are linked and still wait");
};

/** A fresh capture is shared; otherwise the site is captured, and again later if it did not answer, but not forever. */
const captureForLease = async (platform: Platform, db: Database, lease: PolicyLease): Promise<void> => {
  const { origin, page, certId, attempts } = lease;
  if (origin === null) {
    const nothing = {
      domain: "",
      origin: "",
      page: null,
      certId,
      found: emptyPolicies.found,
      now: platform.clock(),
      random: platform.random,
    };
    return linkWaitingCertificates(platform, db, lease, insertPolicyCapture(db, nothing));
  }
  const fresh = await findCaptureSince(db, { origin, page }, platform.clock() - captureReuseMs);
  if (fresh !== null) return linkWaitingCertificates(platform, db, lease, { capture: fresh, rows: [] });

  // More attempts than are allowed means that fetching itself ended the worker: do not try that again.
  const fetched = attempts > maxCaptureAttempts ? emptyPolicies : await fetchPolicies(platform, { origin, page });
  const now = platform.clock();
  if (!fetched.isComplete && attempts < maxCaptureAttempts) {
    await postponePolicyLease(db, lease, computeNextCaptureAt(attempts, now)).run();
    return;
  }
  const { hostname: domain } = new URL(origin);
  const { found, isOfOrigin } = fetched;
  await storePolicyTexts(db, platform.kv, domain, found);
  const captured = { domain, origin, page: isOfOrigin ? null : page, certId, found, now, random: platform.random };
  await linkWaitingCertificates(platform, db, lease, insertPolicyCapture(db, captured));
};

const processLease = async (platform: Platform, db: Database, lease: PolicyLease): Promise<void> => {
  try {
    await captureForLease(platform, db, lease);
  } catch (error) {
    // A fault of ours keeps the lease for a minute and is not counted against the origin.
    platform.log.error({ at: "policies", error: getErrorKind(error) });
    await revertPolicyAttempt(db, lease).run();
  } finally {
    await endPolicyTurn(db, lease.businessId, platform.clock()).run();
  }
};

/** Captures what is due in one home. Safe to call at any time, from anywhere, twice at once. */
export const capturePolicies = async (platform: Platform, db: Database): Promise<void> => {
  // Each lane claims for itself: one that finds everybody's turn taken ends, the other goes on with what its business still has.
  const lane = async (): Promise<void> => {
    for await (const lease of claimEach(platform, (now) => claimPolicyLease(db, now))) await processLease(platform, db, lease);
  };
  await Promise.all(Array.from({ length: workerCount }, lane));
};
