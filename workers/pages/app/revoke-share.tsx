// /stop/{share_id}: the link of a mail that stops a share, without signing in. Its token stands behind the `#`, where no server sees it:
// the page's script puts it into the form, and only the press of the button sends it. The page itself knows nothing of any share.
import { Hono, type Context } from "hono";
import { setCookie } from "hono/cookie";
import { parseShareId } from "../../../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { openNote, sealNote, type NoteScope } from "../../operations/access/sealed-notes.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import { ButtonLink, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import { saveLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { noticePage, handlePageError, renderStorageUnavailable, renderMethodNotAllowed } from "../shared/notice-pages.tsx";
import { parseRateLimitedForm } from "../shared/form-handlers.ts";
import { formatDay, formatMessage } from "../shared/components.tsx";

const revokedCookie = "svc_stopped";
const revokedCookieMs = hourMs;

const revokeLinkPath = (c: Context<AppEnv>): string => `/stop/${c.req.param("id")}`;
const revokedNotePlace = (c: Context<AppEnv>): NoteScope => ({ name: "stopped", owner: encodeURIComponent(c.req.param("id") ?? "") });

interface RevokePageData {
  readonly path: string;
  /** What a form sent that is shown again. */
  readonly token?: string;
  readonly reason?: string;
}

const revokeSharePage = (language: Language, { path, token, reason }: RevokePageData): Page => {
  const words = sheetMessages[language];
  const { badReason, signIn, stop, stopWhy } = appMessages[language];
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
            error={token === undefined ? undefined : badReason}
            maxlength={200}
            autocomplete="off"
            value={reason}
          />
          <SubmitButton>{stop}</SubmitButton>
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
const renderRevokeFailed = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 404, ({ language }) => {
    const { stopFailed, stopFailedAdvice } = sheetMessages[language];
    return resultPage(stopFailed, stopFailedAdvice, appMessages[language].signIn);
  });

const renderRevokeShare = (c: Context<AppEnv>): Promise<Response> => {
  saveLanguage(c);
  return renderPage(c, 200, ({ language }) => revokeSharePage(language, { path: revokeLinkPath(c) }));
};

const handleRevokeShare = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "REVOKE_LINK_PER_IP");
  if (form instanceof Response) return form;
  const { services, requestId } = c.var;
  const [token, reason] = [form.get("token") ?? "", form.get("reason") ?? ""];
  const revoked = await revokeShareByPerson(services, parseShareId(c.req.param("id") ?? ""), { token }, { reason, requestId });
  if (!revoked.ok) {
    c.set("refused", revoked.code);
    if (revoked.code === "storage_unavailable") return renderStorageUnavailable(c);
    if (revoked.code === "invalid_request")
      return renderPage(c, 400, ({ language }) =>
        revokeSharePage(language, { path: revokeLinkPath(c), token, reason: reason.slice(0, 300) }),
      );
    return renderRevokeFailed(c);
  }
  const sealed = await sealNote(services, revokedNotePlace(c), { ceaseBy: revoked.value.ceaseBy }, revokedCookieMs);
  setCookie(c, revokedCookie, sealed, { ...cookieOptions(c), maxAge: revokedCookieMs / secondMs });
  return c.redirect(`${revokeLinkPath(c)}/stopped`, 303);
};

/** To the browser that stopped it; anybody else is sent to the link's own page. */
const renderRevoked = async (c: Context<AppEnv>): Promise<Response> => {
  saveLanguage(c);
  const note = await openNote<{ readonly ceaseBy: Instant }>(c.var.services, revokedNotePlace(c), findCookie(c, revokedCookie));
  if (note === null) return c.redirect(revokeLinkPath(c), 303);
  return renderPage(c, 200, ({ language }) => {
    const { stopped: title, stoppedAdvice } = sheetMessages[language];
    return resultPage(title, formatMessage(stoppedAdvice, { date: formatDay(language, note.content.ceaseBy) }), appMessages[language].name);
  });
};

export const registerRevokeLinkRoutes = (app: Hono<AppEnv>): void => {
  const pages = new Hono<AppEnv>();
  pages.get("/:id", renderRevokeShare);
  pages.post("/:id", handleRevokeShare);
  pages.get("/:id/stopped", renderRevoked);
  pages.get("*", renderRevokeFailed);
  pages.all("*", renderMethodNotAllowed);
  pages.onError(handlePageError);
  app.route("/stop", pages);
};
