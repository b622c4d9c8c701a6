// Who is calling. A key is found by its SHA-256 in the home it names; whatever is wrong with it, the answer is the same.
import type { Principal } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { findApiKeyHolder, type ApiKeyHolder } from "../../../storage/accounts.ts";
import { isFirstUseOfDay, recordApiKeyUse } from "../../../storage/api-keys.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { Runtime } from "../dependencies.ts";
import type { KnownKeyCache } from "./dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";

/**
 * Whether this isolate has found the key right before, or need not ask anybody to refuse it. Only the look-ups of other keys are
 * counted against an address, so whoever guesses keys behind an office's address does not lock out the keys that work there.
 */
export const isExemptFromLookupLimit = (services: KnownKeyCache, key: string): boolean =>
  !hasSecretShape(key, "sk_live_", "sk_test_") || services.knownKeyHashes.get(sha256Hex(key)) === true;

/** The first request of a day is noted at its key, after the answer: at most one write a key and day, and none that anybody waits for. */
const recordDailyUse = (services: Runtime, db: Database, { keyId, lastUsedAt }: ApiKeyHolder): void => {
  const now = services.clock();
  if (!isFirstUseOfDay(lastUsedAt, now)) return;
  services.waitUntil(async () => {
    await runIsolated(services, "api key", () => recordApiKeyUse(db, keyId, now).run());
  });
};

/** Refuses `unauthorized` for a malformed, unknown or revoked key alike. */
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
