// Webhook endpoints: made with a secret that is shown once, tried, looked into, changed and removed.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { namedOnlyEventTypes } from "../../../core/events/event.ts";
import { deliveryIdOf, webhookIdOf, type WebhookId } from "../../../core/ids.ts";
import type { Delivery, DeliveryStatus } from "../../../core/webhooks/endpoint.ts";
import { dayMs, isoOf, type Instant } from "../../../core/time.ts";
import { choosableEventTypes } from "../../../core/webhooks/management.ts";
import type { Api } from "../../http/context.ts";
import { readAccount, type Account } from "../../operations/portal/profile.ts";
import {
  attemptHours,
  failedSince,
  listDeliveries,
  recoverEndpoint,
  replayDelivery,
  testEndpoint,
  type CallOutcome,
} from "../../operations/webhooks/deliveries.ts";
import { changeWebhook, deleteWebhook, listWebhooks, type EndpointState } from "../../operations/webhooks/endpoints.ts";
import { createWebhook } from "../../operations/webhooks/registration.ts";
import { rotateSecret } from "../../operations/webhooks/secrets.ts";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import {
  Allowed,
  Careful,
  Field,
  Further,
  Link,
  LinkLine,
  number,
  Once,
  PostForm,
  Press,
  Properties,
  Section,
  Status,
  Submit,
  Table,
  Tick,
  useVisit,
  words,
  Wrong,
  type Tone,
} from "./parts.tsx";
import { nothing, showPage, showSecret } from "./page.tsx";
import { acting, faultOf, readerOf, reading, to, withId, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.webhooks;
const shownDeliveries = 25;

const Health: FC<{ state: EndpointState }> = ({ state: { endpoint, health } }) => {
  if (endpoint.status === "disabled") return <Status tone="plain" text={said.off} />;
  if (health === null) return <Status tone="plain" text={said.unknown} />;
  if (health.failingSince === null) return <Status tone="good" text={said.works} />;
  return (
    <>
      <Status tone="bad" text={said.failing} /> <Moment at={health.failingSince} />
    </>
  );
};

const eventsText = (events: readonly string[] | null): string => (events === null ? said.allEvents : events.join(", "));

/** What is made only for businesses that ask for it, where this one has not: an endpoint that waits for it would wait in vain. */
export const SwitchedOff: FC<{ account: Account; types: readonly string[] | null }> = ({ account, types }) => {
  const isAsked = namedOnlyEventTypes.some((type) => types?.includes(type));
  return account.emitsIssued || !isAsked ? null : (
    <p class="quiet">
      {said.onRequest} <Link to="/portal/settings" text={words.tabs.settings} />
    </p>
  );
};

/** Those of the mode. */
const endpointsOf = async ({ services, member, environment }: Visit): Promise<readonly EndpointState[]> =>
  (await listWebhooks(services, member)).filter((state) => state.environment === environment);

const list = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { services, member } = visit;
  const [endpoints, account] = await Promise.all([endpointsOf(visit), readAccount(services, member)]);
  return showPage(visit, {
    tab: "webhooks",
    fault,
    content: (
      <>
        <Table
          label={words.tabs.webhooks}
          rows={endpoints}
          empty={said.empty}
          columns={[
            [said.url, ({ endpoint }) => <Link to={`/portal/webhooks/${endpoint.id}`} text={<Exact text={endpoint.url} />} />],
            [said.listens, ({ endpoint }) => eventsText(endpoint.events)],
            [words.state, (row) => <Health state={row} />],
            [said.lastAnswer, ({ health }) => health?.lastResponseStatus ?? words.none],
            [said.waiting, ({ health }) => (health === null ? words.none : number(health.backlog))],
          ]}
        />
        <Section id="new" title={said.new}>
          <PostForm by="owner" action="/portal/webhooks">
            <Wrong fields={["url", "description"]} />
            <Once />
            <Field name="url" label={said.url} hint={said.urlHint} type="url" required maxlength={2_048} />
            <fieldset>
              <legend>{said.events}</legend>
              <p class="quiet">{said.eventsHint}</p>
              {choosableEventTypes.map((type) => (
                <p>
                  <Tick name={`event.${type}`} label={<code>{type}</code>} />
                </p>
              ))}
            </fieldset>
            <SwitchedOff account={account} types={namedOnlyEventTypes} />
            <Field name="description" label={said.description} maxlength={200} />
            <Submit label={said.create} />
          </PostForm>
        </Section>
      </>
    ),
  });
};

