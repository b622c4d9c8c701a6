// What a model proposed for a form, under the hash of what it was asked: a question that was answered is not asked again, so the same
// page gets the same mapping. Numbers and words of our lists, nothing of the page. The store may forget or fail: then it is asked anew.
import { dayMs, secondMs } from "../core/time.ts";
import type { Proposal } from "../core/integration/proposal.ts";

const keyOf = (questionHash: string): string => `form-proposal:${questionHash}`;
const keptSeconds = (30 * dayMs) / secondMs;

export const keptProposal = async (kv: KVNamespace, questionHash: string): Promise<Proposal | null> => {
  try {
    return await kv.get<Proposal>(keyOf(questionHash), "json");
  } catch {
    return null;
  }
};

export const keepProposal = async (kv: KVNamespace, questionHash: string, proposal: Proposal): Promise<void> => {
  try {
    await kv.put(keyOf(questionHash), JSON.stringify(proposal), { expirationTtl: keptSeconds });
  } catch {
    // the mapping is right without it
  }
};
