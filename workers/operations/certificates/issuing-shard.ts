// Chooses the shard for a business's next certificates, and waits until that shard can issue them.
import { shardOfId } from "../../../core/ids.ts";
import { chooseOverflow, hasRoom, type ShardFill } from "../../../core/shards/placement.ts";
import { withDeadline } from "../../../storage/database.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { isDatabaseHealthy } from "../../../storage/health.ts";
import { getIssuerState, isStartOutdated, renewIssuer, startIssuing } from "../../../storage/issuing-shards.ts";
import { listShardFills } from "../../../storage/shard-registry.ts";
import { runIsolated } from "../../log.ts";
import type { CertificateDependencies } from "./dependencies.ts";
import { readSubmissionClient, type SubmissionClient } from "./resolve-submission-client.ts";

const registryTimeoutMs = 300; // the registry and the next shard are in other databases, and a submission must not wait long for them

/** Returns the shards' states and sizes, read at most once a minute. Returns an empty list if the registry does not respond. */
const loadFills = async (services: CertificateDependencies): Promise<readonly ShardFill[]> => {
  const { intakeState, clock, shards } = services;
  const now = clock();
  const known = intakeState.getFills(now);
  if (known !== null) return known;
  const fills = await runIsolated(services, "shard registry", () => withDeadline(() => listShardFills(shards), registryTimeoutMs));
  intakeState.recordFills(fills ?? [], now);
  return fills ?? [];
};

/**
 * Returns the client with the shard for its next certificate. If the current shard is closed or full and another shard has room, moves the
 * business's future certificates to that shard. If no change is necessary or possible, returns the client unchanged. Makes no query if the
 * deployment has only one shard.
 */
export const continueInShardWithRoom = async (
  services: CertificateDependencies,
  client: SubmissionClient,
  originHeader: string | null,
): Promise<SubmissionClient> => {
  const { shards, intakeState, config, clock } = services;
  if (shards.all().length === 1) return client;
  const now = clock();
  const known = await loadFills(services);
  const fills = known.map((fill) => ({
    ...fill,
    bytes: Math.max(fill.bytes, intakeState.getSize(fill.shard, now)),
  }));
  const current = fills.find(({ shard }) => shard === client.shard);
  if (current === undefined || hasRoom(current, config.maxShardBytes)) return client;
  const ownShard = shardOfId(client.id);
  const next = chooseOverflow(
    fills.filter(({ shard }) => shard !== ownShard && shard !== client.shard),
    config.maxShardBytes,
  );
  if (next === null) return client;
  const continued = await runIsolated(services, "issuing shard", async () => {
    // Check the next shard first. `startIssuing` may hold the account in its current shard while it waits for the next one, and a held
    // account cannot issue certificates.
    await withDeadline(() => isDatabaseHealthy(shards.get(next)), registryTimeoutMs);
    try {
      await startIssuing(shards, client.known.account, next, now);
    } catch (error) {
      // If the account has changed, for example because another isolate has just moved it to the next shard, use its current state.
      if (!isStartOutdated(error)) throw error;
    }
    return readSubmissionClient(services, client.id, originHeader);
  });
  // If the next shard did not respond, leave it out until the registry is read again, so that the next submissions do not wait for it.
  if (continued === undefined)
    intakeState.recordFills(
      known.filter(({ shard }) => shard !== next),
      now,
    );
  return continued ?? client;
};

const waitMs = 50; // changing an account takes a few round trips
const maxWaits = 10;

/**
 * Returns the client once the issuing shard has the current version of its account. Waits while the account is being changed. If the
 * process that changed the account died, updates the shard's copy of the account. After ten attempts, 50 ms apart, throws a StorageFault of
 * kind `outage`. Returns null if the client is unknown.
 */
export const waitForIssuer = async (
  services: CertificateDependencies,
  client: SubmissionClient,
  originHeader: string | null,
): Promise<SubmissionClient | null> => {
  let current: SubmissionClient | null = client;
  for (let waits = 0; waits < maxWaits && current !== null; waits += 1) {
    const { shard, id: clientId, known } = current;
    const { id: businessId, revision } = known.account;
    if (shard === shardOfId(clientId)) return current;
    const state = await getIssuerState(services.shards.get(shard), { businessId, clientId, revision });
    if (state === "ready") return current;
    const isRenewed = state === "outdated" && (await renewIssuer(services.shards, businessId, shard));
    if (!isRenewed) await new Promise((resolve) => setTimeout(resolve, waitMs));
    current = await readSubmissionClient(services, clientId, originHeader);
  }
  if (current === null) return null;
  throw new StorageFault("outage", "ACCOUNT_HELD");
};
