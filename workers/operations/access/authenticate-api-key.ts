// Authenticates an API key. It is looked up by its SHA-256 in the shard that the key names. Every failure gets the same refusal.
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
 * Whether a key is exempt from the rate limit on lookups: either it was valid when this isolate last checked it, or it is malformed and
 * does not need a lookup. Only lookups of other keys count against an IP address, so guesses from an office network do not lock out the
 * keys in use there.
 */
export const isExemptFromLookupLimit = (services: KnownKeyCache, key: string): boolean =>
  !hasSecretShape(key, "sk_live_", "sk_test_") || services.knownKeyHashes.get(sha256Hex(key)) === true;

/** Records the first use of a key per day, after the response, with at most one write per key and day. */
const recordDailyUse = (services: Runtime, db: Database, { keyId, lastUsedAt }: ApiKeyHolder): void => {
  const now = services.clock();
  if (!isFirstUseOfDay(lastUsedAt, now)) return;
  services.waitUntil(async () => {
    await runIsolated(services, "api key", () => recordApiKeyUse(db, keyId, now).run());
  });
};

/** Returns the business and environment of an API key. Refuses `unauthorized` for malformed, unknown and revoked keys alike. */
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
