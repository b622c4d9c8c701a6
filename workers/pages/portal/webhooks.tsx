// Webhook endpoints: made with a secret that is shown once, tried, looked into, changed and removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { hexOf } from "../../../core/bytes.ts";
import { namedOnlyEventTypes } from "../../../core/events/event.ts";
import { deliveryIdOf, webhookIdOf, type WebhookId } from "../../../core/ids.ts";
import type { Delivery, DeliveryStatus } from "../../../core/webhooks/endpoint.ts";
import { dayMs, isoOf, type Instant } from "../../../core/time.ts";
import { choosableEventTypes } from "../../../core/webhooks/management.ts";
import type { Api } from "../../http/context.ts";
import { readAccount, type Account } from "../../operations/portal/profile.ts";
import type { Figures } from "../../operations/portal/overview.ts";
import {
  attemptHours,
  failedSince,
  listDeliveries,
  recoverEndpoint,
  replayDelivery,
  testEndpoint,
  type CallOutcome,
  type DeliveryPage,
} from "../../operations/webhooks/deliveries.ts";
import { changeWebhook, deleteWebhook, listWebhooks, type EndpointState } from "../../operations/webhooks/endpoints.ts";
import { createWebhook } from "../../operations/webhooks/registration.ts";
import { rotateSecret } from "../../operations/webhooks/secrets.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, numberText } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import {
  Allowed,
  Careful,
  Field,
  portalPage,
  PostForm,
  Press,
  SecretOnce,
  Status,
  Table,
  Wrong,
  type PortalView,
  type Tone,
} from "./parts.tsx";
import { acting, answer, crowded, faultOf, nothing, readerOf, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

const shownDeliveries = 25;

const Health: FC<{ view: PortalView; state: EndpointState }> = ({ view: { words, setting }, state: { endpoint, health } }) => {
  const { webhooks: said } = words;
  if (endpoint.status === "disabled") return <Status tone="plain" text={said.off} />;
  if (health === null) return <Status tone="plain" text={said.unknown} />;
  if (health.failingSince === null) return <Status tone="good" text={said.works} />;
  return (
    <>
      <Status tone="bad" text={said.failing} /> <Moment at={health.failingSince} setting={setting} />
    </>
  );
};

const eventsText = ({ words }: PortalView, events: readonly string[] | null): string =>
  events === null ? words.webhooks.allEvents : events.join(", ");

/** What is made only for businesses that ask for it, where this one has not: an endpoint that waits for it would wait in vain. */
export const SwitchedOff: FC<{ view: PortalView; account: Pick<Account, "emitsIssued">; types: readonly string[] | null }> = ({
  view,
  account,
  types,
}) => {
  const { words } = view;
  const isAsked = namedOnlyEventTypes.some((type) => types?.includes(type));
  return account.emitsIssued || !isAsked ? null : (
    <p class="quiet">
      {words.webhooks.onRequest} <a href={view.at("/portal/settings")}>{words.tabs.settings}</a>
    </p>
  );
};

interface Typed {
  readonly form: ReadonlyMap<string, string>;
  readonly fault: Fault;
}

interface Listed {
  readonly endpoints: readonly EndpointState[];
  readonly account: Account;
  /** Of the form for a new endpoint: sent twice, it makes one. */
  readonly once: string;
}

const listPage = (view: PortalView, { endpoints, account, once }: Listed, typed?: Typed): Page => {
  const { words, setting } = view;
  const { webhooks: said } = words;
  const fault = typed?.fault;
  return portalPage(view, {
    tab: "webhooks",
    title: words.tabs.webhooks,
    fault,
    content: (
      <>
        {endpoints.length === 0 ? (
          <p>{said.empty}</p>
        ) : (
          <Table
            label={words.tabs.webhooks}
            rows={endpoints}
            columns={[
              {
                head: said.url,
                cell: ({ endpoint }) => (
                  <a href={view.at(`/portal/webhooks/${endpoint.id}`)}>
                    <Exact text={endpoint.url} />
                  </a>
                ),
              },
              { head: said.listens, cell: ({ endpoint }) => eventsText(view, endpoint.events) },
              { head: words.state, cell: (row) => <Health view={view} state={row} /> },
              { head: said.lastAnswer, cell: ({ health }) => health?.lastResponseStatus ?? words.none },
              { head: said.waiting, cell: ({ health }) => (health === null ? words.none : numberText(health.backlog, setting.language)) },
            ]}
          />
        )}
        <section aria-labelledby="new">
          <h2 id="new">{said.new}</h2>
          <Allowed view={view}>
            <PostForm view={view} action="/portal/webhooks">
              <Wrong fault={fault} fields={["url", "description"]} setting={setting} />
              <input type="hidden" name="once" value={once} />
              <Field
                name="url"
                label={said.url}
                hint={said.urlHint}
                type="url"
                required
                value={typed?.form.get("url")}
                fault={fault}
                setting={setting}
                maxlength={2_048}
              />
              <fieldset>
                <legend>{said.events}</legend>
                <p class="quiet">{said.eventsHint}</p>
                {choosableEventTypes.map((type) => (
                  <p>
                    <input
                      type="checkbox"
                      id={`event-${type}`}
                      name={`event.${type}`}
                      value="1"
                      checked={typed?.form.has(`event.${type}`)}
                    />
                    <label for={`event-${type}`}>
                      <code>{type}</code>
                    </label>
                  </p>
                ))}
              </fieldset>
              <SwitchedOff view={view} account={account} types={namedOnlyEventTypes} />
              <Field
                name="description"
                label={said.description}
                value={typed?.form.get("description")}
                fault={fault}
                setting={setting}
                maxlength={200}
              />
              <button type="submit" class="primary">
                {said.create}
              </button>
            </PostForm>
          </Allowed>
        </section>
      </>
    ),
  });
};

const deliveryTones: Readonly<Record<DeliveryStatus, Tone>> = { success: "good", pending: "plain", retrying: "caution", abandoned: "bad" };

const answerText = ({ words }: PortalView, { responseStatus, error }: Delivery): string =>
  responseStatus !== null && responseStatus > 0 ? String(responseStatus) : error === null ? words.none : words.webhooks.errors[error];

const Called: FC<{ view: PortalView; called: CallOutcome }> = ({ view: { words, setting }, called }) => {
  const { webhooks: said } = words;
  const parts = { status: String(called.responseStatus), ms: numberText(called.durationMs, setting.language) };
  const text = called.responseStatus === 0 ? said.unanswered : filled(said.answered, parts);
  return (
    <p role="status">
      <Status tone={called.delivered ? "good" : "bad"} text={called.delivered ? said.delivered : said.undelivered} /> {text}
    </p>
  );
};

/** What stands on the page of an endpoint after a form of it. */
interface More {
  readonly called?: CallOutcome;
  readonly fault?: Fault;
  /** How many failed since the time that was asked for. */
  readonly failed?: { readonly since: Instant; readonly count: number };
}

/** A moment as its input takes it: UTC, to the minute. */
const inputText = (at: Instant): string => isoOf(at).slice(0, 16);

/** Since when it has been failing; else a day. */
const sinceText = ({ health }: EndpointState, now: Instant): string => inputText(health?.failingSince ?? now - dayMs);

const chart: ChartFile = { name: "attempt_hours", unit: "hour", head: ["hour", "delivered", "failed"] };

const Hours: FC<{ view: PortalView; own: string; hours: readonly Figures[] }> = ({ view, own, hours }) => {
  const { words, setting } = view;
  const { webhooks: said } = words;
  const sum = (side: "up" | "down"): string => numberText(totalOf(hours, side), setting.language);
  return (
    <Chart
      view={view}
      file={chart}
      exports={`${own}/export`}
      heading={said.hours}
      trend={filled(said.hoursTrend, { delivered: sum("up"), failed: sum("down") })}
      figures={hours}
      labels={{ start: said.hour, up: said.delivered, down: said.failed }}
    />
  );
};

interface Shown {
  readonly state: EndpointState;
  readonly hours: readonly Figures[];
  readonly account: Account;
  readonly page: DeliveryPage;
  readonly before: string | null;
}

const detailPage = (view: PortalView, { state, hours, account, page, before }: Shown, more: More = {}): Page => {
  const { words, setting } = view;
  const { webhooks: said } = words;
  const { endpoint, health } = state;
  const own = view.at(`/portal/webhooks/${endpoint.id}`);
  const last = page.deliveries.at(-1);
  return portalPage(view, {
    tab: "webhooks",
    title: said.one,
    fault: more.fault,
    content: (
      <>
        <p>
          <Exact text={endpoint.url} />
        </p>
        {more.called !== undefined && <Called view={view} called={more.called} />}
        <SwitchedOff view={view} account={account} types={endpoint.events} />
        <Wrong fault={more.fault} fields={[]} setting={setting} />
        <dl>
          <div>
            <dt>{words.state}</dt>
            <dd>
              <Health view={view} state={state} />
            </dd>
          </div>
          <div>
            <dt>{said.listens}</dt>
            <dd>{eventsText(view, endpoint.events)}</dd>
          </div>
          {endpoint.description !== null && (
            <div>
              <dt>{said.description}</dt>
              <dd>
                <Exact text={endpoint.description} />
              </dd>
            </div>
          )}
          <div>
            <dt>{said.secret}</dt>
            <dd>
              <code>{endpoint.secretHint}</code>
            </dd>
          </div>
          {health !== null && health.oldestPendingAt !== null && (
            <div>
              <dt>{said.oldest}</dt>
              <dd>
                <Moment at={health.oldestPendingAt} setting={setting} />
              </dd>
            </div>
          )}
        </dl>
        <div class="actions">
          <Allowed view={view} ownerOnly={false}>
            <Press view={view} action={`${own}/test`} label={said.test} />
          </Allowed>
          <Allowed view={view}>
            <Press
              view={view}
              action={`${own}/status`}
              label={endpoint.status === "enabled" ? said.switchOff : said.switchOn}
              values={{ status: endpoint.status === "enabled" ? "disabled" : "enabled" }}
            />
            <Careful
              view={view}
              action={`${own}/rotate`}
              label={said.rotate}
              of={endpoint.url}
              consequence={said.rotation}
              values={{ hint: endpoint.secretHint }}
            />
            <Careful view={view} action={`${own}/remove`} label={said.remove} of={endpoint.url} consequence={said.removal} />
          </Allowed>
        </div>
        <Hours view={view} own={`/portal/webhooks/${endpoint.id}`} hours={hours} />
        <section aria-labelledby="recover">
          <h2 id="recover">{said.recover}</h2>
          {health !== null && health.resending > 0 && (
            <p role="status">{filled(said.resending, { count: numberText(health.resending, setting.language) })}</p>
          )}
          {more.failed === undefined ? (
            <>
              <p>{said.recoverText}</p>
              <form method="get" action={own} class="form fields">
                <div>
                  <Field
                    name="since"
                    label={said.since}
                    hint={said.sinceHint}
                    type="datetime-local"
                    required
                    value={sinceText(state, view.now)}
                    setting={setting}
                  />
                </div>
                <button type="submit">{said.count}</button>
              </form>
            </>
          ) : (
            <>
              <p>
                {said.since} <Moment at={more.failed.since} setting={setting} />
              </p>
              <p>
                {filled(more.failed.count === 0 ? said.noneFailed : said.recovers, {
                  count: numberText(more.failed.count, setting.language),
                })}
              </p>
              {more.failed.count > 0 && (
                <Allowed view={view} ownerOnly={false}>
                  <Press view={view} action={`${own}/recover`} label={said.recoverNow} values={{ since: isoOf(more.failed.since) }} />
                </Allowed>
              )}
              <p>
                <a href={own}>{said.otherTime}</a>
              </p>
            </>
          )}
        </section>
        <section aria-labelledby="deliveries">
          <h2 id="deliveries">{said.deliveries}</h2>
          {page.deliveries.length === 0 ? (
            <p>{said.noDeliveries}</p>
          ) : (
            <Table
              label={said.deliveries}
              rows={page.deliveries}
              columns={[
                { head: said.event, cell: (row) => <code>{row.eventType}</code> },
                { head: words.state, cell: (row) => <Status tone={deliveryTones[row.status]} text={said.states[row.status]} /> },
                { head: said.attempt, cell: (row) => String(row.attempt) },
                { head: said.lastAnswer, cell: (row) => answerText(view, row) },
                { head: said.made, cell: (row) => <Moment at={row.createdAt} setting={setting} /> },
                {
                  head: said.next,
                  cell: (row) => {
                    const at = row.deliveredAt ?? row.nextAttemptAt;
                    return at === null ? words.none : <Moment at={at} setting={setting} />;
                  },
                },
                {
                  head: words.action,
                  cell: (row) => (
                    <Allowed view={view} ownerOnly={false}>
                      <Press view={view} action={`${own}/replay`} label={said.replay} of={row.eventType} values={{ delivery: row.id }} />
                    </Allowed>
                  ),
                },
              ]}
            />
          )}
          {(before !== null || page.hasMore) && (
            <nav class="pages" aria-label={words.pages.label}>
              {before !== null && <a href={own}>{words.pages.first}</a>}
              {page.hasMore && last !== undefined && (
                <a href={`${own}?before=${last.id}`} rel="next">
                  {words.pages.next}
                </a>
              )}
            </nav>
          )}
        </section>
        <p>
          <a href={view.at("/portal/webhooks")}>{said.all}</a>
        </p>
      </>
    ),
  });
};

/** Those of the mode. */
const endpointsOf = async ({ services, member, view }: Visit): Promise<readonly EndpointState[]> =>
  (await listWebhooks(services, member)).filter(({ environment }) => environment === view.environment);

const listed = async (visit: Visit): Promise<Listed> => {
  const { services, member } = visit;
  const [endpoints, account] = await Promise.all([endpointsOf(visit), readAccount(services, member)]);
  return { endpoints, account, once: hexOf(services.random(16)) };
};

const list = async (visit: Visit): Promise<Response> => answer(visit, listPage(visit.view, await listed(visit)));

const idOf = ({ c }: Visit): WebhookId | null => webhookIdOf(c.req.param("id") ?? "");

const minutePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z?$/;

/** A moment from a form, in UTC; null for what is none, or is still to come. */
const momentOf = (text: string | undefined, now: Instant): Instant | null => {
  if (text === undefined || !minutePattern.test(text)) return null;
  const at = Date.parse(text.endsWith("Z") ? text : `${text}Z`);
  return Number.isNaN(at) || at > now ? null : at;
};

const failed = async ({ c, services, member, view }: Visit, id: WebhookId): Promise<More> => {
  const since = momentOf(c.req.query("since"), view.now);
  if (since === null) return {};
  const count = await failedSince(services, member.business.id, id, since);
  return count === null ? {} : { failed: { since, count } };
};

const shown = async (visit: Visit, given: More = {}): Promise<Response> => {
  const { c, services, member, view } = visit;
  const id = idOf(visit);
  const asked = c.req.query("before");
  const before = asked === undefined ? null : deliveryIdOf(asked);
  if (id === null || (asked !== undefined && before === null)) return nothing(visit);
  const [endpoints, hours, account, page] = await Promise.all([
    endpointsOf(visit),
    attemptHours(services, readerOf(visit), id),
    readAccount(services, member),
    listDeliveries(services, member.business.id, id, { limit: shownDeliveries, before }),
  ]);
  const state = endpoints.find(({ endpoint }) => endpoint.id === id);
  if (state === undefined || hours === null || !page.ok) return nothing(visit);
  const more = c.req.method === "GET" ? await failed(visit, id) : given;
  return answer(visit, detailPage(view, { state, hours, account, page: page.value, before }, more), more.fault?.code);
};

const create = async (visit: Posted): Promise<Response> => {
  const { services, member, form, view } = visit;
  const events = choosableEventTypes.filter((type) => form.has(`event.${type}`));
  const made = await createWebhook(services, member, {
    environment: view.environment,
    url: (form.get("url") ?? "").trim(),
    events: events.length === 0 ? null : events,
    description: form.get("description")?.trim() || null,
    idempotencyKey: form.get("once")?.slice(0, 64) || null,
  });
  if (!made.ok) {
    const fault = faultOf(made);
    return answer(visit, listPage(view, await listed(visit), { form, fault }), fault.code);
  }
  const { endpoint, replayed } = made.value;
  return secretPage(visit, endpoint.id, replayed ? null : endpoint.secret);
};

const secretPage = (visit: Visit, id: string, secret: string | null): Promise<Response> => {
  const { words } = visit.view;
  return answer(
    visit,
    portalPage(visit.view, {
      tab: "webhooks",
      title: words.webhooks.secretTitle,
      content: <SecretOnce view={visit.view} label={words.webhooks.secretLabel} value={secret} back={`/portal/webhooks/${id}`} />,
    }),
  );
};

const calls = ({ c, member }: Visit): Promise<Response | null> => crowded(c, "WEBHOOK_CALLS", member.userId);

const test = async (visit: Posted): Promise<Response> => {
  const full = await calls(visit);
  if (full !== null) return full;
  const id = idOf(visit);
  const tested = id === null ? null : await testEndpoint(visit.services, visit.member.business.id, id);
  return tested?.ok ? shown(visit, { called: tested.value }) : nothing(visit);
};

const replay = async (visit: Posted): Promise<Response> => {
  const full = await calls(visit);
  if (full !== null) return full;
  const id = deliveryIdOf(visit.form.get("delivery") ?? "");
  if (id === null) return nothing(visit);
  const replayed = await replayDelivery(visit.services, visit.member.business.id, id);
  if (replayed.ok) return shown(visit, { called: replayed.value });
  return replayed.code === "not_found" ? nothing(visit) : shown(visit, { fault: { ...faultOf(replayed), field: null } });
};

const recover = async (visit: Posted): Promise<Response> => {
  const full = await calls(visit);
  if (full !== null) return full;
  const id = idOf(visit);
  const since = momentOf(visit.form.get("since"), visit.view.now);
  if (id === null || since === null) return nothing(visit);
  const recovered = await recoverEndpoint(visit.services, visit.member.business.id, id, since);
  return recovered.ok ? to(visit, `/portal/webhooks/${id}`, "recovering") : nothing(visit);
};

const exportHours = async (visit: Posted): Promise<Response> => {
  const id = idOf(visit);
  const { environment } = visit.view;
  const figures = id === null ? null : await attemptHours(visit.services, readerOf(visit), id);
  return figures === null ? nothing(visit) : exportChart(visit, chart, { figures, environment, endpoint: id });
};

const change = async (visit: Posted): Promise<Response> => {
  const id = idOf(visit);
  const status = visit.form.get("status") === "disabled" ? "disabled" : "enabled";
  const changed = id === null ? null : await changeWebhook(visit.services, visit.member, id, { status });
  return changed?.ok ? to(visit, `/portal/webhooks/${id}`, "saved") : nothing(visit);
};

const rotate = async (visit: Posted): Promise<Response> => {
  const id = idOf(visit);
  const before = (await endpointsOf(visit)).find(({ endpoint }) => endpoint.id === id);
  // Pressed twice, it must not end the secret that receivers still know.
  if (id !== null && before !== undefined && before.endpoint.secretHint !== visit.form.get("hint")) return secretPage(visit, id, null);
  const rotated = id === null ? null : await rotateSecret(visit.services, visit.member, id, async (sealed) => sealed);
  return id !== null && rotated?.ok ? secretPage(visit, id, rotated.value.secret) : nothing(visit);
};

const remove = async (visit: Posted): Promise<Response> => {
  const id = idOf(visit);
  const removed = id === null ? null : await deleteWebhook(visit.services, visit.member, id);
  return removed?.ok ? to(visit, "/portal/webhooks", "removed") : nothing(visit);
};

export const mountWebhooks = (pages: Hono<Api>): void => {
  pages.get("/webhooks", reading(list));
  pages.post("/webhooks", acting({ owner: true }, create));
  pages.get(
    "/webhooks/:id",
    reading((visit) => shown(visit)),
  );
  pages.post("/webhooks/:id/test", acting({}, test));
  pages.post("/webhooks/:id/replay", acting({}, replay));
  pages.post("/webhooks/:id/recover", acting({}, recover));
  pages.post("/webhooks/:id/export", acting({ reads: true }, exportHours));
  pages.post("/webhooks/:id/status", acting({ owner: true }, change));
  pages.post("/webhooks/:id/rotate", acting({ owner: true }, rotate));
  pages.post("/webhooks/:id/remove", acting({ owner: true }, remove));
};
