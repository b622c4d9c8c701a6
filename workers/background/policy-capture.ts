// Captures policy snapshots (SPEC Policy snapshot). One capture of a site is linked to every certificate that waits for it. Businesses take
// turns, so a business with many or unresponsive sites does not delay others.
//
// The steps for one page:
// 1. Claim: one statement claims one row, so only one worker gets the page.
// 2. Fetch: this step only reads, so a crash costs one attempt.
// 3. Texts: each text is counted and stored in KV under a new ID. After a crash, a stored text can remain unused, but it still counts
//   toward the limit.
// 4. Commit: one batch writes the capture, its snapshots, and the links and audit entries of the first 100 certificates. The texts of the
//   snapshots are already stored.
// 5. More commits: each batch links up to 100 more certificates. A worker that takes over the page finds the new capture and continues. The
//   last batch deletes the page.
//
// If the process dies at any step, the page becomes due again a minute later. The database rejects a batch that would link a certificate
// twice. Therefore, `policies_status` is always correct: it is pending until the certificate is linked, and then shows the result of that
// capture.
import { maxCaptureAttempts, computeNextCaptureAt } from "../../core/policies/capture-retries.ts";
import { captureReuseMs, createPolicyLinkedEvent, type PolicyCapture } from "../../core/policies/snapshot.ts";
import type { Database, Statement } from "../../storage/database.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import {
  claimPolicyPage,
  deleteFinishedPage,
  endPolicyTurn,
  finishPolicyWork,
  listCertificatesAwaitingPolicies,
  postponePolicyPage,
  revertPolicyAttempt,
  type ClaimedPage,
} from "../../storage/policy-pages.ts";
import {
  findCaptureSince,
  hasKnownPolicies,
  insertPolicyCapture,
  isAlreadyLinked,
  isOutdatedSnapshot,
  linkPolicyCapture,
  storePolicyTexts,
  type PolicyLocation,
} from "../../storage/policies.ts";
import { getErrorKind } from "../log.ts";
import { claimEach } from "../operations/work-budget.ts";
import type { Platform } from "../platform/platform.ts";
import { fetchPolicies, type FetchedPolicies } from "./policy-fetch.ts";

// Two workers, so that one can work while the other waits for an unresponsive host. More would compete for the invocation's six
// connections.
const workerCount = 2;
const certificatesPerBatch = 100; // makes a batch of about 105 statements
// A race is lost if another worker links the same certificates first, or if a snapshot was inserted or deleted in the meantime. Other work
// has then made progress, so more consecutive losses than this indicate a bug.
const maxLostRaces = 5;

const emptyPolicies: FetchedPolicies = { found: { privacy: null, terms: null }, isComplete: true, isOfOrigin: false };

interface LinkTarget {
  readonly capture: PolicyCapture;
  /** Statements to commit with the first links. Empty if the capture is already stored. */
  readonly rows: readonly Statement[];
}

/** Links every certificate that is waiting for the page, oldest first, 100 per batch. */
const linkWaitingCertificates = async (
  platform: Platform,
  db: Database,
  page: ClaimedPage,
  { capture, rows }: LinkTarget,
): Promise<void> => {
  let unwritten = rows;
  for (let lostRaces = 0; lostRaces < maxLostRaces; ) {
    const waiting = await listCertificatesAwaitingPolicies(db, page, certificatesPerBatch);
    if (waiting.length === 0) return;
    const now = platform.clock();
    const certIds = waiting.map(({ certId }) => certId);
    try {
      await commitWithoutFollowUp(
        db,
        platform,
        [...unwritten, linkPolicyCapture(db, capture.id, certIds), ...finishPolicyWork(db, page, now)],
        waiting.map((certificate) => createPolicyLinkedEvent(certificate, capture, now)),
      );
      unwritten = [];
      lostRaces = 0;
    } catch (error) {
      if (!isAlreadyLinked(error) && !isOutdatedSnapshot(error)) throw error;
      lostRaces += 1;
    }
  }
  throw new Error("policies: certificates that wait are already linked");
};

