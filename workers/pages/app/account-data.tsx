// /app/export and /app/delete: taking everything along, and leaving nothing behind.
import type { Context, Hono } from "hono";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { toIso } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { deleteAccount } from "../../operations/consumers/delete-account.ts";
import { exportAccount, type AccountExport } from "../../operations/consumers/export-account.ts";
import { getProfile } from "../../operations/consumers/get-profile.ts";
import type { Services } from "../../services.ts";
import { ButtonLink, ConfirmActions, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { accountMessages } from "../i18n/account.ts";
import { renderPage, type Page } from "../shared/layout.tsx";
import { noticePage, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { formatDay, formatMessage, formatNumber, BulletList } from "../shared/components.tsx";
import { getAccountMessages, appPage, PostForm, type AppView } from "./components.tsx";
import { hasRecentProof } from "./reauthenticate.tsx";
import {
  authenticatedAction,
  renderAppPage,
  checkPersonLimit,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

/** The file, as the API answers it too. */
export type ExportFormatter = (account: AccountExport, tokens: readonly AgentToken[], services: Services) => object;

const exportPage = (view: AppView): Page => {
  const { export: words } = getAccountMessages(view);
  return appPage(
    view,
    { tab: "account", section: "export", title: words.title },
    <>
      <p>{words.intro}</p>
      <BulletList of={words.holds} />
      <PostForm action="/app/export">
        <p class="quiet">{words.format}</p>
        <SubmitButton>{words.title}</SubmitButton>
      </PostForm>
    </>,
  );
};

const handleExport =
  (exportFile: ExportFormatter) =>
  async (visit: AppFormRequest): Promise<Response> => {
    const { c, services, person, session } = visit;
    const crowded = await checkPersonLimit(visit, "EXPORTS");
    if (crowded !== null) return crowded;
    const [exported, tokens] = await Promise.all([exportAccount(services, person), listAgentTokens(services, session)]);
    if (!exported.ok) return exported.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app", 303);
    c.header("Content-Disposition", `attachment; filename="svc-export-${toIso(exported.value.at).slice(0, 10)}.json"`);
    return c.json(exportFile(exported.value, tokens, services), 200);
  };

interface DeletionState {
  readonly activeShares: number;
  readonly hasRecentProof: boolean;
  readonly typed?: string;
  readonly fault?: string;
}

const deleteAccountPage = (view: AppView, { activeShares, hasRecentProof: mayDelete, typed, fault }: DeletionState): Page => {
  const { deletion: words } = getAccountMessages(view);
  const stopped = activeShares === 0 ? words.endsNone : activeShares === 1 ? words.endsOne : words.endsMany;
  const ends = { count: formatNumber(activeShares, view.language), date: formatDay(view.language, getCeaseDeadline(view.now)) };
  return appPage(
    view,
    { tab: "account", section: "delete", title: words.title, isFaulty: fault !== undefined },
    <>
      <h2>{words.ends}</h2>
      <BulletList of={[formatMessage(stopped, ends), words.signedOut]} />
      <h2>{words.erased}</h2>
      <p>{words.erasedList}</p>
      <h2>{words.stays}</h2>
      <ul class="names">
        <li>
          {words.staysCertificates} <a href="/app">{view.messages.backToList}</a>
        </li>
        <li>{words.staysHashes}</li>
      </ul>
      {mayDelete ? (
        <PostForm action="/app/delete">
          <TextField
            id="confirm"
            label={formatMessage(words.type, { word: words.word })}
            error={fault}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            maxlength={40}
            required
            value={typed}
          />
          <ConfirmActions back="/app/account" keep={words.keep} go={words.title} />
        </PostForm>
      ) : (
        <>
          <p>{words.proveFirst}</p>
          <p class="choices">
            <ButtonLink href="/app/account">{words.keep}</ButtonLink>
            <ButtonLink href="/app/prove/delete">{words.goOn}</ButtonLink>
          </p>
        </>
      )}
    </>,
  );
};

const loadDeletionState = async (visit: AppRequest): Promise<DeletionState> => {
  const profile = await getProfile(visit.services, visit.person);
  return { activeShares: profile.ok ? profile.value.activeShares : 0, hasRecentProof: hasRecentProof(visit, "delete") };
};

const renderDeleteAccount = async (visit: AppRequest): Promise<Response> =>
  renderAppPage(visit, 200, deleteAccountPage(visit.view, await loadDeletionState(visit)));

/** The word of any of our languages: the page may have been opened in another one. */
const confirmationWords: ReadonlySet<string> = new Set(Object.values(accountMessages).map(({ deletion }) => deletion.word));

const handleDeleteAccount = async (visit: AppFormRequest): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  if (!hasRecentProof(visit, "delete")) return c.redirect("/app/prove/delete", 303);
  const typed = form.get("confirm") ?? "";
  if (!confirmationWords.has(typed.trim().toLowerCase())) {
    const { badWord, word } = getAccountMessages(view).deletion;
    const again = { ...(await loadDeletionState(visit)), typed: typed.slice(0, 40), fault: formatMessage(badWord, { word }) };
    return renderRefusal(visit, "invalid_request", deleteAccountPage(view, again));
  }
  await deleteAccount(services, person, view.language); // one that is gone already is gone
  clearSession(c);
  return c.redirect("/app/deleted", 303);
};

/** For anybody: nobody is signed in any more. */
const renderDeleted = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 200, ({ language }) => {
    const { deletion } = accountMessages[language];
    return noticePage(
      deletion.done,
      deletion.doneText,
      <p>
        <a href="/">{deletion.toFront}</a>
      </p>,
    );
  });

export const registerAccountDataRoutes = (pages: Hono<AppEnv>, exportFile: ExportFormatter): void => {
  pages.get(
    "/export",
    authenticatedPage((visit) => renderAppPage(visit, 200, exportPage(visit.view))),
  );
  pages.post("/export", authenticatedAction(handleExport(exportFile)));
  pages.get("/delete", authenticatedPage(renderDeleteAccount));
  pages.post("/delete", authenticatedAction(handleDeleteAccount));
  pages.get("/deleted", renderDeleted);
};
