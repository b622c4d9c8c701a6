import { parseDevice } from "../../../core/access/device.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateSecret, generateId, type ShardId } from "../../../core/ids.ts";
import { sealDevice, type NewSession } from "../../../storage/sessions.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** A token that nobody had before, at every proof, and the row it is found by. */
export const prepareSession = async (
  { vault, random, clock }: ReadDependencies,
  home: ShardId,
  userAgent: string | undefined,
): Promise<{ readonly token: string; readonly row: NewSession }> => {
  const token = generateSecret("ses_", home, random);
  const id = generateId("ssn_", home, random);
  const agentSealed = await sealDevice(vault, id, parseDevice(userAgent));
  return { token, row: { tokenHash: sha256Hex(token), id, deviceSealed: agentSealed, now: clock() } };
};
