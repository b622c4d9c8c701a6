// Shows the setup steps of a business and their current state. The steps are shown on the home page until the business has a live
// certificate, and always at /portal/steps. With scripts, the list updates itself.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import { getSetupSteps } from "../../operations/portal/get-setup-steps.ts";
import { hasLiveCertificate } from "../../operations/portal/has-live-certificate.ts";
import { FormattedMessage, formatMessage, Icon, Timestamp } from "../shared/components.tsx";
import type { IconName } from "../shared/icon-names.ts";
import { CopyLine } from "../shared/signed-in-components.tsx";
import { Card, formatCopyLabel, Link, StatusLabel, messages, usePortalRequest } from "./components.tsx";
import { renderOverview } from "./overview.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedPage } from "./handlers.ts";
import { pathInEnvironment } from "./paths.ts";
import type { PortalRequest } from "./portal-request.ts";

const homeMessages = messages.home;

type Setup = Awaited<ReturnType<typeof getSetupSteps>>;

interface StepAction {
  /** The path of a portal page, or the URL of a public page. */
  readonly to: string;
  readonly text: string;
  readonly isPublic?: true;
  /** True if the link leads to live mode even from test mode. */
  readonly isLive?: true;
}

interface SetupStep {
  readonly title: string;
  /** The page that the title links to. If the step is next or blocked, its title is not a link. */
  readonly path: string;
  readonly state: "done" | "open" | "blocked";
  readonly text: Child;
  /** Shown if the step is next, or if it is blocked by something that the member can change. The first action is the primary one. */
  readonly actions: readonly StepAction[];
}

const getDomainStep = ({ domains }: Setup): SetupStep => {
  const { title, done, todo, waiting, add, verify } = homeMessages.domain;
  const verified = domains.find(({ status }) => status === "verified");
  const claimed = domains.find(({ status }) => status !== "verified");
  const step = { title, path: "/portal/domains" };
  if (verified !== undefined) return { ...step, state: "done", text: formatMessage(done, { domain: verified.domain }), actions: [] };
  if (claimed === undefined) return { ...step, state: "open", text: todo, actions: [{ to: "/portal/domains", text: add }] };
  const actions = [{ to: `/portal/domains/${claimed.id}`, text: verify }];
  return { ...step, state: "open", text: formatMessage(waiting, { domain: claimed.domain }), actions };
};

const getTagStep = ({ live, tests }: Setup): SetupStep => {
  const { title, done, todo, action, guide } = homeMessages.tag;
  const isDone = live.length > 0 || tests.length > 0;
  return {
    title,
    path: "/portal/snippet",
    state: isDone ? "done" : "open",
    text: isDone ? done : todo,
    actions: [
      { to: "/portal/test/snippet", text: action },
      { to: "/docs/widget", text: guide, isPublic: true },
    ],
  };
};

const getTestStep = ({ tests: [test] }: Setup): SetupStep => {
  const { title, done, todo, action } = homeMessages.test;
  const path = "/portal/test/certificates";
  return test === undefined
    ? { title, path, state: "open", text: todo, actions: [{ to: path, text: action }] }
    : {
        title,
        path: `${path}/${test.id}`,
        state: "done",
        text: <FormattedMessage text={done} parts={{ time: <Timestamp at={test.issuedAt} /> }} />,
        actions: [],
      };
};

const getWithdrawalStep = ({ tests: [test], withdrawnTests }: Setup, verifyUrl: string): SetupStep => {
  const { title, done, todo, waiting, open, list, confirm } = homeMessages.withdraw;
  const path = "/portal/test/deadlines";
  const [withdrawn] = withdrawnTests;
  if (withdrawnTests.some(({ withdrawal }) => withdrawal?.acknowledgedAt != null))
    return { title, path, state: "done", text: done, actions: [] };
  if (withdrawn !== undefined)
    return { title, path, state: "open", text: waiting, actions: [{ to: `${path}/${withdrawn.id}`, text: confirm }] };
  if (test === undefined) return { title, path, state: "open", text: todo, actions: [] };
  const actions = [
    { to: `${verifyUrl}/c/${test.id}`, text: open, isPublic: true },
    { to: path, text: list },
  ] as const;
  return { title, path, state: "open", text: todo, actions };
};

