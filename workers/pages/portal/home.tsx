// The setup steps of a business with their current state. They are the home page until the first live certificate and stay available
// at /portal/steps.
import type { Hono } from "hono";
import type { Child } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import { getSetupSteps } from "../../operations/portal/get-setup-steps.ts";
import { hasLiveCertificate } from "../../operations/portal/has-live-certificate.ts";
import { formatMessage, Timestamp } from "../shared/components.tsx";
import { Link, LinkList, StatusLabel, messages, type Tone } from "./components.tsx";
import { countOpenDeadlines, renderOverview } from "./overview.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedPage } from "./handlers.ts";
import type { PortalRequest } from "./portal-request.ts";

const homeMessages = messages.home;

type StepState = "done" | "waiting" | "todo" | "blocked";
const stepTones: Readonly<Record<StepState, Tone>> = { done: "good", waiting: "caution", todo: "plain", blocked: "plain" };

interface SetupStep {
  readonly title: string;
  readonly href: string;
  readonly status: readonly [state: StepState, evidence: Child];
}

const renderSetupSteps = async (request: PortalRequest): Promise<Response> => {
  const { services, member, c } = request;
  const { account, domains, live, tests, withdrawnTests, endpoints, due } = await getSetupSteps(services, member);
  const verified = domains.find(({ status }) => status === "verified");
  const [first] = live;
  const [test] = tests;
  const [withdrawn] = withdrawnTests;
  const hasTag = first !== undefined || test !== undefined;
  const isAcknowledged = withdrawnTests.some(({ withdrawal }) => withdrawal?.acknowledgedAt != null);
  const hasResponse = endpoints.some(({ health }) => health?.lastResponseStatus != null && health.lastResponseStatus < 300);
  const hasProfile = account.legalName !== null && account.mailingAddress !== null && account.contactEmail !== null;
  const getLiveStatus = (): SetupStep["status"] => {
    if (account.plan !== "enterprise") return ["blocked", homeMessages.needsPlan];
    return verified === undefined ? ["blocked", homeMessages.needsDomain] : ["todo", homeMessages.ready];
  };
  const getWithdrawalStatus = (): SetupStep["status"] => {
    if (isAcknowledged) return ["done", homeMessages.ceased];
    if (withdrawn !== undefined) return ["waiting", homeMessages.ceaseWaits];
    return test === undefined ? ["blocked", homeMessages.needsTest] : ["todo", homeMessages.withdrawHow];
  };
  const withdrawalTest = withdrawn ?? test;
  const steps: readonly SetupStep[] = [
    {
      title: homeMessages.steps.domain,
      href: "/portal/domains",
      status:
        verified !== undefined
          ? ["done", formatMessage(homeMessages.proved, { domain: verified.domain })]
          : domains.length > 0
            ? ["waiting", homeMessages.proofWaits]
            : ["todo", homeMessages.noDomain],
    },
    {
      title: homeMessages.steps.tag,
      href: "/portal/snippet",
      status: hasTag ? ["done", homeMessages.tagCalled] : ["todo", homeMessages.tagSilent],
    },
    {
      title: homeMessages.steps.test,
      href: test === undefined ? "/portal/test/keys" : `/portal/certificates/${test.id}`,
      status: test === undefined ? ["todo", homeMessages.noTest] : ["done", <Timestamp at={test.issuedAt} />],
    },
    {
      title: homeMessages.steps.withdraw,
      href: withdrawalTest === undefined ? "/portal/certificates" : `/portal/certificates/${withdrawalTest.id}`,
      status: getWithdrawalStatus(),
    },
    {
      title: homeMessages.steps.webhook,
      href: "/portal/webhooks",
      status: hasResponse
        ? ["done", homeMessages.answered]
        : endpoints.length > 0
          ? ["waiting", homeMessages.unanswered]
          : ["todo", homeMessages.noEndpoint],
    },
    { title: homeMessages.steps.profile, href: "/portal/settings", status: [hasProfile ? "done" : "todo", homeMessages.profile] },
    {
      title: homeMessages.steps.live,
      href: first === undefined ? "/portal/billing" : `/portal/certificates/${first.id}`,
      status: first === undefined ? getLiveStatus() : ["done", <Timestamp at={first.issuedAt} />],
    },
  ];
  const open = countOpenDeadlines(due);
  return renderMemberPage(request, {
    tab: "home",
    counts: open === undefined ? {} : { deadlines: open },
    title: homeMessages.title,
    content: (
      <>
        <h2>{homeMessages.heading}</h2>
        <ol class="steps">
          {steps.map(({ title, href, status: [state, evidence] }) => (
            <li>
              <h3>
                <Link to={href} text={title} />
              </h3>
              <p>
                <StatusLabel tone={stepTones[state]} text={homeMessages.states[state]} /> {evidence}
              </p>
            </li>
          ))}
        </ol>
        <LinkList class="btn" to={c.req.path} text={homeMessages.again} />
      </>
    ),
  });
};

const renderHome = async (request: PortalRequest): Promise<Response> =>
  (await hasLiveCertificate(request.services, request.member)) ? renderOverview(request) : renderSetupSteps(request);

export const registerHomeRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/", authenticatedPage(renderHome));
  pages.get("/steps", authenticatedPage(renderSetupSteps));
};
