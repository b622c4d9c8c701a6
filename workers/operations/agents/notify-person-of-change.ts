// Emails the person when their agent has changed something, at most once per token per hour. If a token was stolen, the email warns a
// person who never looks at the audit trail.
import { personFromAgent, type Agent } from "../../../core/agents/agent-token.ts";
import { hasTokenNoticeDue, markTokenNotified, recordTokenUse } from "../../../storage/agent-tokens.ts";
import { batch } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies, WriteDependencies } from "../dependencies.ts";
import { prepareMailToPerson } from "../shares/mail-to-person.ts";

const queueChangeMail = async (services: ReadDependencies, agent: Agent): Promise<void> => {
  const { tokenId, ownerId, language } = agent;
  const db = services.shards.forId(ownerId);
  const now = services.clock();
  const data = { tokenId, at: now };
  const onlyIf = hasTokenNoticeDue(tokenId, now);
  const mail = await prepareMailToPerson(services, db, personFromAgent(agent).id, { template: "agent_changed", data, language, onlyIf });
  await batch(db, [...mail, markTokenNotified(db, tokenId, now), ...recordTokenUse(db, agent, now)]);
};

/** Queues the email. Never throws, because the change is already committed and audited. */
export const notifyPersonOfChange = async (services: WriteDependencies, agent: Agent): Promise<void> => {
  await runIsolated(services, "agents", () => queueChangeMail(services, agent));
  services.scheduleMail();
};
