// Tests that Stripe's verifier, an independent implementation, accepts the service's signatures.
import Stripe from "stripe";
import { describe, expect, test } from "vitest";
import { buildDeliveryHeaders, formatWebhookSecret } from "../../../core/webhooks/signature.ts";

const { webhooks } = new Stripe("sk_test_unused");
const secret = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + 5) % 256));
const earlier = formatWebhookSecret(Uint8Array.from({ length: 32 }, (_, at) => (at * 11 + 3) % 256));
const body = '{"id":"7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11","type":"consumer.updated.name","data":{"first_name":"Zoë 🎈 \u2028"},"seq":7}';

const createSignature = (now: number, secrets: readonly string[] = [secret]): string =>
  buildDeliveryHeaders({ event: { id: "e", type: "t" }, deliveryId: "d", attempt: 1, body, secrets, now })["Svc-Signature"] as string;

describe("the Stripe verifier", () => {
  test("accepts our signature over the raw body, and both signatures during a rotation", () => {
    const now = Date.now();
    expect(webhooks.constructEvent(body, createSignature(now), secret)).toMatchObject({ type: "consumer.updated.name" });
    expect(webhooks.constructEvent(Buffer.from(body), createSignature(now), secret)).toMatchObject({
      data: { first_name: "Zoë 🎈 \u2028" },
    });
    for (const one of [secret, earlier]) {
      expect(webhooks.constructEvent(body, createSignature(now, [secret, earlier]), one)).toMatchObject({ seq: 7 });
    }
  });

  test("refuses another body, another secret and a signature that is ten minutes old", () => {
    const now = Date.now();
    expect(() => webhooks.constructEvent(`${body} `, createSignature(now), secret)).toThrow(/signature/i);
    expect(() => webhooks.constructEvent(body, createSignature(now), earlier)).toThrow(/signature/i);
    expect(() => webhooks.constructEvent(body, createSignature(now - 600_000), secret)).toThrow(/tolerance/i);
  });
});
