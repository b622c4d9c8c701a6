// Implements POST and DELETE /v1/admin/deployment-check.
import { toHex } from "../../../core/bytes.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { firstShard, generateId, generateSecret, type BusinessId, type ClientId, type RandomBytes } from "../../../core/ids.ts";
import { insertApiKey } from "../../../storage/api-keys.ts";
import { commit } from "../../../storage/commit.ts";
import { insertCheckBusiness, revokeAllApiKeys } from "../../../storage/deployment-check.ts";
import type { WriteDependencies } from "../dependencies.ts";

/** Returns fixed bytes instead of random ones, so that every check uses the same business instead of creating another one. */
const fixedBytes =
  (purpose: string): RandomBytes =>
  (count) =>
    sha256(`svc deployment check: ${purpose}`).slice(0, count);

const business = {
  id: generateId("biz_", firstShard, fixedBytes("business")) as BusinessId,
  clientId: generateId("pc_test_", firstShard, fixedBytes("client")) as ClientId,
  name: "Deployment check",
  chain: { tag: toHex(fixedBytes("audit chain")(16)), auditLog: firstShard },
};

export interface DeploymentCheck {
  readonly clientId: ClientId;
  /** A test API key of the check business. Valid until the check ends or the next check starts. */
  readonly apiKey: string;
}

/**
 * Prepares an external check of the deployment: creates the check business if it is missing, and replaces its API key. The business has no
 * members and only a test client and a test key, so it cannot issue live certificates. The actor in the audit entry is the operator.
 */
export const prepareDeploymentCheck = async (services: WriteDependencies): Promise<DeploymentCheck> => {
  const db = services.shards.forId(business.id);
  const now = services.clock();
  const id = generateId("key_", firstShard, services.random);
  const apiKey = generateSecret("sk_test_", firstShard, services.random);
  const key = { id, name: "Deployment check", environment: "sandbox", last4: apiKey.slice(-4), createdAt: now } as const;
  const action = { type: "api_key.created", entityType: "api_key", entityId: id, payload: { environment: "sandbox" } } as const;
  await commit(
    db,
    services,
    [
      ...insertCheckBusiness(db, { ...business, now }),
      revokeAllApiKeys(db, business.id, now),
      insertApiKey(db, business.id, { ...key, keyHash: sha256Hex(apiKey) }),
    ],
    [createAuditedEvent({ chain: business.chain, actor: { kind: "operator" } }, action, now)],
  );
  return { clientId: business.clientId, apiKey };
};

/** Ends the check by revoking the check business's API keys. */
export const endDeploymentCheck = async (services: WriteDependencies): Promise<void> => {
  const db = services.shards.forId(business.id);
  await commit(db, services, [revokeAllApiKeys(db, business.id, services.clock())], []);
};
