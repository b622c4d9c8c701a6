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
import { appMessages } from "../i18n/app.ts";
import { renderPage } from "../shared/layout.tsx";
import { ActionLink, noticePage, renderStorageUnavailable } from "../shared/notice-pages.tsx";
import { formatDay, formatMessage, formatNumber, BulletList, IconList } from "../shared/components.tsx";
import { checkPersonLimit, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { PostForm } from "./components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { renderAppPage } from "./page.tsx";
import { hasRecentProof } from "./reauthenticate.tsx";

/** Builds the content of the export file. The API's export returns the same content. */
export type ExportFormatter = (account: AccountExport, tokens: readonly AgentToken[], services: Services) => object;

const renderExport = (request: AppRequest): Promise<Response> => {
  const messages = request.messages.export;
  return renderAppPage(
    request,
    { tab: "account", section: "export", title: messages.title },
    <PostForm action="/app/export" class="card">
      <div class="body stack">
        <p>{messages.intro}</p>
        <BulletList items={messages.holds} />
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

/** `typed` and `error` are set if the form was refused. */
const renderDeleteAccount = async (request: AppRequest, typed?: string, error?: string): Promise<Response> => {
  const { services, person, messages, language, now } = request;
  const { deletion } = messages;
  const profile = await getProfile(services, person);
  const activeShares = profile.ok ? profile.value.activeShares : 0;
  const sharesEnd = activeShares === 0 ? deletion.endsNone : activeShares === 1 ? deletion.endsOne : deletion.endsMany;
  const values = { count: formatNumber(activeShares, language), date: formatDay(language, getCeaseDeadline(now)) };
  return renderAppPage(
    request,
    { tab: "account", section: "delete", title: deletion.title, error },
    <section class="card danger" aria-labelledby="consequences">
      <header>
        <h2 id="consequences">{deletion.consequences}</h2>
      </header>
      <div class="body stack">
        <IconList
          items={[
            ["ban", formatMessage(sharesEnd, values)],
            ["log-out", deletion.signedOut],
            ["trash-2", deletion.erased],
            [
              "file-badge",
              <>
                {deletion.keepsCertificates} <a href="/app">{messages.backToList}</a>
              </>,
            ],
            ["archive", deletion.keepsHashes],
          ]}
        />
        {hasRecentProof(request, "delete") ? (
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
              <a class="btn primary" href="/app/reauthenticate/delete">
                {deletion.goOn}
              </a>
            </div>
          </>
        )}
      </div>
    </section>,
  );
};

/** The confirmation words of all languages. All are accepted, because the person may have switched languages after opening the page. */
const confirmationWords: ReadonlySet<string> = new Set(Object.values(appMessages).map(({ deletion }) => deletion.word));

const handleDeleteAccount = async (request: AppFormRequest): Promise<Response> => {
  const { c, services, person, form } = request;
  if (!hasRecentProof(request, "delete")) return c.redirect("/app/reauthenticate/delete", 303);
  const typed = form.get("confirm") ?? "";
  if (!confirmationWords.has(typed.trim().toLowerCase())) {
    const { badWord, word } = request.messages.deletion;
    return renderDeleteAccount(request, cutText(typed, 40), formatMessage(badWord, { word }));
  }
  await deleteAccount(services, person, request.language); // this also succeeds if the account was already deleted
  clearSession(c);
  return c.redirect("/app/deleted", 303);
};

/** Renders a public page, because the session has ended. */
const renderDeleted = (c: Context<AppEnv>): Promise<Response> =>
  renderPage(c, 200, ({ language, messages }) => {
    const { deletion } = appMessages[language];
    return noticePage(deletion.done, deletion.doneText, <ActionLink href="/" text={messages.toFirstPage} />);
  });

export const registerAccountDataRoutes = (pages: Hono<AppEnv>, exportFile: ExportFormatter): void => {
  pages.get("/export", authenticatedPage(renderExport));
  pages.post("/export", authenticatedAction(handleExport(exportFile)));
  pages.get("/delete", authenticatedPage(renderDeleteAccount));
  pages.post("/delete", authenticatedAction(handleDeleteAccount));
  pages.get("/deleted", renderDeleted);
};
