// The person hears by mail that their assistant changed something: whoever has the token can do what it opens, and a mail reaches
// somebody who does not look at their history. One an hour and token.
import { personOfAgent, type Agent } from "../../../core/agents/token.ts";
import { isUntold, noteTold, noteUse } from "../../../storage/agents.ts";
import { batch } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { consumerAddress } from "../../../storage/people.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

const writeMail = async (services: Runtime & Stores, agent: Agent): Promise<void> => {
  const { tokenId, ownerId } = agent;
  const { vault } = services;
  const db = services.homes.of(ownerId);
  const now = services.clock();
  const { id: consumerId } = personOfAgent(agent);
  const to = await consumerAddress(db, vault, consumerId);
  const data = { token_id: tokenId, at: now, app_url: `${services.config.appUrl}/app` };
  const mail =
    to === null
      ? []
      : await insertMail(db, vault, { template: "agent_changed", data, to, consumerId, now, onlyIf: isUntold(tokenId, now) });
  await batch(db, [...mail, noteTold(db, tokenId, now), ...noteUse(db, agent, now)]);
};

/** The change is committed by now and stands, with its audit entry, whatever becomes of the mail. */
export const tellPerson = async (services: Runtime & Stores & Schedules, agent: Agent): Promise<void> => {
  await failingAlone(services, "agents", () => writeMail(services, agent));
  services.scheduleMail();
};