const getWebhookStep = ({ endpoints }: Setup): SetupStep => {
  const { title, done, todo, waiting, add, view, feed } = homeMessages.webhook;
  const path = "/portal/webhooks";
  const [first] = endpoints;
  if (endpoints.some(({ health }) => health?.lastResponseStatus != null && health.lastResponseStatus < 300))
    return { title, path, state: "done", text: done, actions: [] };
  if (first === undefined)
    return {
      title,
      path,
      state: "open",
      text: todo,
      actions: [
        { to: `${path}/new`, text: add },
        { to: "/portal/events", text: feed },
      ],
    };
  const endpointPath = pathInEnvironment(first.environment, `${path}/${first.endpoint.id}`);
  return { title, path, state: "open", text: waiting, actions: [{ to: endpointPath, text: view }] };
};

const getProfileStep = ({ account }: Setup): SetupStep => {
  const { title, text, action } = homeMessages.profile;
  const path = "/portal/settings";
  const isDone = account.legalName !== null && account.mailingAddress !== null && account.contactEmail !== null;
  return { title, path, state: isDone ? "done" : "open", text, actions: [{ to: path, text: action }] };
};

const getLiveStep = ({ account, domains, live: [newest] }: Setup): SetupStep => {
  const { title, done, ready, needsPlan, needsDomain, plans, action } = homeMessages.live;
  if (newest !== undefined) {
    const text = <FormattedMessage text={done} parts={{ time: <Timestamp at={newest.issuedAt} /> }} />;
    return { title, path: `/portal/certificates/${newest.id}`, state: "done", text, actions: [] };
  }
  if (account.plan !== "enterprise")
    return { title, path: "/portal/billing", state: "blocked", text: needsPlan, actions: [{ to: "/portal/billing", text: plans }] };
  if (!domains.some(({ status }) => status === "verified"))
    return { title, path: "/portal/domains", state: "blocked", text: needsDomain, actions: [] };
  return { title, path: "/portal/snippet", state: "open", text: ready, actions: [{ to: "/portal/snippet", text: action, isLive: true }] };
};

const ActionLink: FC<{ action: StepAction; class: "btn" | "btn sm" | "btn primary" }> = ({ action, class: classes }) => {
  const { to, text, isPublic, isLive } = action;
  if (!isPublic && !isLive) return <Link class={classes} to={to} text={text} />;
  return (
    <a class={classes} href={to}>
      {isPublic && <Icon name={to.startsWith("/docs") ? "book-open" : "external-link"} />}
      {text}
    </a>
  );
};

const stepIcons = { done: "circle-check", open: "circle", blocked: "lock" } as const;
const stepIconClasses = { done: "good-i", open: "quiet", blocked: "quiet" } as const;

const StepItem: FC<{ step: SetupStep; isNext: boolean }> = ({ step: { title, path, state, text, actions }, isNext }) => (
  <li class={isNext ? "now" : undefined} aria-current={isNext ? "step" : undefined}>
    {isNext ? <Icon name="circle-dot" /> : <Icon name={stepIcons[state]} class={stepIconClasses[state]} />}
    <div>
      <h3>{isNext || state === "blocked" ? title : <Link to={path} text={title} />}</h3>
      <p class="quiet">{text}</p>
      {(isNext || state === "blocked") && actions.length > 0 && (
        <div class="row">
          {actions.map((action, at) => (
            <ActionLink action={action} class={state === "blocked" ? "btn sm" : at === 0 ? "btn primary" : "btn"} />
          ))}
        </div>
      )}
    </div>
    {isNext && <StatusLabel tone="info" icon="arrow-right" text={homeMessages.states.next} />}
    {state === "done" && <StatusLabel tone="good" icon="check" text={homeMessages.states.done} />}
    {state === "blocked" && <StatusLabel tone="plain" icon="lock" text={homeMessages.states.blocked} />}
  </li>
);

