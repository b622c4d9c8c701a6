// /app/agents: the assistants that a person lets in, by tokens; each token is shown once, in the answer to the form that made it.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { maxActiveTokens, type AgentToken } from "../../../core/agents/agent-token.ts";
import { toHex } from "../../../core/bytes.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { createAgentToken } from "../../operations/agents/create-agent-token.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";
import { ButtonLink, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { CopyButton, formatDay, VerbatimText, formatMessage } from "../shared/components.tsx";
import { getAccountMessages, appPage, ItemList, ItemActionButton, PostForm, useAppView, type AppView } from "./components.tsx";
import {
  authenticatedAction,
  renderAppPage,
  setFlash,
  authenticatedPage,
  renderRefusal,
  type AppFormRequest,
  type AppRequest,
} from "./app-request.ts";

const AgentTokenItem: FC<{ token: AgentToken }> = ({ token }) => {
  const view = useAppView();
  const { messages, language } = view;
  const { agents } = getAccountMessages(view);
  const name = token.name ?? agents.nameless;
  const used = token.lastUsedDay;
  return (
    <li>
      <p>{token.name === null ? name : <VerbatimText text={name} />}</p>
      {token.client !== null && (
        <p class="quiet">
          {token.client.host === null ? agents.connectedHere : formatMessage(agents.connectedBy, { host: token.client.host })}
        </p>
      )}
      <p class="quiet">
        {formatMessage(agents.made, { made: formatDay(language, token.createdAt), date: formatDay(language, token.expiresAt) })} ·{" "}
        {used === null ? agents.unused : formatMessage(messages.lastSeen, { date: formatDay(language, used * dayMs) })}
      </p>
      <ItemActionButton
        action="/app/agents/remove"
        id={token.id}
        text={messages.remove}
        label={formatMessage(messages.removeNamed, { name })}
      />
    </li>
  );
};

interface TokenListData {
  readonly tokens: readonly AgentToken[];
  /** Of the form for a new one: sent twice, it makes one. */
  readonly idempotencyKey: string;
  readonly typedName?: string;
  readonly error?: string;
}

const tokenListPage = (view: AppView, { tokens, idempotencyKey, typedName, error }: TokenListData): Page => {
  const { agents, sections } = getAccountMessages(view);
  return appPage(
    view,
    { tab: "account", section: "agents", title: sections.agents, isFaulty: error !== undefined },
    <>
      <p>{agents.intro}</p>
      <ItemList of={tokens.map((token) => <AgentTokenItem token={token} />)} none={agents.none} />
      <section aria-labelledby="new-token">
        <h2 id="new-token">{agents.newToken}</h2>
        {tokens.length >= maxActiveTokens && error === undefined ? (
          <p>{agents.limit}</p>
        ) : (
          <PostForm action="/app/agents">
            <input type="hidden" name="once" value={idempotencyKey} />
            <TextField
              id="name"
              label={agents.name}
              hint={agents.nameHint}
              error={error}
              maxlength={80}
              autocomplete="off"
              value={typedName}
            />
            <SubmitButton>{agents.make}</SubmitButton>
          </PostForm>
        )}
      </section>
    </>,
  );
};

/** Null where it was shown before. */
const tokenSecretPage = (view: AppView, secret: string | null): Page => {
  const { agents, sections } = getAccountMessages(view);
  return appPage(
    view,
    { tab: "account", section: "agents", title: agents.madeTitle, script: "copy.js" },
    <section class="secret" aria-labelledby="secret">
      <h2 id="secret">{secret === null ? agents.over : agents.once}</h2>
      {secret !== null && (
        <>
          <p>{agents.secretLabel}</p>
          <p>
            <code class="whole" id="secret-value" translate="no">
              {secret}
            </code>{" "}
            <CopyButton of="secret-value" label={agents.copy} />
          </p>
        </>
      )}
      <p>
        <ButtonLink href="/app/agents">{secret === null ? sections.agents : agents.kept}</ButtonLink>
      </p>
    </section>,
  );
};

const loadTokenList = async ({ services, session }: AppRequest): Promise<TokenListData> => ({
  tokens: await listAgentTokens(services, session),
  idempotencyKey: toHex(services.random(16)),
});

const renderTokenList = async (visit: AppRequest): Promise<Response> =>
  renderAppPage(visit, 200, tokenListPage(visit.view, await loadTokenList(visit)));

const handleCreateToken = async (visit: AppFormRequest): Promise<Response> => {
  const { services, session, form, view } = visit;
  const { agents } = getAccountMessages(view);
  const typed = form.get("name") ?? "";
  const made = await createAgentToken(services, session, { name: typed, once: (form.get("once") ?? "").slice(0, 64) });
  if (made.ok) return renderAppPage(visit, 200, tokenSecretPage(view, made.value.secret));
  if (made.code === "idempotency_conflict") return renderAppPage(visit, 200, tokenSecretPage(view, null));
  const fault = made.code === "token_limit" ? agents.limit : agents.badName;
  return renderRefusal(
    visit,
    made.code,
    tokenListPage(view, { ...(await loadTokenList(visit)), typedName: typed.slice(0, 200), error: fault }),
  );
};

/** Somebody else's, or one that has ended, changes nothing; the page says what there is. */
const handleRevokeToken = async (visit: AppFormRequest): Promise<Response> => {
  const ended = await revokeAgentToken(visit.services, visit.session, visit.form.get("id") ?? "");
  if (ended.ok) await setFlash(visit, { key: "tokenEnded" });
  return visit.c.redirect("/app/agents", 303);
};

export const registerAgentRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/agents", authenticatedPage(renderTokenList));
  pages.post("/agents", authenticatedAction(handleCreateToken));
  pages.post("/agents/remove", authenticatedAction(handleRevokeToken));
};
