// The person hears by mail that their assistant changed something: whoever has the token can do what it opens, and a mail reaches
// somebody who does not look at their history. One an hour and token.
import { personOfAgent, type Agent } from "../../../core/agents/token.ts";
import { isUntold, noteTold, noteUse } from "../../../storage/agents.ts";
import { batch } from "../../../storage/database.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { mailTo } from "../shares/mails.ts";

const writeMail = async (services: Runtime & Stores, agent: Agent): Promise<void> => {
  const { tokenId, ownerId } = agent;
  const db = services.homes.of(ownerId);
  const now = services.clock();
  const data = { token_id: tokenId, at: now, app_url: `${services.config.appUrl}/app` };
  const onlyIf = isUntold(tokenId, now);
  const mail = await mailTo(services, db, personOfAgent(agent).id, { template: "agent_changed", data, onlyIf });
  await batch(db, [...mail, noteTold(db, tokenId, now), ...noteUse(db, agent, now)]);
};

/** The change is committed by now and stands, with its audit entry, whatever becomes of the mail. */
export const tellPerson = async (services: Runtime & Stores & Schedules, agent: Agent): Promise<void> => {
  await failingAlone(services, "agents", () => writeMail(services, agent));
  services.scheduleMail();
};
