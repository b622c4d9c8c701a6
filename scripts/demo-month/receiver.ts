// The simulated receivers of the demo's webhooks. One of them fails for an hour.
import { sha256 } from "../../core/hash.ts";
import { hourMs, type Instant } from "../../core/time.ts";
import type { PostWebhook } from "../../workers/adapters/webhook-sender.ts";
import { getOutageStart } from "./calendar.ts";

/** URLs of the receivers. Once the service runs, the local runtime forwards requests for these URLs to the demo website (demo-site.ts). */
export const receiverUrls = {
  crm: "https://crm.acme-solar.example/webhooks/crm",
  dialer: "https://dialer.acme-solar.example/webhooks/dialer",
} as const;

const accepted = {
  status: 200,
  response: { headers: [["content-type", "application/json"]], body: '{"received":true}', isCut: false },
} as const;

const unavailable = {
  status: 503,
  response: {
    headers: [
      ["content-type", "text/plain"],
      ["retry-after", "120"],
    ],
    body: "The CRM is being updated. Try again later.",
    isCut: false,
  },
} as const;

interface SimulatedTime {
  readonly clock: () => Instant;
  readonly advance: (ms: number) => void;
}

/** Returns a simulated receiver. It responds according to the simulated time, and advances that time by the duration of each request. */
export const receiveWebhook = (present: Instant, { clock, advance }: SimulatedTime): PostWebhook => {
  const outage = getOutageStart(present);
  const isDown = (url: string): boolean => url === receiverUrls.crm && clock() >= outage && clock() < outage + hourMs;
  return async ({ url, body }) => {
    const isFailing = isDown(url);
    const durationMs = (isFailing ? 900 : 40) + (sha256(body)[0] as number); // the hash makes the duration differ between events
    advance(durationMs);
    const reply = isFailing ? unavailable : accepted;
    return { kind: "answered", durationMs, ...reply };
  };
};
