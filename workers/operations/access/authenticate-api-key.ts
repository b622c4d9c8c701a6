// Authenticates an API key by looking up its SHA-256 in the shard whose code the key contains. Every failure returns the same error.
import type { Principal } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { findApiKeyHolder, type ApiKeyHolder } from "../../../storage/accounts.ts";
import { isFirstUseOfDay, recordApiKeyUse } from "../../../storage/api-keys.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { Runtime } from "../dependencies.ts";
import type { AccessDependencies, KnownKeyCache } from "./dependencies.ts";

/**
 * Returns whether a key is exempt from the lookup rate limit: either it was valid when this isolate last checked it, or it is malformed and
 * needs no lookup. Only lookups of other keys count against an IP address, so guesses from an office network do not lock out the valid keys
 * used there.
 */
export const isExemptFromLookupLimit = (services: KnownKeyCache, key: string): boolean =>
  !hasSecretShape(key, "sk_live_", "sk_test_") || services.knownKeyHashes.get(sha256Hex(key)) === true;

/** Records a key's first use each day. Runs after the response and writes at most once per key per day. */
const recordDailyUse = (services: Runtime, db: Database, { keyId, lastUsedAt }: ApiKeyHolder): void => {
  const now = services.clock();
  if (!isFirstUseOfDay(lastUsedAt, now)) return;
  services.waitUntil(async () => {
    await runIsolated(services, "api key", () => recordApiKeyUse(db, keyId, now).run());
  });
};

/** Returns an API key's business and environment. Returns `unauthorized` if the key is malformed, unknown or revoked. */
export const authenticateApiKey = async (services: AccessDependencies, key: string): Promise<Result<Principal, "unauthorized">> => {
  if (!hasSecretShape(key, "sk_live_", "sk_test_")) return refuse("unauthorized");
  const db = services.shards.forId(key);
  const keyHash = sha256Hex(key);
  const holder = await findApiKeyHolder(db, keyHash);
  if (holder === null) {
    services.knownKeyHashes.delete(keyHash);
    return refuse("unauthorized");
  }
  services.knownKeyHashes.set(keyHash, true);
  recordDailyUse(services, db, holder);
  return ok({ kind: "api_key", keyId: holder.keyId, keyHash, environment: holder.environment, business: holder.business });
};
