// Implements POST /v1/business/portal/keys.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, generateSecret } from "../../../core/ids.ts";
import { ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseName } from "../../../core/text.ts";
import { insertApiKey, isApiKeyLimitReached, type ApiKey } from "../../../storage/api-keys.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { createOnce, type IdempotentResult } from "./create-once.ts";

export const maxNameLength = 80;

export interface CreateCredentialRequest {
  readonly name: string;
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

/** The result of creating an API key. This is the only result that contains the key itself. */
export interface CreatedApiKey extends Pick<ApiKey, "id" | "name" | "environment" | "last4" | "createdAt"> {
  readonly key: string;
}

/**
 * Creates an API key and stores only its hash and last four characters. Each idempotency key creates at most one API key. Can return
 * `key_limit`, `idempotency_conflict`, and `invalid_request` if the name is invalid.
 */
export const createApiKey = async (
  services: WriteDependencies,
  member: MemberSession,
  { name: text, environment, idempotencyKey }: CreateCredentialRequest,
): Promise<Result<IdempotentResult<CreatedApiKey>, "invalid_request" | "key_limit" | "idempotency_conflict">> => {
  const name = parseName(text, maxNameLength);
  if (!name.ok) return name;
  const { business } = member;
  const shard = shardOfId(business.id);
  const input = { name: name.value, environment };
  const operation = { route: "POST /v1/business/portal/keys", key: idempotencyKey, input };
  return createOnce<CreatedApiKey>(services, member, operation, async (createdAt) => {
    const id = generateId("key_", shard, services.random);
    const key = generateSecret(environment === "live" ? "sk_live_" : "sk_test_", shard, services.random);
    const row = { id, ...input, last4: key.slice(-4), createdAt };
    return ok({
      value: { ...row, key },
      statements: [insertApiKey(getBusinessDatabase(services, member), business.id, { ...row, keyHash: sha256Hex(key) })],
      action: { type: "api_key.created", entityType: "api_key", entityId: id, payload: { environment } },
    });
  }).catch(refuseWhen(isApiKeyLimitReached, "key_limit"));
};
