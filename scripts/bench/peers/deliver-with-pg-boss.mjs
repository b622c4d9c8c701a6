// Delivers webhooks with pg-boss. Each endpoint has its own queue. Jobs are fetched in batches of ten, and the next batch is fetched
// immediately if a batch was full. Jobs succeed or fail individually. Expects DATABASE_URL and ENDPOINTS (JSON: name, url, secret).
import { PgBoss } from "pg-boss";
import { Webhook } from "standardwebhooks";

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 10, useListenNotify: true });
boss.on("error", (error) => console.error(error.message));
await boss.start();
for (const { name, url, secret } of JSON.parse(process.env.ENDPOINTS)) {
  const webhook = new Webhook(secret);
  const deliver = async ({ id, data }) => {
    const body = JSON.stringify(data);
    const now = new Date();
    const headers = {
      "content-type": "application/json",
      "webhook-id": data.id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": webhook.sign(data.id, now, body),
    };
    try {
      const answer = await fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(10_000) });
      await answer.arrayBuffer();
      return { id, status: answer.ok ? "completed" : "failed", output: { status: answer.status } };
    } catch (error) {
      return { id, status: "failed", output: { message: error.message } };
    }
  };
  const how = { localConcurrency: 2, batchSize: 10, burstWhenBatchFull: true, perJobResults: true, notifyPollingIntervalSeconds: 2 };
  await boss.work(name, how, (jobs) => Promise.all(jobs.map(deliver)));
}
console.log("READY");