const tones: Readonly<Record<DeliveryStatus, Tone>> = { success: "good", pending: "plain", retrying: "caution", abandoned: "bad" };

export const DeliveryState: FC<{ of: Delivery }> = ({ of: { status } }) => <Status tone={tones[status]} text={said.states[status]} />;

export const answerText = ({ responseStatus, error }: Delivery): string =>
  responseStatus !== null && responseStatus > 0 ? String(responseStatus) : error === null ? words.none : said.errors[error];

/** When it was delivered, or is tried next. */
export const NextTime: FC<{ of: Delivery }> = ({ of: { deliveredAt, nextAttemptAt } }) => {
  const at = deliveredAt ?? nextAttemptAt;
  return at === null ? words.none : <Moment at={at} />;
};

const Called: FC<{ called: CallOutcome }> = ({ called: { delivered, responseStatus, durationMs } }) => (
  <p role="status">
    <Status tone={delivered ? "good" : "bad"} text={delivered ? said.delivered : said.undelivered} />{" "}
    {responseStatus === 0 ? said.unanswered : filled(said.answered, { status: String(responseStatus), ms: number(durationMs) })}
  </p>
);

const chart: ChartFile = { name: "attempt_hours", unit: "hour", head: ["hour", "delivered", "failed"] };

/** Since when it has been failing, else a day; as its input takes it: UTC, to the minute. */
const sinceText = ({ health }: EndpointState, now: Instant): string => isoOf(health?.failingSince ?? now - dayMs).slice(0, 16);

/** How many failed since the time that was asked for. */
interface Failed {
  readonly since: Instant;
  readonly count: number;
}

const Recovery: FC<{ own: string; state: EndpointState; failed: Failed | null }> = ({ own, state, failed }) => {
  const { at, now } = useVisit();
  const resending = state.health?.resending ?? 0;
  return (
    <Section id="recover" title={said.recover}>
      {resending > 0 && <p role="status">{filled(said.resending, { count: number(resending) })}</p>}
      {failed === null ? (
        <>
          <p>{said.recoverText}</p>
          <form method="get" action={at(own)} class="form fields">
            <div>
              <Field name="since" label={said.since} hint={said.sinceHint} type="datetime-local" required value={sinceText(state, now)} />
            </div>
            <button type="submit">{said.count}</button>
          </form>
        </>
      ) : (
        <>
          <p>
            {said.since} <Moment at={failed.since} />
          </p>
          <p>{filled(failed.count === 0 ? said.noneFailed : said.recovers, { count: number(failed.count) })}</p>
          {failed.count > 0 && (
            <Press by="member" action={`${own}/recover`} label={said.recoverNow} values={{ since: isoOf(failed.since) }} />
          )}
          <LinkLine to={own} text={said.otherTime} />
        </>
      )}
    </Section>
  );
};

const minutePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{3})?)?Z?$/;

/** A moment from a form, in UTC; null for what is none, or is still to come. */
const momentOf = (text: string | undefined, now: Instant): Instant | null => {
  if (text === undefined || !minutePattern.test(text)) return null;
  const at = Date.parse(text.endsWith("Z") ? text : `${text}Z`);
  return Number.isNaN(at) || at > now ? null : at;
};

const failedIn = async ({ c, services, member, now }: Visit, id: WebhookId): Promise<Failed | null> => {
  const since = momentOf(c.req.query("since"), now);
  const count = since === null ? null : await failedSince(services, member.business.id, id, since);
  return since === null || count === null ? null : { since, count };
};

