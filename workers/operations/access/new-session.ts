// A session as it begins, by whatever proof.
import { deviceOf } from "../../../core/access/device.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { newId, newSecret, type Home } from "../../../core/ids.ts";
import { sealDevice, type NewSession } from "../../../storage/sessions.ts";
import type { Runtime, Stores } from "../../services.ts";

/** A token that nobody had before, at every proof, and the row it is found by. */
export const newSession = async (
  { vault, random, clock }: Runtime & Stores,
  home: Home,
  userAgent: string | undefined,
): Promise<{ readonly token: string; readonly row: NewSession }> => {
  const token = newSecret("ses_", home, random);
  const id = newId("ssn_", home, random);
  const agentSealed = await sealDevice(vault, id, deviceOf(userAgent));
  return { token, row: { tokenHash: sha256Hex(token), id, agentSealed, now: clock() } };
};
