// The two ways a mail leaves: Cloudflare's Email Service through its binding, or any provider that takes JSON over HTTPS.
// What a provider says in its answer is not kept: it can repeat the address.
import type { OutgoingMail, MailOutcome, Mailer } from "../../core/mail/message.ts";
import { secondMs } from "../../core/time.ts";
import { sendWithLimits, failureFromResponse, type SendRequest } from "./exchange.ts";

const sendTimeoutMs = 10 * secondMs;

/** As much of the binding as is used here. */
export interface EmailBinding {
  send(mail: Omit<OutgoingMail, "id">): Promise<unknown>;
}

/** Sending these again changes nothing: the address refuses mail, or the mail itself is refused. */
const permanentErrorCodes: ReadonlySet<unknown> = new Set(["E_RECIPIENT_SUPPRESSED", "E_RECIPIENT_NOT_ALLOWED", "E_VALIDATION_ERROR"]);

const outcomeFromError = (error: unknown): MailOutcome =>
  permanentErrorCodes.has((error as { readonly code?: unknown } | null)?.code) ? "refused" : "later";

export const createBindingMailer = (binding: EmailBinding): Mailer => ({
  send: async ({ from, to, subject, text, html }) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLong = new Promise<MailOutcome>((resolve) => {
      timer = setTimeout(() => resolve("later"), sendTimeoutMs);
    });
    try {
      return await Promise.race([
        binding.send({ from, to, subject, text, html }).then((): MailOutcome => "accepted", outcomeFromError),
        tooLong,
      ]);
    } finally {
      clearTimeout(timer);
    }
  },
});

const maxResponseBytes = 65_536; // it is dropped unread, but has to be received

export const createHttpMailer = (
  provider: { readonly url: string; readonly token: string },
  send: SendRequest = (request) => fetch(request),
): Mailer => ({
  send: async ({ id, from, to, subject, text, html }: OutgoingMail) => {
    const asked = await sendWithLimits(
      send,
      provider.url,
      {
        method: "POST",
        headers: { authorization: `Bearer ${provider.token}`, "content-type": "application/json", "idempotency-key": id },
        body: JSON.stringify({ from, to, subject, text, html }),
      },
      { timeoutMs: sendTimeoutMs, maxBytes: maxResponseBytes },
    );
    if (!asked.ok) return "later";
    const { status } = asked.answer;
    if (status >= 200 && status < 300) return "accepted";
    if (status < 400 || status === 401 || status === 403) return "later"; // our address or token is wrong: a person has to look, the mail waits
    return failureFromResponse(asked.answer, () => 0).kind === "permanent" ? "refused" : "later";
  },
});
