// Each minute: a week before a connection ends by itself its person hears of it by mail. There is nothing to renew, so the program has to be
// connected anew.
import { endNoticeMs } from "../../core/agents/token.ts";
import { endingConnections, isEndUntold, noteEndTold, type EndingConnection } from "../../storage/agents.ts";
import { batch, type Database } from "../../storage/database.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { failingAlone } from "../log.ts";
import { addressOfHolder, endLinkOf } from "../operations/agents/connection-mail.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const maxPerRun = 50; // they end one by one, as they were made

/** The mail and its mark are one batch: of two runs at once, one writes it. */
const tell = async (platform: Platform, db: Database, ending: EndingConnection): Promise<void> => {
  const { id, name, redirectHost, expiresAt, language } = ending;
  const now = platform.clock();
  const to = await addressOfHolder(platform, db, ending);
  const data = { client_name: name ?? redirectHost, until: expiresAt, end_url: await endLinkOf(platform, id) };
  const mail =
    to === null ? [] : await insertMail(db, platform.vault, { template: "agent_ending", data, to, now, language, onlyIf: isEndUntold(id) });
  await batch(db, [...mail, noteEndTold(db, id, now)]);
};

/** One that cannot be told stays for the next minute, and alone. */
export const tellConnectionEnds = (platform: Platform): Promise<void> =>
  inEachHome(platform, "connection ends", async (db) => {
    const now = platform.clock();
    for (const ending of await endingConnections(db, platform.vault, { from: now, until: now + endNoticeMs, max: maxPerRun }))
      if (await platform.goesOn()) await failingAlone(platform, "connection ends", () => tell(platform, db, ending));
  });
