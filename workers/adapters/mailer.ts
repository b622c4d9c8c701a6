// Sends email through Cloudflare's Email Service or any provider that accepts JSON over HTTPS. Provider responses are not stored or logged,
// because they can contain the recipient's address.
import type { OutgoingMail, MailOutcome, Mailer } from "../../core/mail/message.ts";
import { secondMs } from "../../core/time.ts";
import { sendWithLimits, failureFromResponse, type SendRequest } from "./exchange.ts";

const sendTimeoutMs = 10 * secondMs;

/** The subset of Cloudflare's email binding that this service uses. */
export interface EmailBinding {
  send(mail: Omit<OutgoingMail, "id">): Promise<unknown>;
}

/** Errors that a retry cannot fix: the address does not accept email, or the message is invalid. */
const permanentErrorCodes: ReadonlySet<unknown> = new Set(["E_RECIPIENT_SUPPRESSED", "E_RECIPIENT_NOT_ALLOWED", "E_VALIDATION_ERROR"]);

const outcomeFromError = (error: unknown): MailOutcome =>
  permanentErrorCodes.has((error as { readonly code?: unknown } | null)?.code) ? "refused" : "later";

export const createBindingMailer = (binding: EmailBinding): Mailer => ({
  send: async ({ from, to, subject, text, html }) => {
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
  },
});

const maxResponseBytes = 65_536; // the response is received but not read

export const createHttpMailer = (
  provider: { readonly url: string; readonly token: string },
  send: SendRequest = (request) => fetch(request),
): Mailer => ({
  send: async ({ id, from, to, subject, text, html }: OutgoingMail) => {
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
    const { status } = sent.answer;
    if (status >= 200 && status < 300) return "accepted";
    if (status < 400 || status === 401 || status === 403) return "later"; // a redirect, a wrong token or a wrong sender: an operator must fix the settings, and the email stays queued
    return failureFromResponse(sent.answer, () => 0).kind === "permanent" ? "refused" : "later";
  },
});
