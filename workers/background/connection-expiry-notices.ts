// Each minute: a week before a connection ends by itself its person hears of it by mail. There is nothing to renew, so the program has to be
// connected anew.
import { expiryNoticeMs } from "../../core/agents/agent-token.ts";
import { listExpiringConnections, hasExpiryNoticeDue, markExpiryNotified, type ExpiringConnection } from "../../storage/agent-tokens.ts";
import { batch, type Database } from "../../storage/database.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { runIsolated } from "../log.ts";
import { loadHolderEmail } from "../operations/agents/connection-mail.ts";
import { createDisconnectUrl } from "../operations/agents/disconnect-link.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";

const maxPerRun = 50; // they end one by one, as they were made

/** The mail and its mark are one batch: of two runs at once, one writes it. */
const sendExpiryNotice = async (platform: Platform, db: Database, ending: ExpiringConnection): Promise<void> => {
  const { id, name, redirectHost, expiresAt, language } = ending;
  const now = platform.clock();
  const to = await loadHolderEmail(platform, db, ending);
  const data = { clientName: name ?? redirectHost, until: expiresAt, endUrl: await createDisconnectUrl(platform, id) };
  const mail =
    to === null
      ? []
      : await insertMail(db, platform.vault, { template: "agent_ending", data, to, now, language, onlyIf: hasExpiryNoticeDue(id) });
  await batch(db, [...mail, markExpiryNotified(db, id, now)]);
};

/** One that cannot be told stays for the next minute, and alone. */
export const sendConnectionExpiryNotices = (platform: Platform): Promise<void> =>
  forEachShard(platform, "connection ends", async (db) => {
    const now = platform.clock();
    for (const ending of await listExpiringConnections(db, platform.vault, { from: now, until: now + expiryNoticeMs, max: maxPerRun }))
      if (await platform.hasBudget()) await runIsolated(platform, "connection ends", () => sendExpiryNotice(platform, db, ending));
  });
