// Serves /app/export, which downloads the data of a person's account, and /app/delete, which deletes the account.
import { cutText } from "../../../core/cut-text.ts";
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
import type { Services } from "../../platform/platform.ts";
import { ButtonLink, ConfirmActions, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { accountMessages } from "../i18n/account.ts";
import { renderPage, type Page } from "../shared/layout.tsx";
import { noticePage, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { formatDay, formatMessage, formatNumber, BulletList } from "../shared/components.tsx";
import { ConsequenceList, getAccountMessages, PostForm, type AppView } from "./components.tsx";
import { appPage } from "./page.tsx";
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

/** Builds the content of the export file. The API's export returns the same content. */
export type ExportFormatter = (account: AccountExport, tokens: readonly AgentToken[], services: Services) => object;

const exportPage = (view: AppView): Page => {
  const messages = getAccountMessages(view).export;
  return appPage(
    view,
    { tab: "account", section: "export", title: messages.title },
    <PostForm action="/app/export" class="card">
      <div class="body stack">
        <p>{messages.intro}</p>
        <BulletList of={messages.holds} />
        <SubmitButton>{messages.title}</SubmitButton>
      </div>
      <footer>{messages.format}</footer>
    </PostForm>,
  );
};

const handleExport =
  (exportFile: ExportFormatter) =>
  async (request: AppFormRequest): Promise<Response> => {
    const { c, services, person, session } = request;
    const limitResponse = await checkPersonLimit(request, "EXPORTS");
    if (limitResponse !== null) return limitResponse;
    const [exported, tokens] = await Promise.all([exportAccount(services, person), listAgentTokens(services, session)]);
    if (!exported.ok) return exported.code === "storage_unavailable" ? renderStorageUnavailable(c) : c.redirect("/app", 303);
    c.header("Content-Disposition", `attachment; filename="svc-export-${toIso(exported.value.at).slice(0, 10)}.json"`);
    return c.json(exportFile(exported.value, tokens, services), 200);
  };

interface DeletionState {
  readonly activeShares: number;
  readonly hasRecentProof: boolean;
  readonly typed?: string;
  readonly error?: string;
}

const deleteAccountPage = (view: AppView, { activeShares, hasRecentProof: canDelete, typed, error }: DeletionState): Page => {
  const { deletion } = getAccountMessages(view);
  const sharesEnd = activeShares === 0 ? deletion.endsNone : activeShares === 1 ? deletion.endsOne : deletion.endsMany;
  const values = { count: formatNumber(activeShares, view.language), date: formatDay(view.language, getCeaseDeadline(view.now)) };
  return appPage(
    view,
    { tab: "account", section: "delete", title: deletion.title, hasError: error !== undefined },
    <section class="card danger" aria-labelledby="consequences">
      <header>
        <h2 id="consequences">{deletion.consequences}</h2>
      </header>
      <div class="body stack">
        <ConsequenceList
          of={[
            { icon: "ban", text: formatMessage(sharesEnd, values) },
            { icon: "log-out", text: deletion.signedOut },
            { icon: "trash-2", text: deletion.erased },
            {
              icon: "file-badge",
              text: (
                <>
                  {deletion.keepsCertificates} <a href="/app">{view.messages.backToList}</a>
                </>
              ),
            },
            { icon: "archive", text: deletion.keepsHashes },
          ]}
        />
        {canDelete ? (
          <PostForm action="/app/delete" class="stack">
            <TextField
              id="confirm"
              label={formatMessage(deletion.type, { word: deletion.word })}
              error={error}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              maxlength={40}
              required
              value={typed}
            />
            <ConfirmActions back="/app/account" keep={deletion.keep} go={deletion.title} isDangerous />
          </PostForm>
        ) : (
          <>
            <p>{deletion.proveFirst}</p>
            <div class="choice">
              <ButtonLink href="/app/account">{deletion.keep}</ButtonLink>
              <a class="btn primary" href="/app/prove/delete">
                {deletion.goOn}
              </a>
            </div>
          </>
        )}
      </div>
    </section>,
  );
};

const loadDeletionState = async (request: AppRequest): Promise<DeletionState> => {
  const profile = await getProfile(request.services, request.person);
  return { activeShares: profile.ok ? profile.value.activeShares : 0, hasRecentProof: hasRecentProof(request, "delete") };
};

const renderDeleteAccount = async (request: AppRequest): Promise<Response> =>
  renderAppPage(request, deleteAccountPage(request, await loadDeletionState(request)));

/** The confirmation words of all languages. Each is accepted, because the person may have switched languages after opening the page. */
const confirmationWords: ReadonlySet<string> = new Set(Object.values(accountMessages).map(({ deletion }) => deletion.word));

const handleDeleteAccount = async (request: AppFormRequest): Promise<Response> => {
  const { c, services, person, form } = request;
  if (!hasRecentProof(request, "delete")) return c.redirect("/app/prove/delete", 303);
  const typed = form.get("confirm") ?? "";
  if (!confirmationWords.has(typed.trim().toLowerCase())) {
    const { badWord, word } = getAccountMessages(request).deletion;
    const state = { ...(await loadDeletionState(request)), typed: cutText(typed, 40), error: formatMessage(badWord, { word }) };
    return renderRefusal(request, "invalid_request", deleteAccountPage(request, state));
  }
  await deleteAccount(services, person, request.language); // this also succeeds if the account was already deleted
  clearSession(c);
  return c.redirect("/app/deleted", 303);
};

/** Renders a public page, because the session has ended. */
const renderDeleted = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 200, ({ language }) => {
    const { deletion } = accountMessages[language];
    return noticePage(
      deletion.done,
      deletion.doneText,
      <div class="row">
        <ButtonLink href="/">{deletion.toFront}</ButtonLink>
      </div>,
    );
  });

export const registerAccountDataRoutes = (pages: Hono<AppEnv>, exportFile: ExportFormatter): void => {
  pages.get(
    "/export",
    authenticatedPage((request) => renderAppPage(request, exportPage(request))),
  );
  pages.post("/export", authenticatedAction(handleExport(exportFile)));
  pages.get("/delete", authenticatedPage(renderDeleteAccount));
  pages.post("/delete", authenticatedAction(handleDeleteAccount));
  pages.get("/deleted", renderDeleted);
};