const detail = async (visit: Visit, id: WebhookId, fault?: Fault, called?: CallOutcome): Promise<Response> => {
  const { c, services, member } = visit;
  const asked = c.req.query("before");
  const before = asked === undefined ? null : deliveryIdOf(asked);
  if (asked !== undefined && before === null) return nothing(visit);
  const [endpoints, hours, account, page, failed] = await Promise.all([
    endpointsOf(visit),
    attemptHours(services, readerOf(visit), id),
    readAccount(services, member),
    listDeliveries(services, member.business.id, id, { limit: shownDeliveries, before }),
    failedIn(visit, id),
  ]);
  const state = endpoints.find(({ endpoint }) => endpoint.id === id);
  if (state === undefined || hours === null || !page.ok) return nothing(visit);
  const { endpoint, health } = state;
  const { deliveries, hasMore } = page.value;
  const last = deliveries.at(-1);
  const own = `/portal/webhooks/${id}`;
  const isEnabled = endpoint.status === "enabled";
  return showPage(visit, {
    tab: "webhooks",
    title: said.one,
    fault,
    content: (
      <>
        <p>
          <Exact text={endpoint.url} />
        </p>
        {called !== undefined && <Called called={called} />}
        <SwitchedOff account={account} types={endpoint.events} />
        <Wrong />
        <Properties
          lines={[
            [words.state, <Health state={state} />],
            [said.listens, eventsText(endpoint.events)],
            [said.description, endpoint.description !== null && <Exact text={endpoint.description} />],
            [said.secret, <code>{endpoint.secretHint}</code>],
            [said.oldest, health !== null && health.oldestPendingAt !== null && <Moment at={health.oldestPendingAt} />],
          ]}
        />
        <div class="actions">
          <Press by="member" action={`${own}/test`} label={said.test} />
          <Allowed to="owner">
            <Press
              action={`${own}/status`}
              label={isEnabled ? said.switchOff : said.switchOn}
              values={{ status: isEnabled ? "disabled" : "enabled" }}
            />
            <Careful
              action={`${own}/rotate`}
              label={said.rotate}
              of={endpoint.url}
              consequence={said.rotation}
              values={{ hint: endpoint.secretHint }}
            />
            <Careful action={`${own}/remove`} label={said.remove} of={endpoint.url} consequence={said.removal} />
          </Allowed>
        </div>
        <Chart
          file={chart}
          exports={`${own}/export`}
          heading={said.hours}
          trend={filled(said.hoursTrend, { delivered: number(totalOf(hours, "up")), failed: number(totalOf(hours, "down")) })}
          figures={hours}
          labels={{ start: said.hour, up: said.delivered, down: said.failed }}
        />
        <Recovery own={own} state={state} failed={failed} />
        <Section id="deliveries" title={said.deliveries}>
          <Table
            label={said.deliveries}
            rows={deliveries}
            empty={said.noDeliveries}
            columns={[
              [said.event, (row) => <code>{row.eventType}</code>],
              [words.state, (row) => <DeliveryState of={row} />],
              [said.attempt, (row) => String(row.attempt)],
              [said.lastAnswer, answerText],
              [said.made, (row) => <Moment at={row.createdAt} />],
              [said.next, (row) => <NextTime of={row} />],
              [
                words.action,
                (row) => (
                  <Press by="member" action={`${own}/replay`} label={said.replay} of={row.eventType} values={{ delivery: row.id }} />
                ),
              ],
            ]}
          />
          <Further first={before !== null && own} next={hasMore && last !== undefined && `${own}?before=${last.id}`} />
        </Section>
        <LinkLine to="/portal/webhooks" text={said.all} />
      </>
    ),
  });
};

const showSecretOf = (visit: Visit, id: string, value: string | null): Promise<Response> =>
  showSecret(visit, { tab: "webhooks", title: said.secretTitle, label: said.secretLabel, value, back: `/portal/webhooks/${id}` });

