// Resolves a form submission's client ID to its account. Runs once per request, so that rate limiting and issuing use the same account.
import { getOriginRules, verifyOrigin, type VerifiedHost } from "../../../core/access/origins.ts";
import { shardOfId, type ClientId, type ShardId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import { getCurrentShard } from "../../../core/shards/issuing.ts";
import { minuteMs } from "../../../core/time.ts";
import { findAccountSnapshot, saveAccountSnapshot, type AccountSnapshot } from "../../../storage/account-snapshots.ts";
import { findIssuingClient } from "../../../storage/accounts.ts";
import { withDeadline } from "../../../storage/database.ts";
import { findStorageFault } from "../../../storage/faults.ts";
import { journalOfClient } from "../../../core/intake/journal-name.ts";
import { runIsolated } from "../../log.ts";
import { chooseIntakeTarget, type IntakeTarget } from "../intake/choose-intake-target.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import type { KnownClient } from "./known-client.ts";

export interface SubmissionClient {
  readonly id: ClientId;
  /** The account, possibly outdated, because it can come from the cache. */
  readonly known: KnownClient;
  /** The host in the Origin header, if it is on one of the account's verified domains. */
  readonly origin: Result<VerifiedHost, "origin_not_verified">;
  /** The shard that issues the account's certificates: its own shard, or another one after its own was full or closed. */
  readonly shard: ShardId;
  /** The store that the submission will be written to: the database or the journal. */
  readonly target: Promise<IntakeTarget>;
}

/** `ownTarget` is the intake target in the account's own shard. Null if it has not been chosen yet. */
const toSubmissionClient = (
  services: CertificateDependencies,
  id: ClientId,
  known: KnownClient,
  originHeader: string | null,
  ownTarget: Promise<IntakeTarget> | null,
): SubmissionClient => {
  const { account } = known;
  const shard = getCurrentShard(account);
  const target = ownTarget !== null && shard === shardOfId(id) ? ownTarget : chooseIntakeTarget(services, journalOfClient(shard, id));
  return { id, known, shard, origin: verifyOrigin(originHeader, account.domains, getOriginRules(services.config, account)), target };
};

const remember = ({ cachedClients }: CertificateDependencies, id: ClientId, snapshot: AccountSnapshot): KnownClient => {
  const { savedAt = 0, room = null } = cachedClients.get(id) ?? {};
  const known = { ...snapshot, savedAt, room };
  cachedClients.set(id, known);
  return known;
};

/** Reads the account from the database and caches it. Returns null for an unknown client ID. */
export const readSubmissionClient = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
  ownTarget: Promise<IntakeTarget> | null = null,
): Promise<SubmissionClient | null> => {
  const account = await findIssuingClient(services.shards.forId(id), id);
  if (account === null) {
    services.cachedClients.delete(id);
    return null;
  }
  return toSubmissionClient(services, id, remember(services, id, { account, confirmedAt: services.clock() }), originHeader, ownTarget);
};

const snapshotTimeoutMs = 300;

/** Reads the account's copy in KV and caches it. Returns null if the copy is missing or too old. */
const readSnapshot = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
  target: Promise<IntakeTarget>,
): Promise<SubmissionClient | null> => {
  const snapshot = await runIsolated(services, "account snapshot", () =>
    withDeadline(() => findAccountSnapshot(services.kv, id, services.clock()), snapshotTimeoutMs),
  );
  return snapshot == null ? null : toSubmissionClient(services, id, remember(services, id, snapshot), originHeader, target);
};

/**
 * Returns the account from this isolate's cache or from the database. If the database does not respond, returns the copy in KV, or throws
 * if there is none. A cached account is good enough to accept a submission, but the caller must read the account again before it returns an
 * error. Returns null only if the database does not have the client ID.
 */
export const resolveSubmissionClient = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
): Promise<SubmissionClient | null> => {
  const cached = services.cachedClients.get(id);
  if (cached !== undefined) return toSubmissionClient(services, id, cached, originHeader, null);
  if (!services.shards.hasShardOf(id)) return null; // made-up client IDs must not create Durable Objects for journals
  const journal = journalOfClient(shardOfId(id), id);
  const target = chooseIntakeTarget(services, journal); // determines whether to read the account from its database or from KV
  if ((await target) === "journal") {
    const snapshot = await readSnapshot(services, id, originHeader, target);
    if (snapshot !== null) return snapshot;
  }
  try {
    return await withDeadline(() => readSubmissionClient(services, id, originHeader, target), services.config.intakeWaitMs);
  } catch (error) {
    if (findStorageFault(error)?.kind !== "outage") throw error;
    services.intakeState.recordSilence(journal, services.clock());
    const snapshot = await readSnapshot(services, id, originHeader, Promise.resolve("journal"));
    if (snapshot === null) throw error;
    return snapshot;
  }
};

const saveEveryMs = 10 * minuteMs;

/**
 * Records that the database has just confirmed the account by accepting a submission. Copies the account to KV at most every ten minutes.
 */
export const confirmClient = (services: CertificateDependencies, { id, known }: SubmissionClient, room: KnownClient["room"]): void => {
  const now = services.clock();
  const isSaveDue = now - known.savedAt >= saveEveryMs;
  const confirmed: KnownClient = {
    account: known.account,
    confirmedAt: now,
    savedAt: isSaveDue ? now : known.savedAt,
    room: room ?? known.room,
  };
  services.cachedClients.set(id, confirmed);
  if (isSaveDue)
    services.waitUntil(async () => {
      await runIsolated(services, "account snapshot", () => saveAccountSnapshot(services.kv, id, confirmed));
    });
};
