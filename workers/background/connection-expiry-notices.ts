// Emails people a week before an agent connection expires. A connection cannot be renewed. To continue, the person connects the agent
// again.
import { expiryNoticeMs } from "../../core/agents/agent-token.ts";
import { listExpiringConnections, hasExpiryNoticeDue, markExpiryNotified, type ExpiringConnection } from "../../storage/agent-tokens.ts";
import { batch, type Database } from "../../storage/database.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { findHolderRecipient } from "../operations/agents/connection-mail.ts";
import { createDisconnectUrl } from "../operations/agents/disconnect-link.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { maxDueRows, processDue } from "./process-due.ts";

/** Writes the email and marks the connection as notified, in one batch. If two runs are concurrent, only one writes the email. */
const sendExpiryNotice = async (platform: Platform, db: Database, connection: ExpiringConnection): Promise<void> => {
  const { id, name, redirectHost, expiresAt, language } = connection;
  const now = platform.clock();
  const recipient = await findHolderRecipient(platform, db, connection);
  const data = { clientName: name ?? redirectHost, until: expiresAt, endUrl: await createDisconnectUrl(platform, id) };
  const mail =
    recipient === null
      ? []
      : await insertMail(db, platform.vault, {
          template: "agent_ending",
          data,
          ...recipient,
          now,
          language,
          onlyIf: hasExpiryNoticeDue(id),
        });
  await batch(db, [...mail, markExpiryNotified(db, id, now)]);
};

/** Sends the notices that are due, within the work budget. A failed notice is retried after a minute and does not delay the others. */
export const sendConnectionExpiryNotices = (platform: Platform): Promise<void> =>
  forEachShard(platform, "connection-expiry-notices", async (db) => {
    const now = platform.clock();
    const due = await listExpiringConnections(db, platform.vault, { from: now, until: now + expiryNoticeMs, max: maxDueRows });
    await processDue(platform, "connection-expiry-notices", due, (connection) => sendExpiryNotice(platform, db, connection));
  });
