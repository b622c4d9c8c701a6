// The list of webhook endpoints, and the form that adds one. The response to the form shows the new endpoint's secret. This file also
// registers the routes of all pages about endpoints.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { optInEventTypes } from "../../../core/events/event.ts";
import type { AppEnv } from "../../http/context.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { createWebhook } from "../../operations/webhooks/create-webhook.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import type { IconName } from "../shared/icon-names.ts";
import { EmptyCard, FormattedMessage, Icon, VerbatimText, UrlText, ArrowLink } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { CodeFigure } from "./code-figure.tsx";
import { Card, formatCount, getFormRestriction, Link, messages, RoleGate } from "./components.tsx";
import { EndpointForm, readEndpointForm, toEndpointError } from "./endpoint-form.tsx";
import { registerEndpointRoutes, renderEndpointSecret } from "./endpoint.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { renderMemberPage } from "./page.tsx";
import { toFormError, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import { AttemptStrip, EndpointStatusLabel, formatEventTypes, OptInEventsNotice, RecentTime } from "./webhook-components.tsx";

const webhookMessages = messages.webhooks;
const { form: formMessages } = webhookMessages;
const listPath = "/portal/webhooks";
const newPath = "/portal/webhooks/new";

const AddLink: FC<{ isSilent?: boolean }> = ({ isSilent = false }) => (
  <RoleGate requiredRole="owner" isSilent={isSilent}>
    <Link class="btn primary" to={newPath} icon="plus" text={webhookMessages.add} />
  </RoleGate>
);

const LastResponse: FC<{ health: EndpointState["health"] }> = ({ health }) =>
  health === null || health.lastDeliveryAt === null ? (
    webhookMessages.noResponseYet
  ) : (
    <>
      {health.lastResponseStatus === null ? webhookMessages.called.unanswered : <code>{health.lastResponseStatus}</code>}{" "}
      <span class="quiet">
        <RecentTime at={health.lastDeliveryAt} precision="minutes" />
      </span>
    </>
  );

const EndpointTable: FC<{ endpoints: readonly EndpointState[] }> = ({ endpoints }) => (
  <div class="card">
    <Table
      label={webhookMessages.endpoints}
      rows={endpoints}
      columns={[
        [
          messages.endpoint,
          ({ endpoint }) => (
            <>
              <Link to={`${listPath}/${endpoint.id}`} text={<UrlText text={endpoint.url} />} />
              <small class="quiet">
                {endpoint.description === null ? webhookMessages.noDescription : <VerbatimText text={endpoint.description} />}
              </small>
            </>
          ),
        ],
        [messages.state, ({ endpoint, health }) => <EndpointStatusLabel status={endpoint.status} health={health} />, "corner"],
        [webhookMessages.events, ({ endpoint }) => formatEventTypes(endpoint.events), "minor"],
        [webhookMessages.hours, ({ hours }) => <AttemptStrip hours={hours} />],
        [webhookMessages.lastResponseUtc, ({ health }) => <LastResponse health={health} />],
        [webhookMessages.waiting, ({ health }) => (health === null ? messages.none : formatCount(health.backlog)), "number"],
      ]}
    />
  </div>
);

const Explanations: FC = () => {
  const { feed, signatures } = webhookMessages;
  return (
    <div class="cols two even">
      <Card id="feed" title={feed.title} footer={<ArrowLink href="/docs/webhooks#read-the-feed">{feed.link}</ArrowLink>}>
        <p>{feed.text}</p>
        <CodeFigure id="feed-request" label={feed.label}>
          <span class="k">GET</span> /v1/events?cursor=1841&amp;limit=100
        </CodeFigure>
      </Card>
      <Card
        id="signatures"
        title={signatures.title}
        footer={<ArrowLink href="/docs/webhooks#check-a-signature">{signatures.link}</ArrowLink>}
      >
        <p>
          <FormattedMessage text={signatures.text} parts={{ header: <code>Svc-Signature</code> }} />
        </p>
        <CodeFigure id="signature-header" label={signatures.label}>
          Svc-Signature: t=<span class="s">1795646868</span>,v1=<span class="s">250028cae…ea9ec6</span>
        </CodeFigure>
      </Card>
    </div>
  );
};

const renderEndpointList = async (request: PortalRequest): Promise<Response> => {
  const { services, member, environment } = request;
  const endpoints = (await listWebhooks(services, member)).filter((state) => state.environment === environment);
  return renderMemberPage(request, {
    tab: "webhooks",
    intro: webhookMessages.intro,
    actions: endpoints.length > 0 && <AddLink isSilent />,
    content:
      endpoints.length === 0 ? (
        <EmptyCard
          icon="webhook"
          title={webhookMessages.emptyTitle}
          advice={webhookMessages.emptyAdvice}
          action={
            <>
              <AddLink />
              <Link class="btn" to="/portal/events" text={webhookMessages.openFeed} />
            </>
          }
        />
      ) : (
        <>
          <EndpointTable endpoints={endpoints} />
          <Explanations />
        </>
      ),
  });
};

const NextSteps: FC = () => {
  const { next } = webhookMessages;
  const steps: readonly (readonly [IconName, string, string])[] = [
    ["key-round", next.secret, next.secretText],
    ["send", next.test, next.testText],
    ["activity", next.arrive, next.arriveText],
  ];
  return (
    <Card id="next" title={next.title}>
      <ol class="timeline">
        {steps.map(([icon, title, text]) => (
          <li>
            <Icon name={icon} />
            <div>
              <strong>{title}</strong>
              <small>{text}</small>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
};

const renderNewEndpoint = async (request: PortalRequest, error?: FormError): Promise<Response> => {
  const { services, member } = request;
  const head = { tab: "webhooks", title: webhookMessages.add, parent: { path: listPath, text: messages.tabs.webhooks } } as const;
  const restriction = getFormRestriction(member, "owner");
  if (restriction !== null)
    return renderMemberPage(request, {
      ...head,
      content: (
        <EmptyCard
          icon="lock"
          title={formMessages.restricted}
          advice={restriction}
          action={<Link class="btn" to={listPath} text={formMessages.backToList} />}
        />
      ),
    });
  const account: BusinessAccount = await getAccount(services, member);
  return renderMemberPage(request, {
    ...head,
    error,
    content: (
      <div class="cols main">
        <EndpointForm
          action={listPath}
          endpoint={null}
          submitLabel={webhookMessages.add}
          footnote={formMessages.secretNext}
          cancelPath={listPath}
        />
        <div class="stack">
          <NextSteps />
          <OptInEventsNotice account={account} types={optInEventTypes} />
        </div>
      </div>
    ),
  });
};

const handleCreateEndpoint = async (request: PortalFormRequest): Promise<Response> => {
  const { services, member, form, environment } = request;
  const input = readEndpointForm(form);
  if (!input.ok) return renderNewEndpoint(request, toFormError(input));
  const created = await createWebhook(services, member, {
    ...input.value,
    environment,
    idempotencyKey: form.get("once")?.slice(0, 64) || null,
  });
  if (!created.ok) return renderNewEndpoint(request, toEndpointError(created));
  const { value: endpoint, isReplayed } = created.value;
  return renderEndpointSecret(request, endpoint.id, isReplayed ? null : endpoint.secret);
};

export const registerWebhookRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/webhooks", authenticatedPage(renderEndpointList));
  pages.post("/webhooks", authenticatedAction({ ownerOnly: true }, handleCreateEndpoint));
  pages.get("/webhooks/new", authenticatedPage(renderNewEndpoint));
  registerEndpointRoutes(pages);
};
