// Serves /stop/{share_id}, where people can stop a share without signing in. Emails link to this page. The link's token is in the URL
// fragment, which browsers do not send. The page script copies the token into the form, so only submitting the form sends it.
import { cutText } from "../../../core/cut-text.ts";
import { Hono, type Context } from "hono";
import { setCookie } from "hono/cookie";
import { parseShareId } from "../../../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { openNote, sealNote, type NoteScope } from "../../operations/access/sealed-notes.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import { ButtonLink, OptionalLabel, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../../../core/language.ts";
import { saveLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { noticePage, handlePageError, renderStorageUnavailable, ActionLink } from "../shared/notice-pages.tsx";
import { parseRateLimitedForm } from "../shared/form-handlers.ts";
import { formatDay, formatMessage, IconList, ConfirmCard } from "../shared/components.tsx";

const revokedCookie = "svc_stopped";
const revokedCookieMs = hourMs;

const revokeLinkPath = (c: Context<AppEnv>): string => `/stop/${c.req.param("id")}`;
/** Returns the path of the share's page in the account. */
const toSharePath = (path: string): string => path.replace(/^\/stop\//, "/app/shares/");
const revokedNoteScope = (c: Context<AppEnv>): NoteScope => ({ name: "stopped", owner: encodeURIComponent(c.req.param("id") ?? "") });

interface RevokePageData {
  readonly path: string;
  /** Set when the form is shown again after a refusal. */
  readonly token?: string;
  readonly reason?: string;
}

const revokeSharePage = (language: Language, { path, token, reason }: RevokePageData): Page => {
  const messages = sheetMessages[language];
  const { badReason, signIn, stop, stopWhy, stopWhyHintUnnamed } = appMessages[language];
  const signInLink = (
    <p>
      <ButtonLink href={toSharePath(path)}>{signIn}</ButtonLink>
    </p>
  );
  return {
    title: `${messages.stopTitle} · svc`,
    hasError: token !== undefined,
    script: "revoke-link.js",
    content: (
      <ConfirmCard>
        <h1>{messages.stopTitle}</h1>
        <IconList
          items={[
            ["ban", messages.stopIntro],
            ["archive", messages.stopKeeps],
          ]}
        />
        <form method="post" action={path} class="stack" id="stop-link" hidden={token === undefined}>
          <input type="hidden" name="token" value={token ?? ""} />
          <TextField
            id="reason"
            label={<OptionalLabel text={stopWhy} />}
            hint={stopWhyHintUnnamed}
            error={token === undefined ? undefined : badReason}
            maxlength={200}
            autocomplete="off"
            value={reason}
          />
          <SubmitButton>{stop}</SubmitButton>
        </form>
        {token === undefined && (
          <>
            <div id="stop-broken" class="stack" hidden>
              <p>{messages.stopBroken}</p>
              {signInLink}
            </div>
            <noscript>
              <p>{messages.stopNeedsScript}</p>
              {signInLink}
            </noscript>
          </>
        )}
      </ConfirmCard>
    ),
  };
};

const resultPage = (title: string, advice: string, link: string, href = "/app"): Page =>
  noticePage(title, advice, <ActionLink href={href} text={link} />);

/** Shows the same page for an invalid token and an unknown share, so that the page does not reveal which shares exist. */
const renderRevokeFailed = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 404, ({ language }) => {
    const { stopFailed, stopFailedAdvice } = sheetMessages[language];
    return resultPage(stopFailed, stopFailedAdvice, appMessages[language].signIn);
  });

/** Shown for a valid token, if the share expired or was superseded. Links to the share, which links to its replacement, if any. */
const renderEnded = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 409, ({ language }) => {
    const { stopEnded, stopEndedAdvice } = sheetMessages[language];
    return resultPage(stopEnded, stopEndedAdvice, appMessages[language].signIn, toSharePath(revokeLinkPath(c)));
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
        revokeSharePage(language, { path: revokeLinkPath(c), token, reason: cutText(reason, 300) }),
      );
    return revoked.code === "share_inactive" ? renderEnded(c) : renderRevokeFailed(c);
  }
  const sealed = await sealNote(services, revokedNoteScope(c), { ceaseBy: revoked.value.ceaseBy }, revokedCookieMs);
  setCookie(c, revokedCookie, sealed, { ...cookieOptions(c), maxAge: revokedCookieMs / secondMs });
  return c.redirect(`${revokeLinkPath(c)}/stopped`, 303);
};

/** Shows the result only in the browser that stopped the share. Redirects other browsers to the form. */
const renderRevoked = async (c: Context<AppEnv>): Promise<Response> => {
  saveLanguage(c);
  const note = await openNote<{ readonly ceaseBy: Instant }>(c.var.services, revokedNoteScope(c), findCookie(c, revokedCookie));
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
  pages.onError(handlePageError);
  app.route("/stop", pages);
};
