// API keys and public clients of a business.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, newSecret, type ClientId } from "../../../core/ids.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { chosenName } from "../../../core/text.ts";
import type { Instant } from "../../../core/time.ts";
import { insertKey, isRevokedAt, isTooManyKeys, keyById, keysOf, revokeKey, type ApiKey } from "../../../storage/api-keys.ts";
import { clientsOf, insertClient, isTooManyClients, type Client } from "../../../storage/clients.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { commitAct, homeOf, makeOnce, type Made } from "./commit-act.ts";

export type { ApiKey, Client };

const maxNameLength = 80;

export interface CreateRequest {
  readonly name: string;
  readonly environment: Environment;
  readonly idempotencyKey: string | null;
}

/** The only answer that holds the key. */
export interface CreatedKey {
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly key: string;
  readonly last4: string;
  readonly createdAt: Instant;
}

export const createKey = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  { name: text, environment, idempotencyKey }: CreateRequest,
): Promise<Result<Made<CreatedKey>, "invalid_request" | "key_limit" | "idempotency_conflict">> => {
  const name = chosenName(text, maxNameLength);
  if (!name.ok) return name;
  const { business } = member;
  const home = homeOfId(business.id);
  const wanted = { name: name.value, environment };
  const once = { route: "POST /v1/business/portal/keys", key: idempotencyKey, wanted };
  return makeOnce<CreatedKey>(services, member, once, async (createdAt) => {
    const id = newId("key_", home, services.random);
    const key = newSecret(environment === "live" ? "sk_live_" : "sk_test_", home, services.random);
    const row = { id, ...wanted, last4: key.slice(-4), createdAt };
    return ok({
      value: { ...row, key },
      rows: [insertKey(homeOf(services, member), business.id, { ...row, keyHash: sha256Hex(key) })],
      act: { type: "api_key.created", entityType: "api_key", entityId: id, payload: { environment } },
    });
  }).catch(refusedWhere(isTooManyKeys, "key_limit"));
};

export const listKeys = (services: Stores, member: MemberSession): Promise<readonly ApiKey[]> =>
  keysOf(homeOf(services, member), member.business.id);

/** From here on it opens nothing. A second time changes nothing. */
export const endKey = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  id: string,
): Promise<Result<true, "not_found">> => {
  const db = homeOf(services, member);
  const found = await keyById(db, member.business.id, id);
  if (found === null) return refuse("not_found");
  if (found.revokedAt !== null) return ok(true);
  const at = services.clock();
  const act = { type: "api_key.revoked", entityType: "api_key", entityId: id } as const;
  await commitAct(services, member, [revokeKey(db, member.business.id, id, at)], act, { at, onlyIf: isRevokedAt(id, at) });
  return ok(true);
};

export const createClient = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  { name: text, environment, idempotencyKey }: CreateRequest,
): Promise<Result<Made<Client>, "invalid_request" | "client_limit" | "idempotency_conflict">> => {
  const name = chosenName(text, maxNameLength);
  if (!name.ok) return name;
  const { business } = member;
  const wanted = { name: name.value, environment };
  const once = { route: "POST /v1/business/portal/clients", key: idempotencyKey, wanted };
  return makeOnce<Client>(services, member, once, async (createdAt) => {
    const prefix = environment === "live" ? "pc_live_" : "pc_test_";
    const client = { id: newId(prefix, homeOfId(business.id), services.random) as ClientId, ...wanted, createdAt };
    return ok({
      value: client,
      rows: [insertClient(homeOf(services, member), business.id, client)],
      act: { type: "client.created", entityType: "client", entityId: client.id, payload: { environment } },
    });
  }).catch(refusedWhere(isTooManyClients, "client_limit"));
};

export const listClients = (services: Stores, member: MemberSession): Promise<readonly Client[]> =>
  clientsOf(homeOf(services, member), member.business.id);
