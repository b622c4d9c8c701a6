// What a model proposed for a form, under the hash of what it was asked: a question that was answered is not asked again, so the same
// page gets the same mapping. Numbers and words of our lists, nothing of the page. The store may forget or fail: then it is asked anew.
import { dayMs, secondMs } from "../core/time.ts";
import type { Proposal } from "../core/integration/proposal.ts";

const proposalKey = (questionHash: string): string => `form-proposal:${questionHash}`;
const retentionSeconds = (30 * dayMs) / secondMs;

export const findProposal = async (kv: KVNamespace, questionHash: string): Promise<Proposal | null> => {
  try {
    return await kv.get<Proposal>(proposalKey(questionHash), "json");
  } catch {
    return null;
  }
};

export const saveProposal = async (kv: KVNamespace, questionHash: string, proposal: Proposal): Promise<void> => {
  try {
    await kv.put(proposalKey(questionHash), JSON.stringify(proposal), { expirationTtl: retentionSeconds });
  } catch {
    // the mapping is right without it
  }
};
