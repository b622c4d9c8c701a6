// Every 15 minutes, measures the deployment and emails the operator if a figure exceeds its threshold. The email does not go through the
// outbox, so that it can report a stuck outbox.
import { alertKinds, findDueNotices, formatAlertMail } from "../../core/alerts.ts";
import { firstShard } from "../../core/ids.ts";
import { escapeHtml } from "../../core/mail/message.ts";
import { dayMs } from "../../core/time.ts";
import { deleteAlertState, listAlertStates, saveAlertState } from "../../storage/operator-alerts.ts";
import { measureService } from "../operations/admin/measure-service.ts";
import type { Platform } from "../platform/platform.ts";

const repeatMs = dayMs; // often enough to remind the operator without filling the mailbox

/** Logs each figure as a metric, and sends the notices that are due. If a notice cannot be sent, the next run tries again. */
export const sendOperatorAlerts = async (platform: Platform): Promise<void> => {
  const { alertEmail, alertThresholds: thresholds, baseUrl, mail } = platform.config;
  const figures = await measureService(platform);
  for (const kind of alertKinds) platform.log.metric({ metric: kind, shard: "all", value: figures[kind] });
  if (alertEmail === null) return;
  const db = platform.shards.get(firstShard);
  const now = platform.clock();
  for (const notice of findDueNotices({ figures, thresholds }, await listAlertStates(db), now, repeatMs)) {
    const { kind, change, since } = notice;
    const { subject, text } = formatAlertMail(notice, figures[kind], thresholds[kind], new URL(baseUrl).host);
    const html = `<!doctype html><html lang="en"><head><title>${escapeHtml(subject)}</title></head><body><pre>${escapeHtml(text)}</pre></body></html>`;
    const outcome = await platform.mailer.send({ id: crypto.randomUUID(), to: alertEmail, from: mail.from, subject, text, html });
    if (outcome !== "accepted") platform.log.error({ at: "alerts", error: `the email was not accepted: ${outcome}` });
    else if (change === "ended") await deleteAlertState(db, kind);
    else await saveAlertState(db, { kind, since }, now);
  }
};
