// A week before a connection ends by itself its person hears of it: there is nothing to renew, so the program has to be connected anew.
import { endNoticeMs } from "../../../core/agents/token.ts";
import { endingConnections, isEndUntold, noteEndTold, type EndingConnection } from "../../../storage/agents.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { failingAlone } from "../../log.ts";
import type { Runtime, Stores } from "../../services.ts";
import { addressOfHolder, endLinkOf } from "./connection-mail.ts";

const maxPerRun = 50; // they end one by one, as they were made

/** The mail and its mark are one batch: of two runs at once, one writes it. */
const tell = async (services: Runtime & Stores, db: Database, ending: EndingConnection): Promise<void> => {
  const { id, name, redirectHost, expiresAt, language } = ending;
  const now = services.clock();
  const to = await addressOfHolder(services, db, ending);
  const data = { client_name: name ?? redirectHost, until: expiresAt, end_url: await endLinkOf(services, id) };
  const mail =
    to === null ? [] : await insertMail(db, services.vault, { template: "agent_ending", data, to, now, language, onlyIf: isEndUntold(id) });
  await batch(db, [...mail, noteEndTold(db, id, now)]);
};

/** One that cannot be told stays for the next minute, and alone. */
export const writeEndNotices = async (services: Runtime & Stores, db: Database): Promise<void> => {
  const now = services.clock();
  const due = await endingConnections(db, services.vault, { from: now, until: now + endNoticeMs, max: maxPerRun });
  for (const ending of due) {
    if (!(await services.goesOn())) break;
    await failingAlone(services, "connection ends", () => tell(services, db, ending));
  }
};
