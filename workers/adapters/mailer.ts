// Sends email through Cloudflare's Email Service or any provider that accepts JSON over HTTPS. Never stores or logs provider responses,
// because they can contain the recipient's address.
import { toMailboxAddress } from "../../core/email-address.ts";
import type { MailCapabilities, MailOutcome, Mailer, OutgoingMail } from "../../core/mail/message.ts";
import { secondMs } from "../../core/time.ts";
import { sendWithLimits, failureFromResponse, type SendRequest } from "./exchange.ts";

const sendTimeoutMs = 10 * secondMs;

/** The subset of Cloudflare's email binding that this service uses. */
export interface EmailBinding {
  send(mail: Omit<OutgoingMail, "id">): Promise<unknown>;
}

/**
 * Wraps `send`: converts the domains in an email's addresses to punycode, and returns `unsupported_address` if the provider does not
 * support the recipient's address. Some providers accept an email to an address that they do not support, and lose it later.
 */
const sendWithPlainAddresses =
  (send: Mailer["send"], { supportsUtf8Addresses }: MailCapabilities): Mailer["send"] =>
  async (mail) => {
    const to = toMailboxAddress(mail.to);
    if (!to.isAscii && !supportsUtf8Addresses) return "unsupported_address";
    return send({ ...mail, to: to.address, from: toMailboxAddress(mail.from).address });
  };

/** Errors that a retry cannot fix: the address does not accept email, or the message is invalid. */
const permanentErrorCodes: ReadonlySet<unknown> = new Set([
  "E_RECIPIENT_SUPPRESSED",
  "E_RECIPIENT_NOT_ALLOWED",
  "E_VALIDATION_ERROR",
  "E_FIELD_MISSING",
  "E_CONTENT_TOO_LARGE",
]);

const outcomeFromError = (error: unknown): MailOutcome =>
  permanentErrorCodes.has((error as { readonly code?: unknown } | null)?.code) ? "refused" : "later";

export const createBindingMailer = (binding: EmailBinding, capabilities: MailCapabilities): Mailer => ({
  send: sendWithPlainAddresses(async ({ from, to, subject, text, html }) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<MailOutcome>((resolve) => {
      timer = setTimeout(() => resolve("later"), sendTimeoutMs);
    });
    try {
      return await Promise.race([
        binding.send({ from, to, subject, text, html }).then((): MailOutcome => "accepted", outcomeFromError),
        timeout,
      ]);
    } finally {
      clearTimeout(timer);
    }
  }, capabilities),
});

const maxResponseBytes = 65_536; // the response must be read to the end, but its content is not used

/** Errors that an operator must fix: a wrong token, URL or sender, or an unpaid account. The email stays queued. */
const operatorFaults: ReadonlySet<number> = new Set([401, 402, 403, 404, 405]);

/** The provider may still be processing an earlier request with the same idempotency key. */
const idempotencyConflict = 409;

export const createHttpMailer = (
  provider: { readonly url: string; readonly token: string } & MailCapabilities,
  send: SendRequest = (request) => fetch(request),
): Mailer => ({
  send: sendWithPlainAddresses(async ({ id, from, to, subject, text, html }) => {
    const sent = await sendWithLimits(
      send,
      provider.url,
      {
        method: "POST",
        headers: { authorization: `Bearer ${provider.token}`, "content-type": "application/json", "idempotency-key": id },
        body: JSON.stringify({ from, to, subject, text, html }),
      },
      { timeoutMs: sendTimeoutMs, maxBytes: maxResponseBytes },
    );
    if (!sent.ok) return "later";
    const { status } = sent.response;
    if (status >= 200 && status < 300) return "accepted";
    if (status < 400 || status === idempotencyConflict || operatorFaults.has(status)) return "later";
    return failureFromResponse(sent.response, () => 0).kind === "permanent" ? "refused" : "later";
  }, provider),
});
