// Saves a language model's proposals for mapping a form. They are saved for 30 days under the hash of the model's input, so that the same
// page gets the same mapping. If KV fails, the service calls the model again. Proposals contain only numbers and keys from our own lists,
// and no text from the page.
import { dayMs, secondMs } from "../core/time.ts";
import type { Proposal } from "../core/integration/proposal.ts";

const proposalKey = (questionHash: string): string => `form-proposal:${questionHash}`;
const retentionSeconds = (30 * dayMs) / secondMs;

/** Returns the saved proposal. Returns null if there is none or KV is unavailable. */
export const findProposal = async (kv: KVNamespace, questionHash: string): Promise<Proposal | null> => {
  try {
    return await kv.get<Proposal>(proposalKey(questionHash), "json");
  } catch {
    return null;
  }
};

/** Saves a proposal. Does nothing if KV is unavailable. */
export const saveProposal = async (kv: KVNamespace, questionHash: string, proposal: Proposal): Promise<void> => {
  try {
    await kv.put(proposalKey(questionHash), JSON.stringify(proposal), { expirationTtl: retentionSeconds });
  } catch {
    // The proposal is only a cache, so the failure is ignored.
  }
};
