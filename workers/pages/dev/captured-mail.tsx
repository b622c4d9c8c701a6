// Shows the emails that are captured in development instead of being sent. /dev/mail lists them as JSON or as a page, and /dev/mail/{id}
// shows the HTML body of one email. These routes exist in development only.
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
    title: "Captured email",
    onlyLanguage: "en",
    content: (
      <article>
        <h1>Captured email</h1>
        <p>Emails are stored here instead of being sent, newest first.</p>
        {mails.length === 0 && <p>No emails yet. Sign in or withdraw consent to get one.</p>}
        {mails.map((mail) => (
          <section>
            <h2>{mail.subject}</h2>
            <p class="quiet">
              To {mail.to}, {toIso(mail.sentAt)}
            </p>
            <p>
              <a href={`/dev/mail/${mail.id}`}>View as HTML</a>
            </p>
            <figure class="code">
              <pre class="wrapped">{mail.text}</pre>
            </figure>
          </section>
        ))}
      </article>
    ),
  }));
};

/** Shows the HTML body as an email program does: with inline styles, but without scripts and remote files. */
const renderHtmlBody = async (c: Context<AppEnv>): Promise<Response> => {
  const mail = (await c.var.services.getMailbox(null)).find(({ id }) => id === c.req.param("id"));
  if (mail === undefined) return c.notFound();
  c.header(
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  return c.html(mail.html);
};

export const registerCapturedMailRoutes = (app: Hono<AppEnv>): void => {
  app.get("/dev/mail", renderCapturedMail);
  app.get("/dev/mail/:id", renderHtmlBody);
};
