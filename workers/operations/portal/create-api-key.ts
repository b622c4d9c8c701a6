import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, generateSecret } from "../../../core/ids.ts";
import { ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseName } from "../../../core/text.ts";
import type { Instant } from "../../../core/time.ts";
import { insertApiKey, isApiKeyLimitReached } from "../../../storage/api-keys.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { createOnce, type IdempotentResult } from "./create-once.ts";

export const maxNameLength = 80;

export interface CreateCredentialRequest {
  readonly name: string;
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

/** The only answer that holds the key. */
export interface CreatedApiKey {
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly key: string;
  readonly last4: string;
  readonly createdAt: Instant;
}

export const createApiKey = async (
  services: WriteDependencies,
  member: MemberSession,
  { name: text, environment, idempotencyKey }: CreateCredentialRequest,
): Promise<Result<IdempotentResult<CreatedApiKey>, "invalid_request" | "key_limit" | "idempotency_conflict">> => {
  const name = parseName(text, maxNameLength);
  if (!name.ok) return name;
  const { business } = member;
  const home = shardOfId(business.id);
  const wanted = { name: name.value, environment };
  const once = { route: "POST /v1/business/portal/keys", key: idempotencyKey, wanted };
  return createOnce<CreatedApiKey>(services, member, once, async (createdAt) => {
    const id = generateId("key_", home, services.random);
    const key = generateSecret(environment === "live" ? "sk_live_" : "sk_test_", home, services.random);
    const row = { id, ...wanted, last4: key.slice(-4), createdAt };
    return ok({
      value: { ...row, key },
      rows: [insertApiKey(getBusinessDatabase(services, member), business.id, { ...row, keyHash: sha256Hex(key) })],
      act: { type: "api_key.created", entityType: "api_key", entityId: id, payload: { environment } },
    });
  }).catch(refuseWhen(isApiKeyLimitReached, "key_limit"));
};
