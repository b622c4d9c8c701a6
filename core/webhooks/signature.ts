// Signs the exact bytes of a delivery's body in two formats. In our own format, the key is the whole secret, as text. In the format of the
// Standard Webhooks libraries, the key is the 32 bytes that the secret encodes.
import { toBase64, fromBase64, toHex, encodeUtf8 } from "../bytes.ts";
import { hmacSha256 } from "../hash.ts";
import type { Instant } from "../time.ts";

const secretPrefix = "whsec_";

export const secretLength = 32;

export const formatWebhookSecret = (bytes: Uint8Array): string => secretPrefix + toBase64(bytes);

/** Returns `whsec_…` and the last four characters, which is enough to tell secrets apart. */
export const formatSecretHint = (secret: string): string => `${secretPrefix}…${secret.slice(-4)}`;

/** Returns the header value `t=<unix seconds>,v1=<hex>`, with one `v1` per secret. */
const computeSvcSignature = (secrets: readonly string[], seconds: number, body: string): string =>
  [`t=${seconds}`, ...secrets.map((secret) => `v1=${toHex(hmacSha256(encodeUtf8(secret), `${seconds}.${body}`))}`)].join(",");

/** Returns the header value `v1,<base64>`, once for each secret, separated by spaces. */
const computeStandardSignature = (secrets: readonly string[], id: string, seconds: number, body: string): string =>
  secrets
    .flatMap((secret) => fromBase64(secret.slice(secretPrefix.length)) ?? [])
    .map((key) => `v1,${toBase64(hmacSha256(key, `${id}.${seconds}.${body}`))}`)
    .join(" ");

export interface DeliveryToSign {
  readonly event: { readonly id: string; readonly type: string };
  readonly deliveryId: string;
  readonly attempt: number;
  readonly body: string;
  /** The current secret, followed during a rotation by the earlier one. */
  readonly secrets: readonly string[];
  readonly now: Instant;
}

/** Returns all headers of a delivery. Their values contain no external input. */
export const buildDeliveryHeaders = ({
  event,
  deliveryId,
  attempt,
  body,
  secrets,
  now,
}: DeliveryToSign): Readonly<Record<string, string>> => {
  const seconds = Math.floor(now / 1_000);
  return {
    "Content-Type": "application/json",
    "User-Agent": "Svc-Webhooks/1",
    "Svc-Signature": computeSvcSignature(secrets, seconds, body),
    "Svc-Event-Id": event.id,
    "Svc-Event-Type": event.type,
    "Svc-Delivery-Id": deliveryId,
    "Svc-Attempt": String(attempt),
    "webhook-id": event.id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": computeStandardSignature(secrets, event.id, seconds, body),
  };
};
