// Requests a timestamp for a checkpoint from a timestamping authority over HTTP (RFC 3161, section 3.4), and verifies the reply.
import { toBase64, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import type { RandomBytes } from "../../core/ids.ts";
import type { Attestor } from "../../core/ledger/attestor.ts";
import { encodeTimestampRequest, verifyTimestampToken, type TimestampPin } from "../../core/ledger/rfc3161.ts";
import { toIso, secondMs, type Clock } from "../../core/time.ts";
import { sendWithLimits, getMediaType, failureFromResponse, retryableFailure, type SendRequest } from "./exchange.ts";

export interface TimestampAuthority {
  readonly name: string;
  readonly url: string;
  readonly pins: readonly TimestampPin[];
}

const timeoutMs = 10 * secondMs;
const maxResponseBytes = 32 * 1_024; // a response with a chain of three RSA certificates takes about 6 KiB
const nonceBytes = 8;

/**
 * Creates an attestor for a timestamping authority. If the authority refuses the request with a status such as 400, the failure is
 * permanent. If a reply fails a check, the failure is retryable, and the retry uses a new nonce. A reply that is signed with an unpinned
 * key is stored as unverified: the authority may have changed its key, and another request would only get a later timestamp.
 */
export const createTimestampAttestor = (authority: TimestampAuthority, send: SendRequest, random: RandomBytes, clock: Clock): Attestor => ({
  kind: "rfc3161",
  name: authority.name,
  attest: async ({ note }, signal) => {
    const imprintBytes = encodeUtf8(note);
    const nonce = random(nonceBytes);
    const sentAt = clock();
    const headers = { "content-type": "application/timestamp-query", accept: "application/timestamp-reply" };
    const body = encodeTimestampRequest(sha256(imprintBytes), nonce);
    const sent = await sendWithLimits(
      send,
      authority.url,
      { method: "POST", headers, body },
      { timeoutMs, maxBytes: maxResponseBytes, signal },
    );
    if (!sent.ok) return sent;
    const { response } = sent;
    if (response.status !== 200 && response.status !== 201) return failureFromResponse(response, clock);
    if (getMediaType(response.headers) !== "application/timestamp-reply") return retryableFailure("answer_malformed");

    const window = { sentAt, receivedAt: clock() };
    const verdict = await verifyTimestampToken({ token: response.body, imprintBytes, pins: authority.pins, nonce, window }, crypto.subtle);
    if (!verdict.ok && verdict.fault !== "signer_not_pinned") return retryableFailure(verdict.fault);
    const { timestamp } = verdict;
    const attestation = {
      kind: "rfc3161",
      tsa: authority.name,
      time: toIso(timestamp.time),
      token: toBase64(response.body),
      spki_sha256: timestamp.spkiSha256,
    } as const;
    return { ok: true, attestation, verified: verdict.ok };
  },
});
