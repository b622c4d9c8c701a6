// Prepares the token and the row of a new session.
import { parseDevice } from "../../../core/access/device.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateSecret, generateId, type ShardId } from "../../../core/ids.ts";
import { sealDevice, type NewSession } from "../../../storage/sessions.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Generates a session token and the row that stores its hash. The token itself is never stored. */
export const prepareSession = async (
  { vault, random, clock }: ReadDependencies,
  shardId: ShardId,
  userAgent: string | undefined,
): Promise<{ readonly token: string; readonly row: NewSession }> => {
  const token = generateSecret("ses_", shardId, random);
  const id = generateId("ssn_", shardId, random);
  const deviceSealed = await sealDevice(vault, id, parseDevice(userAgent));
  return { token, row: { tokenHash: sha256Hex(token), id, deviceSealed, now: clock() } };
};
