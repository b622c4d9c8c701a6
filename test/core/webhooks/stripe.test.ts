// An independent verifier that half the world's receivers already run accepts our signature as it is, and refuses the rest.
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import { buildDeliveryHeaders, formatWebhookSecret } from "../../../core/webhooks/signature.ts";

const { webhooks } = new Stripe("sk_test_unused");
const secret = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + 5) % 256));
const earlier = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => (at * 11 + 3) % 256));
const body = '{"id":"7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11","type":"consumer.updated.name","data":{"first_name":"Zoë 🎈 \u2028"},"seq":7}';

const signature = (now: number, secrets: readonly string[] = [secret]): string =>
  buildDeliveryHeaders({ event: { id: "e", type: "t" }, deliveryId: "d", attempt: 1, body, secrets, now })["Svc-Signature"] as string;

describe("stripe's own verifier", () => {
  test("W20: accepts our signature over the raw body, and both during a rotation", () => {
    const now = Date.now();
    expect(webhooks.constructEvent(body, signature(now), secret)).toMatchObject({ type: "consumer.updated.name" });
    expect(webhooks.constructEvent(Buffer.from(body), signature(now), secret)).toMatchObject({ data: { first_name: "Zoë 🎈 \u2028" } });
    for (const one of [secret, earlier]) {
      expect(webhooks.constructEvent(body, signature(now, [secret, earlier]), one)).toMatchObject({ seq: 7 });
    }
  });

  test("refuses another body, another secret and a signature of ten minutes ago", () => {
    const now = Date.now();
    expect(() => webhooks.constructEvent(`${body} `, signature(now), secret)).toThrow(/signature/i);
    expect(() => webhooks.constructEvent(body, signature(now), earlier)).toThrow(/signature/i);
    expect(() => webhooks.constructEvent(body, signature(now - 600_000), secret)).toThrow(/tolerance/i);
  });
});