const create = async (visit: Posted): Promise<Response> => {
  const { services, member, form, environment } = visit;
  const events = choosableEventTypes.filter((type) => form.has(`event.${type}`));
  const made = await createWebhook(services, member, {
    environment,
    url: (form.get("url") ?? "").trim(),
    events: events.length === 0 ? null : events,
    description: form.get("description")?.trim() || null,
    idempotencyKey: form.get("once")?.slice(0, 64) || null,
  });
  if (!made.ok) return list(visit, faultOf(made));
  const { endpoint, replayed } = made.value;
  return showSecretOf(visit, endpoint.id, replayed ? null : endpoint.secret);
};

const test = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const tested = await testEndpoint(visit.services, visit.member.business.id, id);
  return tested.ok ? detail(visit, id, undefined, tested.value) : nothing(visit);
};

const replay = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const delivery = deliveryIdOf(visit.form.get("delivery") ?? "");
  if (delivery === null) return nothing(visit);
  const replayed = await replayDelivery(visit.services, visit.member.business.id, delivery);
  if (replayed.ok) return detail(visit, id, undefined, replayed.value);
  return replayed.code === "not_found" ? nothing(visit) : detail(visit, id, { ...faultOf(replayed), field: null });
};

const recover = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const since = momentOf(visit.form.get("since"), visit.now);
  if (since === null) return nothing(visit);
  const recovered = await recoverEndpoint(visit.services, visit.member.business.id, id, since);
  return recovered.ok ? to(visit, `/portal/webhooks/${id}`, "recovering") : nothing(visit);
};

const exportHours = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const figures = await attemptHours(visit.services, readerOf(visit), id);
  return figures === null ? nothing(visit) : exportChart(visit, chart, figures, id);
};

const change = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const status = visit.form.get("status") === "disabled" ? "disabled" : "enabled";
  const changed = await changeWebhook(visit.services, visit.member, id, { status });
  return changed.ok ? to(visit, `/portal/webhooks/${id}`, "saved") : nothing(visit);
};

const rotate = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const before = (await endpointsOf(visit)).find(({ endpoint }) => endpoint.id === id);
  // Pressed twice, it must not end the secret that receivers still know.
  if (before !== undefined && before.endpoint.secretHint !== visit.form.get("hint")) return showSecretOf(visit, id, null);
  const rotated = await rotateSecret(visit.services, visit.member, id, async (sealed) => sealed);
  return rotated.ok ? showSecretOf(visit, id, rotated.value.secret) : nothing(visit);
};

const remove = async (visit: Posted, id: WebhookId): Promise<Response> => {
  const removed = await deleteWebhook(visit.services, visit.member, id);
  return removed.ok ? to(visit, "/portal/webhooks", "removed") : nothing(visit);
};

const calling = { memberLimit: "WEBHOOK_CALLS" } as const;

export const mountWebhooks = (pages: Hono<Api>): void => {
  pages.get("/webhooks", reading(list));
  pages.post("/webhooks", acting({ owner: true }, create));
  pages.get("/webhooks/:id", reading(withId(webhookIdOf, detail)));
  pages.post("/webhooks/:id/test", acting(calling, withId(webhookIdOf, test)));
  pages.post("/webhooks/:id/replay", acting(calling, withId(webhookIdOf, replay)));
  pages.post("/webhooks/:id/recover", acting(calling, withId(webhookIdOf, recover)));
  pages.post("/webhooks/:id/export", acting({ reads: true }, withId(webhookIdOf, exportHours)));
  pages.post("/webhooks/:id/status", acting({ owner: true }, withId(webhookIdOf, change)));
  pages.post("/webhooks/:id/rotate", acting({ owner: true }, withId(webhookIdOf, rotate)));
  pages.post("/webhooks/:id/remove", acting({ owner: true }, withId(webhookIdOf, remove)));
};
