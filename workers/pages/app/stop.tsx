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
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import { keepLanguage, pageAnswer, type Page } from "../shared/layout.tsx";
import { onPageFault, outagePage, readOnlyPage } from "../shared/notices.tsx";
import { postedForm } from "../shared/own-form.ts";
import { dayIn, FieldFault, filled, type Setting } from "../shared/parts.tsx";

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

const stopPage = (setting: Setting, { path, token, reason }: Asked): Page => {
  const { language } = setting;
  const words = sheetWords[language];
  const fault = token === undefined ? undefined : appWords[language].badReason;
  const signIn = (
    <a class="button" href={path.replace(/^\/stop\//, "/app/shares/")}>
      {appWords[language].signIn}
    </a>
  );
  return {
    title: `${fault === undefined ? "" : `${words.error} `}${words.stopTitle} · svc`,
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
          <label for="reason">{words.stopWhy}</label>
          {fault !== undefined && <FieldFault text={fault} word={words.error} />}
          <input
            id="reason"
            name="reason"
            type="text"
            maxlength={200}
            autocomplete="off"
            value={reason}
            aria-describedby={fault === undefined ? undefined : "fault"}
            aria-invalid={fault === undefined ? undefined : "true"}
          />
          <button type="submit" class="primary">
            {words.stop}
          </button>
        </form>
        {token === undefined && (
          <>
            <div id="stop-broken" hidden>
              <p>{words.stopBroken}</p>
              <p>{signIn}</p>
            </div>
            <noscript>
              <p>{words.stopNeedsScript}</p>
              <p>{signIn}</p>
            </noscript>
          </>
        )}
      </article>
    ),
  };
};

const resultPage = (setting: Setting, ceaseBy: Instant): Page => {
  const words = sheetWords[setting.language];
  return {
    title: `${words.stopped} · svc`,
    content: (
      <article class="notice-page">
        <h1>{words.stopped}</h1>
        <p>{filled(words.stoppedAdvice, { date: dayIn(setting.language, ceaseBy) })}</p>
        <p>
          <a class="button" href="/app">
            {appWords[setting.language].name}
          </a>
        </p>
      </article>
    ),
  };
};

const failedPage = (setting: Setting): Page => {
  const words = sheetWords[setting.language];
  return {
    title: `${words.stopFailed} · svc`,
    content: (
      <article class="notice-page">
        <h1>{words.stopFailed}</h1>
        <p>{words.stopFailedAdvice}</p>
        <p>
          <a class="button" href="/app">
            {appWords[setting.language].signIn}
          </a>
        </p>
      </article>
    ),
  };
};

const show = (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  return pageAnswer(c, 200, (setting) => stopPage(setting, { path: pathOf(c) }));
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
      return pageAnswer(c, 400, (setting) => stopPage(setting, { path: pathOf(c), token, reason: reason.slice(0, 300) }));
    return pageAnswer(c, 404, failedPage); // one page for a wrong link, no share and one that ended otherwise
  }
  const sealed = await sealNote(services, placeOf(c), { ceaseBy: revoked.value.ceaseBy }, stoppedMs);
  setCookie(c, stoppedCookie, sealed, { ...cookieOptions(c), maxAge: stoppedMs / secondMs });
  return c.redirect(`${pathOf(c)}/stopped`, 303);
};

/** To the browser that stopped it; anybody else is sent to the link's own page. */
const stopped = async (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  const note = await openNote<{ readonly ceaseBy: Instant }>(c.var.services, placeOf(c), cookieOf(c, stoppedCookie));
  return note === null ? c.redirect(pathOf(c), 303) : pageAnswer(c, 200, (setting) => resultPage(setting, note.content.ceaseBy));
};

export const mountStop = (app: Hono<Api>): void => {
  const pages = new Hono<Api>();
  pages.get("/:id", show);
  pages.post("/:id", stop);
  pages.get("/:id/stopped", stopped);
  pages.get("*", (c) => pageAnswer(c, 404, failedPage));
  pages.all("*", readOnlyPage);
  pages.onError(onPageFault);
  app.route("/stop", pages);
};
