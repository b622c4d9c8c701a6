// Who is calling. A key is found by its SHA-256 in the home it names; whatever is wrong with it, the answer is the same.
import type { Principal } from "../../../core/access/principal.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { keyHolder, type KeyHolder } from "../../../storage/accounts.ts";
import { isUseUnnoted, noteUse } from "../../../storage/api-keys.ts";
import type { Database } from "../../../storage/database.ts";
import { failingAlone } from "../../log.ts";
import type { Memories, Runtime, Stores } from "../../services.ts";

/**
 * Whether this isolate has found the key right before, or need not ask anybody to refuse it. Only the look-ups of other keys are
 * counted against an address, so whoever guesses keys behind an office's address does not lock out the keys that work there.
 */
export const isKnownKey = (services: Memories, key: string): boolean =>
  !hasSecretShape(key, "sk_live_", "sk_test_") || services.knownKeys.get(sha256Hex(key)) === true;

/** The first request of a day is noted at its key, after the answer: at most one write a key and day, and none that anybody waits for. */
const noteUseOfToday = (services: Runtime, db: Database, { keyId, lastUsedAt }: KeyHolder): void => {
  const now = services.clock();
  if (!isUseUnnoted(lastUsedAt, now)) return;
  services.afterAnswer(async () => {
    await failingAlone(services, "api key", () => noteUse(db, keyId, now).run());
  });
};

/** Refuses `unauthorized` for a malformed, unknown or revoked key alike. */
export const authenticateKey = async (services: Runtime & Stores & Memories, key: string): Promise<Result<Principal, "unauthorized">> => {
  if (!hasSecretShape(key, "sk_live_", "sk_test_")) return refuse("unauthorized");
  const db = services.homes.of(key);
  const keyHash = sha256Hex(key);
  const holder = await keyHolder(db, keyHash);
  if (holder === null) {
    services.knownKeys.delete(keyHash);
    return refuse("unauthorized");
  }
  services.knownKeys.set(keyHash, true);
  noteUseOfToday(services, db, holder);
  return ok({ kind: "api_key", keyId: holder.keyId, keyHash, environment: holder.environment, business: holder.business });
};
