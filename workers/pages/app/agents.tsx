// /app/agents: the assistants that a person lets in, by tokens; each token is shown once, in the answer to the form that made it.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { maxLiveTokens, type AgentToken } from "../../../core/agents/token.ts";
import { hexOf } from "../../../core/bytes.ts";
import { dayMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { endToken, listTokens, mintToken } from "../../operations/agents/tokens.ts";
import { ButtonLink, Submit, TextField } from "../shared/forms.tsx";
import type { Page } from "../shared/layout.tsx";
import { CopyButton, dayIn, Exact, filled } from "../shared/parts.tsx";
import { accountWordsOf, appPage, Lines, OneButton, PostForm, useView, type AppView } from "./parts.tsx";
import { acting, answer, flash, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const Token: FC<{ token: AgentToken }> = ({ token }) => {
  const view = useView();
  const { words, language } = view;
  const { agents } = accountWordsOf(view);
  const name = token.name ?? agents.nameless;
  const used = token.lastUsedDay;
  return (
    <li>
      <p>{token.name === null ? name : <Exact text={name} />}</p>
      {token.client !== null && (
        <p class="quiet">{token.client.host === null ? agents.connectedHere : filled(agents.connectedBy, { host: token.client.host })}</p>
      )}
      <p class="quiet">
        {filled(agents.made, { made: dayIn(language, token.createdAt), date: dayIn(language, token.expiresAt) })} ·{" "}
        {used === null ? agents.unused : filled(words.lastSeen, { date: dayIn(language, used * dayMs) })}
      </p>
      <OneButton action="/app/agents/remove" id={token.id} text={words.remove} label={filled(words.removeNamed, { name })} />
    </li>
  );
};

interface Listed {
  readonly tokens: readonly AgentToken[];
  /** Of the form for a new one: sent twice, it makes one. */
  readonly once: string;
  readonly typed?: string;
  readonly fault?: string;
}

const listPage = (view: AppView, { tokens, once, typed, fault }: Listed): Page => {
  const { agents, sections } = accountWordsOf(view);
  return appPage(
    view,
    { tab: "account", section: "agents", title: sections.agents, isFaulty: fault !== undefined },
    <>
      <p>{agents.intro}</p>
      <Lines of={tokens.map((token) => <Token token={token} />)} none={agents.none} />
      <section aria-labelledby="new-token">
        <h2 id="new-token">{agents.newToken}</h2>
        {tokens.length >= maxLiveTokens && fault === undefined ? (
          <p>{agents.limit}</p>
        ) : (
          <PostForm action="/app/agents">
            <input type="hidden" name="once" value={once} />
            <TextField id="name" label={agents.name} hint={agents.nameHint} fault={fault} maxlength={80} autocomplete="off" value={typed} />
            <Submit>{agents.make}</Submit>
          </PostForm>
        )}
      </section>
    </>,
  );
};

/** Null where it was shown before. */
const secretPage = (view: AppView, secret: string | null): Page => {
  const { agents, sections } = accountWordsOf(view);
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

const listed = async ({ services, session }: Visit): Promise<Listed> => ({
  tokens: await listTokens(services, session),
  once: hexOf(services.random(16)),
});

const show = async (visit: Visit): Promise<Response> => answer(visit, 200, listPage(visit.view, await listed(visit)));

const make = async (visit: Posted): Promise<Response> => {
  const { services, session, form, view } = visit;
  const { agents } = accountWordsOf(view);
  const typed = form.get("name") ?? "";
  const made = await mintToken(services, session, { name: typed, once: (form.get("once") ?? "").slice(0, 64) });
  if (made.ok) return answer(visit, 200, secretPage(view, made.value.secret));
  if (made.code === "idempotency_conflict") return answer(visit, 200, secretPage(view, null));
  const fault = made.code === "token_limit" ? agents.limit : agents.badName;
  return refused(visit, made.code, listPage(view, { ...(await listed(visit)), typed: typed.slice(0, 200), fault }));
};

/** Somebody else's, or one that has ended, changes nothing; the page says what there is. */
const remove = async (visit: Posted): Promise<Response> => {
  const ended = await endToken(visit.services, visit.session, visit.form.get("id") ?? "");
  if (ended.ok) await flash(visit, { key: "tokenEnded" });
  return visit.c.redirect("/app/agents", 303);
};

export const mountAgents = (pages: Hono<Api>): void => {
  pages.get("/agents", reading(show));
  pages.post("/agents", acting(make));
  pages.post("/agents/remove", acting(remove));
};