/**
 * Returns the key under which the page's captures and texts are counted. Anyone can submit made-up pages, so unknown pages are counted
 * separately and cannot use up the limits of known pages (`isKnownPage`).
 */
const findUsageKey = async (
  platform: Platform,
  db: Database,
  { businessId, location }: { readonly businessId: string; readonly location: PolicyLocation },
): Promise<string> => ((await hasKnownPolicies(db, location, platform.clock())) ? `${businessId} known` : businessId);

/**
 * Links a recent capture if one exists. Otherwise, captures the site. If the site does not respond, tries again later, a limited number of
 * times.
 */
const captureForPage = async (platform: Platform, db: Database, claimed: ClaimedPage): Promise<void> => {
  const { businessId, location, attempts } = claimed;
  const { random } = platform;
  // The capture's IDs are created for the shard of a waiting certificate. It does not matter which one.
  const [{ certId } = { certId: null }] = await listCertificatesAwaitingPolicies(db, claimed, 1);
  if (certId === null) {
    await deleteFinishedPage(db, claimed).run(); // no certificate is waiting anymore, because the test certificates were deleted
    return;
  }
  if (location === null) {
    const snapshots = { policies: { privacy: null, terms: null }, newKinds: [] };
    const empty = { domain: "", origin: "", page: null, certId, snapshots, now: platform.clock(), random };
    return linkWaitingCertificates(platform, db, claimed, insertPolicyCapture(db, empty));
  }
  const { origin, page } = location;
  const fresh = await findCaptureSince(db, location, platform.clock() - captureReuseMs);
  if (fresh !== null) return linkWaitingCertificates(platform, db, claimed, { capture: fresh, rows: [] });

  // More attempts than the maximum are possible only if earlier fetches crashed the worker. In that case, do not fetch the site again.
  const usageKey = await findUsageKey(platform, db, { businessId, location });
  const canFetch = attempts <= maxCaptureAttempts && (await platform.takeExactly("POLICY_CAPTURES_PER_BUSINESS", usageKey)).isAllowed;
  const fetched = canFetch ? await fetchPolicies(platform, location) : emptyPolicies;
  const now = platform.clock();
  if (!fetched.isComplete && attempts < maxCaptureAttempts) {
    await postponePolicyPage(db, claimed, computeNextCaptureAt(attempts, now)).run();
    return;
  }
  const { hostname: domain } = new URL(origin);
  const { found, isOfOrigin } = fetched;
  const limit = platform.config.storageLimits.policies;
  const snapshots = await storePolicyTexts(db, platform.kv, { usageKey, domain, certId, found, now, limit, random });
  const captured = { domain, origin, page: isOfOrigin ? null : page, certId, snapshots, now, random };
  await linkWaitingCertificates(platform, db, claimed, insertPolicyCapture(db, captured));
};

const processPage = async (platform: Platform, db: Database, claimed: ClaimedPage): Promise<void> => {
  try {
    await captureForPage(platform, db, claimed);
  } catch (error) {
    // A failure in our service does not count as an attempt. The page stays leased, so the next attempt is a minute later.
    platform.log.error({ at: "policies", error: getErrorKind(error) });
    await revertPolicyAttempt(db, claimed).run();
  } finally {
    await endPolicyTurn(db, claimed.businessId, platform.clock()).run();
  }
};

/** Captures the due pages of one shard, within the work budget. Concurrent calls are safe. */
export const capturePolicies = async (platform: Platform, db: Database): Promise<void> => {
  // Each worker claims pages independently. A worker stops early if all remaining due pages belong to a business that another worker is
  // processing.
  const worker = async (): Promise<void> => {
    for await (const claimed of claimEach(platform, (now) => claimPolicyPage(db, now))) await processPage(platform, db, claimed);
  };
  await Promise.all(Array.from({ length: workerCount }, worker));
};
