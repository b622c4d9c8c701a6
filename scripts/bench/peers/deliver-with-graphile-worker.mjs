// Delivers webhooks with graphile-worker: a task and a runner for each endpoint, five deliveries at a time. Expects DATABASE_URL and
// ENDPOINTS (JSON: name, url, secret).
import { Logger, run } from "graphile-worker";
import { Webhook } from "standardwebhooks";

const logger = new Logger(() => () => {});
for (const { name, url, secret } of JSON.parse(process.env.ENDPOINTS)) {
  const webhook = new Webhook(secret);
  const deliver = async (event) => {
    const body = JSON.stringify(event);
    const now = new Date();
    const headers = {
      "content-type": "application/json",
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": webhook.sign(event.id, now, body),
    };
    const answer = await fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(10_000) });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(String(answer.status));
  };
  const connectionString = process.env.DATABASE_URL;
  const options = { connectionString, noHandleSignals: true, pollInterval: 1_000, concurrency: 5, maxPoolSize: 6, logger };
  await run({ ...options, taskList: { [`deliver_${name}`]: deliver } });
}
console.log("READY");
