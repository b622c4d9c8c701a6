// Authenticates an API key by its SHA-256 hash. The key contains the ID of the shard that stores the hash.
import type { Principal } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { findApiKeyHolder, type ApiKeyHolder } from "../../../storage/accounts.ts";
import { isFirstUseOfDay, recordApiKeyUse } from "../../../storage/api-keys.ts";
import type { Database } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { Runtime } from "../dependencies.ts";
import type { AccessDependencies } from "./dependencies.ts";

/** Returns true if the text does not have the form of an API key. */
export const isMalformedApiKey = (key: string): boolean => !hasSecretShape(key, "sk_live_", "sk_test_");

/** Records, after the response, that the key was used today. */
const recordDailyUse = (services: Runtime, db: Database, { keyId, lastUsedAt }: ApiKeyHolder): void => {
  const now = services.clock();
  if (!isFirstUseOfDay(lastUsedAt, now)) return;
  services.waitUntil(async () => {
    await runIsolated(services, "api key", () => recordApiKeyUse(db, keyId, now).run());
  });
};

/** Returns the API key's principal, or null if the key is malformed, unknown or revoked. */
export const authenticateApiKey = async (services: AccessDependencies, key: string): Promise<Principal | null> => {
  if (isMalformedApiKey(key)) return null;
  const db = services.shards.forId(key);
  const keyHash = sha256Hex(key);
  const holder = await findApiKeyHolder(db, keyHash);
  if (holder === null) return null;
  recordDailyUse(services, db, holder);
  return { kind: "api_key", keyId: holder.keyId, keyHash, environment: holder.environment, business: holder.business };
};
