// Saves a model's proposals for a form for 30 days under the hash of the question, so that the same page gets the same mapping. Proposals
// contain only numbers and keys from our own lists, nothing from the page. If the store fails, the error is ignored and the model is asked
// again.
import { dayMs, secondMs } from "../core/time.ts";
import type { Proposal } from "../core/integration/proposal.ts";

const proposalKey = (questionHash: string): string => `form-proposal:${questionHash}`;
const retentionSeconds = (30 * dayMs) / secondMs;

/** Returns the saved proposal, or null if it is not saved or the store is unavailable. */
export const findProposal = async (kv: KVNamespace, questionHash: string): Promise<Proposal | null> => {
  try {
    return await kv.get<Proposal>(proposalKey(questionHash), "json");
  } catch {
    return null;
  }
};

/** Saves a proposal. Does not throw if the store is unavailable. */
export const saveProposal = async (kv: KVNamespace, questionHash: string, proposal: Proposal): Promise<void> => {
  try {
    await kv.put(proposalKey(questionHash), JSON.stringify(proposal), { expirationTtl: retentionSeconds });
  } catch {
    // The mapping works without the saved proposal.
  }
};
