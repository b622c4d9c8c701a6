// Tests the job that measures the deployment and emails the operator.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import type { MailOutcome, OutgoingMail } from "../../core/mail/message.ts";
import { dayMs, hourMs, minuteMs } from "../../core/time.ts";
import { sendOperatorAlerts } from "../../workers/background/operator-alerts.ts";
import { measureService } from "../../workers/operations/admin/measure-service.ts";
import type { ErrorLine, MetricLine } from "../../workers/log.ts";
import { buildJsonRequest } from "../support/people.ts";
import { call } from "../support/world.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";

const platform = await createPlatform({ ...env, ALERT_EMAIL: "ops@acme-solar.example" });

// Other tests use the same database and can leave overdue work in it, so the thresholds are above the amount that already exists.
const { overdue_work: existingMinutes } = await measureService(platform);
const overdueMinutes = existingMinutes + 5_000;
const never = 1_000_000_000;
const alertThresholds = {
  unavailable_shards: 0,
  overdue_work: overdueMinutes,
  anchoring_delay: never,
  full_shard: never,
  failing_endpoints: never,
  failed_mail: never,
};
const base = { ...platform, config: { ...platform.config, alertThresholds } };

const runJob = async ({ outcome = "accepted" as MailOutcome, aheadMs = 0, config = base.config } = {}) => {
  const sent: OutgoingMail[] = [];
  const metrics: MetricLine[] = [];
  const faults: string[] = [];
  await sendOperatorAlerts({
    ...base,
    config,
    clock: () => Date.now() + aheadMs,
    log: { ...base.log, metric: (line: MetricLine) => void metrics.push(line), error: ({ error }: ErrorLine) => void faults.push(error) },
    mailer: {
      send: async (message) => {
        sent.push(message);
        return outcome;
      },
    },
  });
  return { subjects: sent.map(({ subject }) => subject), sent, metrics, faults };
};

const addOverdueMail = async (): Promise<void> => {
  await env.DB.prepare(
    "INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at) VALUES ('overdue', 'login_code', 's', ?1 * 2, ?1 * 2, ?1)",
  )
    .bind(Date.now() - 2 * overdueMinutes * minuteMs)
    .run();
};

/** Makes the second shard's database fail for `for_ms` milliseconds. */
const setFault = async (for_ms: number): Promise<void> => {
  expect((await call("/dev/faults", buildJsonRequest({ database: "01", mode: "reset", for_ms }))).status).toBe(200);
};

beforeEach(async () => {
  await env.DB.batch([env.DB.prepare("DELETE FROM operator_alerts"), env.DB.prepare("DELETE FROM mail_outbox")]);
});

describe("the operator", () => {
  test("gets one email when work is overdue, another one after a day, and a last one when nothing is overdue", async () => {
    expect((await runJob()).subjects).toEqual([]);
    await addOverdueMail();
    const { sent, subjects } = await runJob();
    expect(subjects).toEqual(["Work is overdue (svc.test)"]);
    expect(sent[0]).toMatchObject({ to: "ops@acme-solar.example", from: base.config.mail.from });
    expect(sent[0]?.text).toContain("docs/operate/alerts/overdue-work.md");
    expect((await runJob()).subjects).toEqual([]);
    expect((await runJob({ aheadMs: dayMs + hourMs })).subjects).toEqual(["Work is overdue (svc.test)"]);
    await env.DB.prepare("DELETE FROM mail_outbox").run();
    expect((await runJob()).subjects).toEqual(["Ended: Work is overdue (svc.test)"]);
    expect((await runJob()).subjects).toEqual([]);
  });

  test("gets the email in the next run if the provider did not accept it", async () => {
    await addOverdueMail();
    expect((await runJob({ outcome: "later" })).faults).toEqual(["the email was not accepted: later"]);
    expect((await runJob()).subjects).toEqual(["Work is overdue (svc.test)"]);
  });

  test("gets an email while a shard does not respond, and learns only afterward that the alerts that it caused have ended", async () => {
    await addOverdueMail();
    expect((await runJob()).subjects).toEqual(["Work is overdue (svc.test)"]);
    await env.DB.prepare("DELETE FROM mail_outbox").run();
    await setFault(hourMs);
    try {
      expect((await runJob()).subjects).toEqual(["A database is not responding (svc.test)"]);
    } finally {
      await setFault(0);
    }
    expect((await runJob()).subjects).toEqual(["Ended: A database is not responding (svc.test)", "Ended: Work is overdue (svc.test)"]);
  });

  test("gets nothing without an address, but the figures are still logged", async () => {
    await addOverdueMail();
    const { subjects, metrics } = await runJob({ config: { ...base.config, alertEmail: null } });
    expect(subjects).toEqual([]);
    expect(metrics.map(({ metric }) => metric)).toEqual([
      "unavailable_shards",
      "overdue_work",
      "anchoring_delay",
      "full_shard",
      "failing_endpoints",
      "failed_mail",
    ]);
    expect(metrics.find(({ metric }) => metric === "overdue_work")?.value).toBeGreaterThan(overdueMinutes);
  });
});
