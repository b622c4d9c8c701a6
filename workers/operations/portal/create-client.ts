// Implements POST /v1/business/portal/clients.
import type { MemberSession } from "../../../core/access/session.ts";
import { generateId, shardOfId, type ClientId } from "../../../core/ids.ts";
import { ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseName } from "../../../core/text.ts";
import { insertClient, isClientLimitReached, type Client } from "../../../storage/clients.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";
import { maxNameLength, type CreateCredentialRequest } from "./create-api-key.ts";
import { createOnce, type IdempotentResult } from "./create-once.ts";

/**
 * Creates a client. Each idempotency key creates at most one client. Can return `client_limit`, `idempotency_conflict`, and
 * `invalid_request` if the name is invalid.
 */
export const createClient = async (
  services: WriteDependencies,
  member: MemberSession,
  { name: text, environment, idempotencyKey }: CreateCredentialRequest,
): Promise<Result<IdempotentResult<Client>, "invalid_request" | "client_limit" | "idempotency_conflict">> => {
  const name = parseName(text, maxNameLength);
  if (!name.ok) return name;
  const { business } = member;
  const input = { name: name.value, environment };
  const operation = { route: "POST /v1/business/portal/clients", key: idempotencyKey, input };
  return createOnce<Client>(services, member, operation, async (createdAt) => {
    const prefix = environment === "live" ? "pc_live_" : "pc_test_";
    const id = generateId(prefix, shardOfId(business.id), services.random) as ClientId;
    const client = { id, ...input, createdAt, returnUrls: [], requireOrigin: false };
    return ok({
      value: client,
      statements: [insertClient(getBusinessDatabase(services, member), business.id, client)],
      action: { type: "client.created", entityType: "client", entityId: client.id, payload: { environment } },
    });
  }).catch(refuseWhen(isClientLimitReached, "client_limit"));
};
