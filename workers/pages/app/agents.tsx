// /app/agents: the assistants that a person lets in, by tokens; each token is shown once, in the answer to the form that made it.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { maxLiveTokens, type AgentToken } from "../../../core/agents/token.ts";
import { hexOf } from "../../../core/bytes.ts";
import { dayMs } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { endToken, listTokens, mintToken } from "../../operations/agents/tokens.ts";
import type { Page } from "../shared/layout.tsx";
import { CopyButton, Exact, filled } from "../shared/parts.tsx";
import { accountWordsOf, sectionPage } from "./account-parts.tsx";
import { dayIn, Fault, faulty, PostForm, type AppView } from "./parts.tsx";
import { acting, answer, flash, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const Token: FC<{ token: AgentToken; view: AppView }> = ({ token, view }) => {
  const { agents } = accountWordsOf(view);
  const { language } = view.setting;
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
        {used === null ? agents.unused : filled(agents.used, { date: dayIn(language, used * dayMs) })}
      </p>
      <PostForm view={view} action="/app/agents/remove">
        <input type="hidden" name="id" value={token.id} />
        <button type="submit" aria-label={filled(agents.removeNamed, { name })}>
          {agents.remove}
        </button>
      </PostForm>
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
  const { agents } = accountWordsOf(view);
  const described = ["name-hint", ...(fault === undefined ? [] : ["fault"])].join(" ");
  return faulty(
    view,
    fault,
    sectionPage(
      view,
      "agents",
      agents.title,
      <>
        <p>{agents.intro}</p>
        {tokens.length === 0 ? (
          <p>{agents.none}</p>
        ) : (
          <ul class="lines">
            {tokens.map((token) => (
              <Token token={token} view={view} />
            ))}
          </ul>
        )}
        <section aria-labelledby="new-token">
          <h2 id="new-token">{agents.newToken}</h2>
          {tokens.length >= maxLiveTokens && fault === undefined ? (
            <p>{agents.limit}</p>
          ) : (
            <PostForm view={view} action="/app/agents">
              <input type="hidden" name="once" value={once} />
              <label for="name">{agents.name}</label>
              <p class="quiet" id="name-hint">
                {agents.nameHint}
              </p>
              {fault !== undefined && <Fault view={view} text={fault} />}
              <input
                id="name"
                name="name"
                type="text"
                maxlength={80}
                autocomplete="off"
                value={typed}
                aria-describedby={described}
                aria-invalid={fault === undefined ? undefined : "true"}
              />
              <button type="submit" class="primary">
                {agents.make}
              </button>
            </PostForm>
          )}
        </section>
      </>,
    ),
  );
};

/** Null where it was shown before. */
const secretPage = (view: AppView, secret: string | null): Page => {
  const { agents } = accountWordsOf(view);
  return {
    ...sectionPage(
      view,
      "agents",
      agents.madeTitle,
      <section class="secret" aria-labelledby="secret">
        <h2 id="secret">{secret === null ? agents.over : agents.once}</h2>
        {secret !== null && (
          <>
            <p>{agents.secretLabel}</p>
            <p>
              <code class="whole" id="secret-value" translate="no">
                {secret}
              </code>{" "}
              <CopyButton of="secret-value" label={agents.copy} words={view.setting.words} />
            </p>
          </>
        )}
        <p>
          <a class="button" href="/app/agents">
            {secret === null ? agents.back : agents.kept}
          </a>
        </p>
      </section>,
    ),
    script: "copy.js",
  };
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
