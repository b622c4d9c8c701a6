// The two ways a mail leaves: Cloudflare's Email Service through its binding, or any provider that takes JSON over HTTPS.
// What a provider says in its answer is not kept: it can repeat the address.
import type { MailMessage, MailOutcome, Mailer } from "../../core/mail/message.ts";
import { secondMs } from "../../core/time.ts";
import { exchange, refusedBy, type SendRequest } from "./exchange.ts";

const maxMs = 10 * secondMs;

/** As much of the binding as is used here. */
export interface SendsEmail {
  send(mail: Omit<MailMessage, "id">): Promise<unknown>;
}

/** Sending these again changes nothing: the address refuses mail, or the mail itself is refused. */
const permanentCodes: ReadonlySet<unknown> = new Set(["E_RECIPIENT_SUPPRESSED", "E_RECIPIENT_NOT_ALLOWED", "E_VALIDATION_ERROR"]);

const outcomeOfFault = (error: unknown): MailOutcome =>
  permanentCodes.has((error as { readonly code?: unknown } | null)?.code) ? "refused" : "later";

export const bindingMailer = (binding: SendsEmail): Mailer => ({
  send: async ({ from, to, subject, text, html }) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tooLong = new Promise<MailOutcome>((resolve) => {
      timer = setTimeout(() => resolve("later"), maxMs);
    });
    try {
      return await Promise.race([
        binding.send({ from, to, subject, text, html }).then((): MailOutcome => "accepted", outcomeOfFault),
        tooLong,
      ]);
    } finally {
      clearTimeout(timer);
    }
  },
});

const maxAnswerBytes = 65_536; // it is dropped unread, but has to be received

export const httpMailer = (
  provider: { readonly url: string; readonly token: string },
  send: SendRequest = (request) => fetch(request),
): Mailer => ({
  send: async ({ id, from, to, subject, text, html }: MailMessage) => {
    const asked = await exchange(
      send,
      provider.url,
      {
        method: "POST",
        headers: { authorization: `Bearer ${provider.token}`, "content-type": "application/json", "idempotency-key": id },
        body: JSON.stringify({ from, to, subject, text, html }),
      },
      { withinMs: maxMs, maxBytes: maxAnswerBytes },
    );
    if (!asked.ok) return "later";
    const { status } = asked.answer;
    if (status >= 200 && status < 300) return "accepted";
    if (status < 400 || status === 401 || status === 403) return "later"; // our address or token is wrong: a person has to look, the mail waits
    return refusedBy(asked.answer, () => 0).kind === "permanent" ? "refused" : "later";
  },
});
