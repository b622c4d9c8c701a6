// Serves /app/agents: access tokens for a person's AI assistants. A token is shown once, in the response to the form that created it.
import { cutText } from "../../../core/cut-text.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { maxActiveTokens, type AgentToken } from "../../../core/agents/agent-token.ts";
import { toHex } from "../../../core/bytes.ts";
import { dayMs } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { createAgentToken } from "../../operations/agents/create-agent-token.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";
import { ItemForm } from "../shared/account-security.tsx";
import { ButtonLink, OptionalLabel, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { formatDay, VerbatimText, EmptyCard, formatMessage, FormattedMessage, Icon, Section } from "../shared/components.tsx";
import { SecretSection } from "../shared/signed-in-components.tsx";
import { setFlash, type AppFormRequest, type AppRequest } from "./app-request.ts";
import { PostForm, useAppRequest } from "./components.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { renderAppPage } from "./page.tsx";

const AgentTokenItem: FC<{ token: AgentToken }> = ({ token }) => {
  const { messages, language } = useAppRequest();
  const { agents } = messages;
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
      <ItemForm
        Form={PostForm}
        action="/app/agents/remove"
        id={token.id}
        text={messages.remove}
        label={formatMessage(messages.removeNamed, { name })}
      />
    </li>
  );
};

/** The name that the person entered, and why the form was refused. */
interface RefusedToken {
  readonly typedName: string;
  readonly error: string;
  readonly code: RefusalCode;
}

const renderTokenList = async (request: AppRequest, refused?: RefusedToken): Promise<Response> => {
  const { services, session, messages } = request;
  const { agents, sections } = messages;
  const tokens = await listAgentTokens(services, session);
  return renderAppPage(
    request,
    { tab: "account", section: "agents", title: sections.agents, lede: agents.intro, error: refused?.error, code: refused?.code },
    <>
      {tokens.length === 0 ? (
        <EmptyCard icon="bot" title={agents.none} advice={agents.noneAdvice} />
      ) : (
        <Section name="tokens" heading={agents.listHeading} isFlush>
          <ul class="lines">
            {tokens.map((token) => (
              <AgentTokenItem token={token} />
            ))}
          </ul>
        </Section>
      )}
      <Section name="new-token" heading={agents.newToken}>
        {tokens.length >= maxActiveTokens && refused === undefined ? (
          <p>{agents.limit}</p>
        ) : (
          <PostForm action="/app/agents" class="stack">
            {/* A random value, so that submitting the form twice creates only one token. */}
            <input type="hidden" name="once" value={toHex(services.random(16))} />
            <TextField
              id="name"
              label={<OptionalLabel text={agents.name} />}
              hint={agents.nameHint}
              error={refused?.error}
              maxlength={80}
              autocomplete="off"
              value={refused?.typedName}
            />
            <SubmitButton>{agents.make}</SubmitButton>
          </PostForm>
        )}
      </Section>
    </>,
  );
};

/** `secret` is null if it was already shown. */
const renderTokenSecret = (request: AppRequest, secret: string | null): Promise<Response> => {
  const { agents } = request.messages;
  return renderAppPage(
    request,
    { tab: "account", section: "agents", title: agents.madeTitle, script: "copy.js" },
    <SecretSection heading={secret === null ? agents.over : agents.once} value={secret} label={agents.secretLabel} copyLabel={agents.copy}>
      <p>
        <ButtonLink href="/app/agents">{secret === null ? agents.backToList : agents.kept}</ButtonLink>
      </p>
    </SecretSection>,
  );
};

const handleCreateToken = async (request: AppFormRequest): Promise<Response> => {
  const { services, session, form, messages, language } = request;
  const typedName = form.get("name") ?? "";
  const created = await createAgentToken(services, session, {
    name: typedName,
    language,
    formId: (form.get("once") ?? "").slice(0, 64),
  });
  if (created.ok) return renderTokenSecret(request, created.value.secret);
  if (created.code === "idempotency_conflict") return renderTokenSecret(request, null);
  if (created.code === "unauthorized") return request.c.redirect("/app", 303); // the account was deleted in the meantime
  const error = created.code === "token_limit" ? messages.agents.limit : messages.agents.badName;
  return renderTokenList(request, { typedName: cutText(typedName, 200), error, code: created.code });
};

/** Ignores IDs other than those of this person's active tokens. */
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
