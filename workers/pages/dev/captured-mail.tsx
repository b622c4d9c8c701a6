// GET /dev/mail: the emails that development captured instead of sending, as JSON or as a page. Mounted in development only.
import type { Context, Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { toIso } from "../../../core/time.ts";
import { renderPage } from "../shared/layout.tsx";

const renderCapturedMail = async (c: Context<AppEnv>): Promise<Response> => {
  const to = c.req.query("to") ?? null;
  const mails = await c.var.services.getMailbox(to === "" ? null : to);
  if (!(c.req.header("accept") ?? "").includes("text/html")) {
    return c.json({ messages: mails.map(({ sentAt, ...mail }) => ({ ...mail, sent_at: toIso(sentAt) })) });
  }
  return renderPage(c, 200, () => ({
    title: "Captured mail",
    onlyLanguage: "en",
    content: (
      <article>
        <h1>Captured mail</h1>
        <p>Nothing leaves this machine: what would have been sent is here, the newest first.</p>
        {mails.length === 0 && <p>There is none.</p>}
        {mails.map((mail) => (
          <section>
            <h2>{mail.subject}</h2>
            <p class="quiet">
              To {mail.to}, {toIso(mail.sentAt)}
            </p>
            <pre>{mail.text}</pre>
          </section>
        ))}
      </article>
    ),
  }));
};

export const registerCapturedMailRoutes = (app: Hono<AppEnv>): void => {
  app.get("/dev/mail", renderCapturedMail);
};
