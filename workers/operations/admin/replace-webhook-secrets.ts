// Replaces webhook signing secrets that were created before a given time. The work is divided into steps, which the operator's command runs
// one after another (POST /v1/admin/keys/webhook). A repeated step skips secrets that it has already replaced, so the work can be stopped
// and resumed at any time.
import { environments } from "../../../core/access/entitlement.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { firstShard, shardOfId, type BusinessId, type ShardId, type WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { canReplaceSecret, operatorSecretOverlapMs, type SecretAge } from "../../../core/webhooks/endpoint.ts";
import { formatSecretHint, formatWebhookSecret, secretLength } from "../../../core/webhooks/signature.ts";
import { listBusinessIdsAfter } from "../../../storage/accounts.ts";
import { commit } from "../../../storage/commit.ts";
import { sealWebhookSecret } from "../../../storage/webhook-secrets.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import { loadBilledBusiness } from "./get-entitlement.ts";

/** The number of businesses per step. Each business takes two calls, one to each of its event sequences. */
const businessesPerStep = 20;
/**
 * After this many replacements, a step finishes the current business and stops. Each replacement costs a database batch and a call to an
 * event sequence.
 */
const maxReplacements = 40;

type Dependencies = WriteDependencies & EventSequences;

/** Where the next step starts. */
export interface SecretCursor {
  readonly shard: string;
  /** The ID of the last business that was read; empty before the first one. */
  readonly after: string;
}

export interface SecretStep {
  /** Secrets created before this time are replaced. */
  readonly before: Instant;
  readonly replaced: number;
  /** The number of secrets that this step read and did not replace, although they were created before `before`. */
  readonly outdated: number;
  /**
   * Until this time, deliveries to some of this step's endpoints are also signed with an earlier secret. Null if there are no such
   * endpoints.
   */
  readonly earlierUntil: Instant | null;
  /** The position for the next step; null after the last step. */
  readonly next: SecretCursor | null;
}

interface StepRequest {
  /** Null in the first step, which uses the current time. */
  readonly before: Instant | null;
  /** Limits the step to one endpoint; null for all endpoints. */
  readonly webhookId: WebhookId | null;
  readonly cursor: SecretCursor | null;
  /** If true, the step changes nothing and only counts. */
  readonly isCheck: boolean;
}

const listAges = async (services: Dependencies, businessId: BusinessId, webhookId: WebhookId | null) => {
  const found = await Promise.all(
    environments.map(async (environment) => {
      const sequence = services.eventSequence(businessId, environment);
      return (await sequence.listSecretAges()).map((age) => ({ sequence, age }));
    }),
  );
  return found.flat().filter(({ age }) => webhookId === null || age.endpointId === webhookId);
};

/**
 * Records the replacement and writes the notice to the owners before it replaces the secret. If the process dies in between, the repeated
 * step sends a second notice. The opposite order could leave the owners without one.
 */
const replaceSecret = async (
  services: Dependencies,
  businessId: BusinessId,
  { sequence, age }: Awaited<ReturnType<typeof listAges>>[number],
  before: Instant,
): Promise<void> => {
  const business = await loadBilledBusiness(services, businessId);
  if (business === null) return;
  const [db, now] = [services.shards.forId(businessId), services.clock()];
  const webhookId = age.endpointId;
  const data = { webhookId, until: now + operatorSecretOverlapMs };
  const notice = await prepareOwnerNotice(services, db, businessId, { template: "webhook_secret_replaced", data });
  const source = { chain: business.chain, actor: { kind: "operator" } } as const;
  const event = createAuditedEvent(source, { type: "webhook.secret_rotated", entityType: "webhook", entityId: webhookId }, now);
  await commit(db, services, notice, [event]);
  const secret = formatWebhookSecret(services.random(secretLength));
  const sealed = await sealWebhookSecret(services.vault, { endpointId: webhookId, businessId }, secret);
  await sequence.replaceSecret(webhookId, { sealed, hint: formatSecretHint(secret) }, before, now);
};

const getLatest = (times: readonly (Instant | null)[], now: Instant): Instant | null => {
  const future = times.filter((time) => time !== null && time > now) as readonly Instant[];
  return future.length === 0 ? null : Math.max(...future);
};

/**
 * Does one step of the work. Skips a secret if its predecessor still signs, because another replacement would make the predecessor invalid
 * immediately. Returns `not_found` if the cursor contains an unknown shard.
 */
export const replaceWebhookSecrets = async (
  services: Dependencies,
  { before: requested, webhookId, cursor, isCheck }: StepRequest,
): Promise<Result<SecretStep, "not_found">> => {
  const shards = services.shards.all().map(([shard]) => shard);
  const start: SecretCursor = { shard: webhookId === null ? firstShard : shardOfId(webhookId), after: "" };
  const { shard, after } = cursor ?? start;
  if (!shards.includes(shard as ShardId)) return refuse("not_found");
  const before = Math.min(requested ?? services.clock(), services.clock());
  const businessIds = await listBusinessIdsAfter(services.shards.get(shard as ShardId), after, businessesPerStep);
  const ages: SecretAge[] = [];
  let [replaced, outdated, last] = [0, 0, after];
  for (const businessId of businessIds) {
    if (replaced >= maxReplacements) break;
    for (const endpoint of await listAges(services, businessId, webhookId)) {
      const canReplace = canReplaceSecret(endpoint.age, before, services.clock());
      if (canReplace && !isCheck) {
        await replaceSecret(services, businessId, endpoint, before);
        replaced += 1;
      } else if (endpoint.age.createdAt < before) outdated += 1;
      ages.push(endpoint.age);
    }
    last = businessId;
  }
  const isShardDone = businessIds.length < businessesPerStep && last === (businessIds.at(-1) ?? after);
  const nextShard = webhookId === null ? shards[shards.indexOf(shard as ShardId) + 1] : undefined;
  const next = !isShardDone ? { shard, after: last } : nextShard === undefined ? null : { shard: nextShard, after: "" };
  const earlierUntil = getLatest(
    [...ages.map((age) => age.earlierUntil), replaced > 0 ? services.clock() + operatorSecretOverlapMs : null],
    services.clock(),
  );
  return ok({ before, replaced, outdated, earlierUntil, next });
};
