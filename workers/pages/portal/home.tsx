// The first steps of a business, each with its state as it is now. Until its first live certificate they are what it sees first; they
// stay reachable afterwards.
import type { Hono } from "hono";
import type { Child } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import { isLive, readSteps } from "../../operations/portal/overview.ts";
import { filled, Moment } from "../shared/parts.tsx";
import { Link, LinkLine, Status, words, type Tone } from "./parts.tsx";
import { DueLink, showOverview } from "./overview.tsx";
import { showPage } from "./page.tsx";
import { reading, type Visit } from "./visit.ts";

const said = words.home;

type State = "done" | "waiting" | "todo" | "blocked";
const tones: Readonly<Record<State, Tone>> = { done: "good", waiting: "caution", todo: "plain", blocked: "plain" };

interface Step {
  readonly title: string;
  readonly href: string;
  readonly now: readonly [state: State, evidence: Child];
}

const showSteps = async (visit: Visit): Promise<Response> => {
  const { services, member, c } = visit;
  const { account, domains, live, tests, withdrawnTests, endpoints, due } = await readSteps(services, member);
  const proved = domains.find(({ status }) => status === "verified");
  const [first] = live;
  const [test] = tests;
  const [withdrawn] = withdrawnTests;
  const isTagged = first !== undefined || test !== undefined;
  const isAcknowledged = withdrawnTests.some(({ withdrawal }) => withdrawal?.acknowledgedAt != null);
  const isHeard = endpoints.some(({ health }) => health?.lastResponseStatus != null && health.lastResponseStatus < 300);
  const isProfiled = account.legalName !== null && account.mailingAddress !== null && account.contactEmail !== null;
  const readyToGoLive = (): Step["now"] => {
    if (account.plan !== "enterprise") return ["blocked", said.needsPlan];
    return proved === undefined ? ["blocked", said.needsDomain] : ["todo", said.ready];
  };
  const withdrawal = (): Step["now"] => {
    if (isAcknowledged) return ["done", said.ceased];
    if (withdrawn !== undefined) return ["waiting", said.ceaseWaits];
    return test === undefined ? ["blocked", said.needsTest] : ["todo", said.withdrawHow];
  };
  const tried = withdrawn ?? test;
  const steps: readonly Step[] = [
    {
      title: said.steps.domain,
      href: "/portal/domains",
      now:
        proved !== undefined
          ? ["done", filled(said.proved, { domain: proved.domain })]
          : domains.length > 0
            ? ["waiting", said.proofWaits]
            : ["todo", said.noDomain],
    },
    { title: said.steps.tag, href: "/portal/snippet", now: isTagged ? ["done", said.tagCalled] : ["todo", said.tagSilent] },
    {
      title: said.steps.test,
      href: test === undefined ? "/portal/test/keys" : `/portal/certificates/${test.id}`,
      now: test === undefined ? ["todo", said.noTest] : ["done", <Moment at={test.issuedAt} />],
    },
    {
      title: said.steps.withdraw,
      href: tried === undefined ? "/portal/certificates" : `/portal/certificates/${tried.id}`,
      now: withdrawal(),
    },
    {
      title: said.steps.webhook,
      href: "/portal/webhooks",
      now: isHeard ? ["done", said.answered] : endpoints.length > 0 ? ["waiting", said.unanswered] : ["todo", said.noEndpoint],
    },
    { title: said.steps.profile, href: "/portal/settings", now: [isProfiled ? "done" : "todo", said.profile] },
    {
      title: said.steps.live,
      href: first === undefined ? "/portal/billing" : `/portal/certificates/${first.id}`,
      now: first === undefined ? readyToGoLive() : ["done", <Moment at={first.issuedAt} />],
    },
  ];
  return showPage(visit, {
    tab: "home",
    title: said.title,
    content: (
      <>
        {due.deadlines.length > 0 && (
          <p class="band">
            <DueLink due={due} />
          </p>
        )}
        <h2>{said.heading}</h2>
        <ol class="steps">
          {steps.map(({ title, href, now: [state, evidence] }) => (
            <li>
              <h3>
                <Link to={href} text={title} />
              </h3>
              <p>
                <Status tone={tones[state]} text={said.states[state]} /> {evidence}
              </p>
            </li>
          ))}
        </ol>
        <LinkLine class="button" to={c.req.path} text={said.again} />
      </>
    ),
  });
};

const show = async (visit: Visit): Promise<Response> =>
  (await isLive(visit.services, visit.member)) ? showOverview(visit) : showSteps(visit);

export const mountHome = (pages: Hono<Api>): void => {
  pages.get("/", reading(show));
  pages.get("/steps", reading(showSteps));
};
