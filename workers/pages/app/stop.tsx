// /stop/{share_id}: the link of a mail that stops a share, without signing in. Its token stands behind the `#`, where no server sees it:
// the page's script puts it into the form, and only the press of the button sends it. The page itself knows nothing of any share.
import { Hono, type Context } from "hono";
import { setCookie } from "hono/cookie";
import { shareIdOf } from "../../../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { openNote, sealNote, type NotePlace } from "../../operations/access/sealed-notes.ts";
import { revokeByPerson } from "../../operations/shares/revoke.ts";
import { ButtonLink, Submit, TextField } from "../shared/forms.tsx";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import { keepLanguage, pageAnswer, type Page } from "../shared/layout.tsx";
import { noticePage, onPageFault, outagePage, readOnlyPage } from "../shared/notices.tsx";
import { postedForm } from "../shared/own-form.ts";
import { dayIn, filled } from "../shared/parts.tsx";

const stoppedCookie = "svc_stopped";
const stoppedMs = hourMs;

const pathOf = (c: Context<Api>): string => `/stop/${c.req.param("id")}`;
const placeOf = (c: Context<Api>): NotePlace => ({ name: "stopped", owner: encodeURIComponent(c.req.param("id") ?? "") });

interface Asked {
  readonly path: string;
  /** What a form sent that is shown again. */
  readonly token?: string;
  readonly reason?: string;
}

const stopPage = (language: Language, { path, token, reason }: Asked): Page => {
  const words = sheetWords[language];
  const { badReason, signIn, stop, stopWhy } = appWords[language];
  const toSignIn = (
    <p>
      <ButtonLink href={path.replace(/^\/stop\//, "/app/shares/")}>{signIn}</ButtonLink>
    </p>
  );
  return {
    title: `${words.stopTitle} · svc`,
    isFaulty: token !== undefined,
    script: "stop-link.js",
    content: (
      <article class="step">
        <div>
          <h1>{words.stopTitle}</h1>
          <p>{words.stopIntro}</p>
          <p>{words.stopKeeps}</p>
        </div>
        <form method="post" action={path} class="form" id="stop-link" hidden={token === undefined}>
          <input type="hidden" name="token" value={token ?? ""} />
          <TextField
            id="reason"
            label={stopWhy}
            fault={token === undefined ? undefined : badReason}
            maxlength={200}
            autocomplete="off"
            value={reason}
          />
          <Submit>{stop}</Submit>
        </form>
        {token === undefined && (
          <>
            <div id="stop-broken" hidden>
              <p>{words.stopBroken}</p>
              {toSignIn}
            </div>
            <noscript>
              <p>{words.stopNeedsScript}</p>
              {toSignIn}
            </noscript>
          </>
        )}
      </article>
    ),
  };
};

/** What came of it, and the way to the app. */
const resultPage = (title: string, advice: string, link: string): Page =>
  noticePage(
    title,
    advice,
    <p>
      <ButtonLink href="/app">{link}</ButtonLink>
    </p>,
  );

/** One page for a wrong link, no share and one that ended otherwise. */
const failed = (c: Context<Api>): Promise<Response> =>
  pageAnswer(c, 404, ({ language }) => {
    const { stopFailed, stopFailedAdvice } = sheetWords[language];
    return resultPage(stopFailed, stopFailedAdvice, appWords[language].signIn);
  });

const show = (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  return pageAnswer(c, 200, ({ language }) => stopPage(language, { path: pathOf(c) }));
};

const stop = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "REVOKE_LINK_PER_IP");
  if (form instanceof Response) return form;
  const { services, requestId } = c.var;
  const [token, reason] = [form.get("token") ?? "", form.get("reason") ?? ""];
  const revoked = await revokeByPerson(services, shareIdOf(c.req.param("id") ?? ""), { token }, { reason, requestId });
  if (!revoked.ok) {
    c.set("refused", revoked.code);
    if (revoked.code === "storage_unavailable") return outagePage(c);
    if (revoked.code === "invalid_request")
      return pageAnswer(c, 400, ({ language }) => stopPage(language, { path: pathOf(c), token, reason: reason.slice(0, 300) }));
    return failed(c);
  }
  const sealed = await sealNote(services, placeOf(c), { ceaseBy: revoked.value.ceaseBy }, stoppedMs);
  setCookie(c, stoppedCookie, sealed, { ...cookieOptions(c), maxAge: stoppedMs / secondMs });
  return c.redirect(`${pathOf(c)}/stopped`, 303);
};

/** To the browser that stopped it; anybody else is sent to the link's own page. */
const stopped = async (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  const note = await openNote<{ readonly ceaseBy: Instant }>(c.var.services, placeOf(c), cookieOf(c, stoppedCookie));
  if (note === null) return c.redirect(pathOf(c), 303);
  return pageAnswer(c, 200, ({ language }) => {
    const { stopped: title, stoppedAdvice } = sheetWords[language];
    return resultPage(title, filled(stoppedAdvice, { date: dayIn(language, note.content.ceaseBy) }), appWords[language].name);
  });
};

export const mountStop = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  pages.get("/:id", show);
  pages.post("/:id", stop);
  pages.get("/:id/stopped", stopped);
  pages.get("*", failed);
  pages.all("*", readOnlyPage);
  pages.onError(onPageFault);
  app.route("/stop", pages);
};
