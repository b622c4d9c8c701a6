// The first steps of a business, each with its state as it is now. Until its first live certificate they are what it sees first; they
// stay reachable afterwards.
import type { Hono } from "hono";
import type { Child } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import { isLive, readSteps } from "../../operations/portal/overview.ts";
import { filled, Moment, numberText } from "../shared/parts.tsx";
import { showOverview } from "./overview.tsx";
import { portalPage, Status, type Tone } from "./parts.tsx";
import { answer, reading, type Visit } from "./visit.ts";

type StepState = "done" | "waiting" | "todo" | "blocked";
const tones: Readonly<Record<StepState, Tone>> = { done: "good", waiting: "caution", todo: "plain", blocked: "plain" };

interface Step {
  readonly title: string;
  readonly href: string;
  readonly state: StepState;
  readonly evidence: Child;
}

const showSteps = async (visit: Visit): Promise<Response> => {
  const { services, member, view } = visit;
  const { words, setting } = view;
  const { home: said } = words;
  const { account, domains, live, tests, withdrawnTests, endpoints, due } = await readSteps(services, member);
  const proved = domains.find(({ status }) => status === "verified");
  const [first] = live;
  const [test] = tests;
  const [withdrawn] = withdrawnTests;
  const isAcknowledged = withdrawnTests.some(({ withdrawal }) => withdrawal?.acknowledgedAt != null);
  const heard = endpoints.find(({ health }) => health?.lastResponseStatus != null && health.lastResponseStatus < 300);
  const steps: readonly Step[] = [
    {
      title: said.steps.domain,
      href: "/portal/domains",
      state: proved !== undefined ? "done" : domains.length > 0 ? "waiting" : "todo",
      evidence:
        proved !== undefined ? filled(said.proved, { domain: proved.domain }) : domains.length > 0 ? said.proofWaits : said.noDomain,
    },
    {
      title: said.steps.tag,
      href: "/portal/snippet",
      state: first !== undefined || test !== undefined ? "done" : "todo",
      evidence: first !== undefined || test !== undefined ? said.tagCalled : said.tagSilent,
    },
    {
      title: said.steps.test,
      href: test === undefined ? "/portal/test/keys" : `/portal/certificates/${test.id}`,
      state: test === undefined ? "todo" : "done",
      evidence: test === undefined ? said.noTest : <Moment at={test.issuedAt} setting={setting} />,
    },
    {
      title: said.steps.withdraw,
      href:
        test === undefined
          ? "/portal/certificates"
          : withdrawn === undefined
            ? `/portal/certificates/${test.id}`
            : `/portal/certificates/${withdrawn.id}`,
      state: isAcknowledged ? "done" : withdrawn !== undefined ? "waiting" : test === undefined ? "blocked" : "todo",
      evidence: isAcknowledged
        ? said.ceased
        : withdrawn !== undefined
          ? said.ceaseWaits
          : test === undefined
            ? said.needsTest
            : said.withdrawHow,
    },
    {
      title: said.steps.webhook,
      href: "/portal/webhooks",
      state: heard !== undefined ? "done" : endpoints.length > 0 ? "waiting" : "todo",
      evidence: heard !== undefined ? said.answered : endpoints.length > 0 ? said.unanswered : said.noEndpoint,
    },
    {
      title: said.steps.profile,
      href: "/portal/settings",
      state: account.legalName !== null && account.mailingAddress !== null && account.contactEmail !== null ? "done" : "todo",
      evidence: said.profile,
    },
    {
      title: said.steps.live,
      href: first === undefined ? "/portal/billing" : `/portal/certificates/${first.id}`,
      state: first !== undefined ? "done" : account.plan !== "enterprise" || proved === undefined ? "blocked" : "todo",
      evidence:
        first !== undefined ? (
          <Moment at={first.issuedAt} setting={setting} />
        ) : account.plan !== "enterprise" ? (
          said.needsPlan
        ) : proved === undefined ? (
          said.needsDomain
        ) : (
          said.ready
        ),
    },
  ];
  const overdue = due.deadlines.filter(({ ceaseBy }) => ceaseBy < view.now).length;
  const number = (value: number): string => numberText(value, setting.language);
  return answer(
    visit,
    portalPage(view, {
      tab: "home",
      title: said.title,
      content: (
        <>
          {due.deadlines.length > 0 && (
            <p class="band">
              <a href={view.at("/portal/deadlines")}>
                {filled(said.due, { open: `${number(due.deadlines.length)}${due.hasMore ? "+" : ""}`, overdue: number(overdue) })}
              </a>
            </p>
          )}
          <h2>{said.heading}</h2>
          <ol class="steps">
            {steps.map(({ title, href, state, evidence }) => (
              <li>
                <h3>
                  <a href={view.at(href)}>{title}</a>
                </h3>
                <p>
                  <Status tone={tones[state]} text={said.states[state]} /> {evidence}
                </p>
              </li>
            ))}
          </ol>
          <p>
            <a class="button" href={view.at(view.path === view.at("/portal/steps") ? "/portal/steps" : "/portal")}>
              {said.again}
            </a>
          </p>
        </>
      ),
    }),
  );
};

const show = async (visit: Visit): Promise<Response> =>
  (await isLive(visit.services, visit.member)) ? showOverview(visit) : showSteps(visit);

export const mountHome = (pages: Hono<Api>): void => {
  pages.get("/", reading(show));
  pages.get("/steps", reading(showSteps));
};