const SetupCard: FC<{ steps: readonly SetupStep[] }> = ({ steps }) => {
  const next = steps.find(({ state }) => state === "open");
  const done = steps.filter(({ state }) => state === "done").length;
  const progress = formatMessage(homeMessages.doneOf, { done: String(done), all: String(steps.length) });
  return (
    <section class="card setup" id="setup" data-follows="" aria-labelledby="setup-heading">
      <header>
        <h2 id="setup-heading">{homeMessages.setup}</h2>
        <span class="small quiet">{progress}</span>
      </header>
      <div class="body">
        <progress class="meter" max={steps.length} value={done} aria-label={homeMessages.progress}>
          {progress}
        </progress>
      </div>
      <ol class="steps">
        {steps.map((step) => (
          <StepItem step={step} isNext={step === next} />
        ))}
      </ol>
    </section>
  );
};

const TestIdsCard: FC<{ clientId: string }> = ({ clientId }) => {
  const { title, note, clientId: label, clientIdNote, server, createKey } = homeMessages.testIds;
  return (
    <Card id="ids" title={title} note={note}>
      <div class="stack tight">
        <p class="small">
          <strong>{label}</strong> <span class="quiet">{clientIdNote}</span>
        </p>
        <CopyLine id="test-client-id" value={clientId} copyLabel={formatCopyLabel(label)} />
        <p class="small quiet">
          {server} <a href={pathInEnvironment("sandbox", "/portal/keys")}>{createKey}</a>
        </p>
      </div>
    </Card>
  );
};

const guideIcons: Readonly<Record<keyof typeof homeMessages.guides.items, IconName>> = {
  "first-hour": "book-open",
  webhooks: "webhook",
  withdrawal: "file-badge",
};

const GuidesCard: FC = () => (
  <Card id="guides" title={homeMessages.guides.title} isFlush>
    <ul class="lines">
      {Object.entries(homeMessages.guides.items).map(([name, title]) => (
        <li>
          <Icon name={guideIcons[name as keyof typeof guideIcons]} />
          <a href={`/docs/${name}`}>{title}</a>
        </li>
      ))}
    </ul>
  </Card>
);

const RefreshLink: FC = () => {
  const { c } = usePortalRequest();
  return (
    <a class="btn" href={c.req.path}>
      <Icon name="refresh-cw" />
      {homeMessages.again}
    </a>
  );
};

const renderSetupSteps = async (request: PortalRequest): Promise<Response> => {
  const { services, member } = request;
  const setup = await getSetupSteps(services, member);
  const steps = [
    getDomainStep(setup),
    getTagStep(setup),
    getTestStep(setup),
    getWithdrawalStep(setup, services.config.verifyUrl),
    getWebhookStep(setup),
    getProfileStep(setup),
    getLiveStep(setup),
  ];
  return renderMemberPage(request, {
    tab: "home",
    title: homeMessages.title,
    intro: steps.every(({ state }) => state === "done") ? homeMessages.introDone : homeMessages.intro,
    hasLiveUpdates: true,
    actions: <RefreshLink />,
    content: (
      <div class="cols main">
        <SetupCard steps={steps} />
        <div class="stack">
          {setup.testClient !== undefined && <TestIdsCard clientId={setup.testClient.id} />}
          <GuidesCard />
        </div>
      </div>
    ),
  });
};

const renderHome = async (request: PortalRequest): Promise<Response> =>
  (await hasLiveCertificate(request.services, request.member)) ? renderOverview(request) : renderSetupSteps(request);

export const registerHomeRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", authenticatedPage(renderHome));
  pages.get("/steps", authenticatedPage(renderSetupSteps));
};
