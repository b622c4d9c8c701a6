// Serves /app/agents: access tokens for a person's AI assistants. A token is shown once, in the response to the form that created it.
import { cutText } from "../../../core/cut-text.ts";
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { maxActiveTokens, type AgentToken } from "../../../core/agents/agent-token.ts";
import { toHex } from "../../../core/bytes.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { createAgentToken } from "../../operations/agents/create-agent-token.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";
import { ButtonLink, OptionalLabel, SubmitButton, TextField } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import { formatDay, VerbatimText, EmptyState, formatMessage, FormattedMessage, Icon, Section } from "../shared/components.tsx";
import { SecretSection } from "../shared/signed-in-components.tsx";
import { getAccountMessages, ItemActionButton, PostForm, useAppView, type AppView } from "./components.tsx";
import { appPage } from "./page.tsx";
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
  const { lastUsedDay } = token;
  return (
    <li>
      <Icon name="bot" />
      <div>
        {token.name === null ? name : <VerbatimText text={name} />}
        {token.client !== null && (
          <small>
            {token.client.host === null ? (
              agents.connectedHere
            ) : (
              <FormattedMessage text={agents.connectedBy} parts={{ host: <VerbatimText text={token.client.host} /> }} />
            )}
          </small>
        )}
        <small>
          {formatMessage(agents.made, { made: formatDay(language, token.createdAt), date: formatDay(language, token.expiresAt) })} ·{" "}
          {lastUsedDay === null ? agents.unused : formatMessage(messages.lastSeen, { date: formatDay(language, lastUsedDay * dayMs) })}
        </small>
      </div>
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
  /** Sent with the form, so that submitting it twice creates only one token. */
  readonly idempotencyKey: string;
  readonly typedName?: string;
  readonly error?: string;
}

const tokenListPage = (view: AppView, { tokens, idempotencyKey, typedName, error }: TokenListData): Page => {
  const { agents, sections } = getAccountMessages(view);
  return appPage(
    view,
    { tab: "account", section: "agents", title: sections.agents, lede: agents.intro, hasError: error !== undefined },
    <>
      {tokens.length === 0 ? (
        <div class="card">
          <EmptyState icon="bot" title={agents.none} advice={agents.noneAdvice} />
        </div>
      ) : (
        <Section
          name="tokens"
          heading={agents.listHeading}
          content={
            <ul class="lines">
              {tokens.map((token) => (
                <AgentTokenItem token={token} />
              ))}
            </ul>
          }
        />
      )}
      <Section name="new-token" heading={agents.newToken}>
        {tokens.length >= maxActiveTokens && error === undefined ? (
          <p>{agents.limit}</p>
        ) : (
          <PostForm action="/app/agents" class="stack">
            <input type="hidden" name="once" value={idempotencyKey} />
            <TextField
              id="name"
              label={<OptionalLabel text={agents.name} />}
              hint={agents.nameHint}
              error={error}
              maxlength={80}
              autocomplete="off"
              value={typedName}
            />
            <SubmitButton>{agents.make}</SubmitButton>
          </PostForm>
        )}
      </Section>
    </>,
  );
};

/** `secret` is null if it was already shown. */
const tokenSecretPage = (view: AppView, secret: string | null): Page => {
  const { agents } = getAccountMessages(view);
  return appPage(
    view,
    { tab: "account", section: "agents", title: agents.madeTitle, script: "copy.js" },
    <SecretSection heading={secret === null ? agents.over : agents.once} value={secret} label={agents.secretLabel} copyLabel={agents.copy}>
      <p>
        <ButtonLink href="/app/agents">{secret === null ? agents.backToList : agents.kept}</ButtonLink>
      </p>
    </SecretSection>,
  );
};

const loadTokenList = async ({ services, session }: AppRequest): Promise<TokenListData> => ({
  tokens: await listAgentTokens(services, session),
  idempotencyKey: toHex(services.random(16)),
});

const renderTokenList = async (request: AppRequest): Promise<Response> =>
  renderAppPage(request, tokenListPage(request, await loadTokenList(request)));

const handleCreateToken = async (request: AppFormRequest): Promise<Response> => {
  const { services, session, form } = request;
  const { agents } = getAccountMessages(request);
  const typedName = form.get("name") ?? "";
  const created = await createAgentToken(services, session, { name: typedName, once: (form.get("once") ?? "").slice(0, 64) });
  if (created.ok) return renderAppPage(request, tokenSecretPage(request, created.value.secret));
  if (created.code === "idempotency_conflict") return renderAppPage(request, tokenSecretPage(request, null));
  const error = created.code === "token_limit" ? agents.limit : agents.badName;
  return renderRefusal(
    request,
    created.code,
    tokenListPage(request, { ...(await loadTokenList(request)), typedName: cutText(typedName, 200), error }),
  );
};

/** Ignores an ID that is not an active token of this person. */
const handleRevokeToken = async (request: AppFormRequest): Promise<Response> => {
  const revoked = await revokeAgentToken(request.services, request.session, request.form.get("id") ?? "");
  if (revoked.ok) await setFlash(request, { key: "tokenEnded" });
  return request.c.redirect("/app/agents", 303);
};

export const registerAgentRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/agents", authenticatedPage(renderTokenList));
  pages.post("/agents", authenticatedAction(handleCreateToken));
  pages.post("/agents/remove", authenticatedAction(handleRevokeToken));
};
