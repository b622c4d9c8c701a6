// The frame that all pages of the portal stand in: who is signed in, the way around, what was just done; and the pages that say why there
// is no other.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { Api } from "../../http/context.ts";
import { statuses } from "../../http/statuses.ts";
import { unpaidSince } from "../../operations/billing/checkout.ts";
import { brand } from "../shared/brand.ts";
import { pageAnswer, type Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, Shape } from "../shared/parts.tsx";
import { FormContext, language, LinkLine, PostForm, Press, Copy, useVisit, VisitContext, words } from "./parts.tsx";
import { liveRoot, tabs, testRoot } from "./paths.ts";
import type { Fault, Visit } from "./visit.ts";

type Tab = keyof typeof words.tabs;

const Links: FC<{ tab: Tab | null; label: string; class: string }> = ({ tab, label, class: classes }) => {
  const { c, at, environment } = useVisit();
  return (
    <nav class={classes} aria-label={label}>
      <ul>
        {tabs
          .filter(([name]) => environment === "sandbox" || name !== "sandbox")
          .map(([name, path]) => (
            <li>
              <a href={at(path)} aria-current={name === tab ? (at(path) === c.req.path ? "page" : "true") : undefined}>
                {words.tabs[name]}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
};

/** To another business of the same address; nothing for whoever has one and is invited to none. */
const Switch: FC = () => {
  const { businesses: said } = words;
  const { at, member, seats } = useVisit();
  const others = seats.filter(({ id, invitedUntil }) => invitedUntil === null && id !== member.userId);
  const invitations = seats.filter(({ invitedUntil }) => invitedUntil !== null).length;
  return (
    <>
      {others.length > 0 && (
        <PostForm action="/portal/businesses" class="form press switch">
          <label for="switch" class="visually-hidden">
            {said.other}
          </label>
          <select id="switch" name="seat">
            {others.map(({ id, business }) => (
              <option value={id}>{business.name}</option>
            ))}
          </select>
          <button type="submit">{said.switch}</button>
        </PostForm>
      )}
      {(others.length > 0 || invitations > 0) && (
        <a href={at("/portal/businesses")}>{invitations === 0 ? said.all : filled(said.waiting, { count: String(invitations) })}</a>
      )}
    </>
  );
};

const Bar: FC = () => {
  const { member, email, environment } = useVisit();
  return (
    <div class="portal-bar">
      <span>
        <strong>
          <Exact text={member.business.name} />
        </strong>
      </span>
      <Switch />
      <span>
        {words.environments[environment]} · <a href={environment === "live" ? testRoot : liveRoot}>{words.modes[environment]}</a>
      </span>
      <span>
        <Exact text={email} /> ({words.roles[member.role]})
      </span>
      <Press action="/portal/sign-out" label={words.signOut} />
    </div>
  );
};

type Refused = {
  readonly fault?: Fault | undefined;
  /** Why it is answered instead of another page, where no fault says so. */
  readonly code?: RefusalCode | undefined;
};

/** Answers with a page in the portal's words, whoever reads it. */
export const answerPage = (c: Context<Api>, { fault, code = fault?.code, title, ...page }: Page & Refused): Promise<Response> => {
  if (code !== undefined) c.set("refused", code);
  const whole: Page = { ...page, title: `${fault === undefined ? "" : `${words.error} `}${title} · ${brand}`, only: language };
  return pageAnswer(c, code === undefined ? 200 : statuses[code], () => whole, language);
};

interface Sheet extends Refused {
  readonly tab: Tab | null;
  /** That of the tab, where none is given. */
  readonly title?: string;
  readonly content: Child;
  /** It is read again by a script, which then stands in place of the one that copies. */
  readonly isFollowed?: boolean;
  /** Nothing of the business is shown: there is nowhere to go. */
  readonly isClosed?: true;
}

/** Answers a member with a page in its frame. */
export const showPage = (visit: Visit, { tab, content, isFollowed, isClosed, ...sheet }: Sheet): Promise<Response> => {
  const { c, member, environment, at, form } = visit;
  const { fault, code } = sheet;
  const tabName = tab === null ? null : words.tabs[tab];
  const title = sheet.title ?? tabName ?? "";
  const done = c.req.query("done") ?? "";
  const inVisit = (part: Child) => <VisitContext.Provider value={visit}>{part}</VisitContext.Provider>;
  const bar = (
    <>
      {environment === "sandbox" && (
        <p class="band mode">
          <Shape name="warning" /> <span>{words.testBand}</span> <a href={liveRoot}>{words.modes.sandbox}</a>
        </p>
      )}
      <Bar />
    </>
  );
  const side = (
    <>
      <details class="menu">
        <summary>{filled(words.menu, { page: tabName ?? title })}</summary>
        <Links tab={tab} label={words.menuLabel} class="folded" />
      </details>
      <Links tab={tab} label={words.sideLabel} class="side" />
    </>
  );
  return answerPage(c, {
    title,
    fault,
    code,
    ...(isFollowed ? { script: "follow.js", readsItself: true } : { script: "copy.js" }),
    frame: { name: "portal", bar: inVisit(bar), side: isClosed !== true && inVisit(side) },
    content: inVisit(
      <article class="portal-page">
        {Object.hasOwn(words.done, done) && (
          <p class="flash" role="status">
            <Shape name="tick" /> {words.done[done as keyof typeof words.done]}
          </p>
        )}
        {member.business.status === "past_due" && (
          <p class="band">
            <Shape name="warning" /> <span>{words.pastDueBand}</span> <a href={at("/portal/billing")}>{words.tabs.billing}</a>
          </p>
        )}
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, fault }}>{content}</FormContext.Provider>
      </article>,
    ),
  });
};

/** The same for what is not there and for what is another business's. */
export const nothing = (visit: Visit): Promise<Response> =>
  showPage(visit, { tab: null, title: words.nothing, content: <p>{words.nothingAdvice}</p>, code: "not_found" });

export const forbidden = (visit: Visit, code: RefusalCode, why: string): Promise<Response> =>
  showPage(visit, { tab: null, title: words.notDone, content: <p>{why}</p>, code });

/** The account is suspended, pending or closed: nothing of it is shown. One that is suspended because a payment is missing can be paid for. */
export const closed = async (visit: Visit, code: RefusalCode): Promise<Response> => {
  const { business, role } = visit.member;
  const since = await unpaidSince(visit.services, visit.member);
  const suspended = since === null ? words.closed.suspended : words.closed.unpaid;
  const said = business.status === "pending" || business.status === "closed" ? words.closed[business.status] : suspended;
  return showPage(visit, {
    tab: null,
    title: said.title,
    code,
    isClosed: true,
    content: (
      <>
        <p>{said.advice}</p>
        {since !== null && (
          <>
            <p>
              {words.closed.since} <Moment at={since} />.
            </p>
            {role === "owner" ? (
              <LinkLine class="button" to="/portal/billing/checkout" text={words.closed.pay} />
            ) : (
              <p>{words.ownersOnly}</p>
            )}
          </>
        )}
      </>
    ),
  });
};

interface Secret {
  readonly tab: Tab;
  readonly title: string;
  readonly label: string;
  /** Null when it was shown before. */
  readonly value: string | null;
  readonly back: string;
}

/** What may be shown once only: the answer to the form that made it. */
export const showSecret = (visit: Visit, { tab, title, label, value, back }: Secret): Promise<Response> =>
  showPage(visit, {
    tab,
    title,
    content: (
      <section class="secret" aria-labelledby="secret">
        <h2 id="secret">{value === null ? words.secret.over : words.secret.heading}</h2>
        {value === null ? (
          <p>{words.secret.overAdvice}</p>
        ) : (
          <>
            <p id="secret-label">{label}</p>
            <p>
              <code class="whole" id="secret-value" translate="no">
                {value}
              </code>{" "}
              <Copy of="secret-value" label={label} />
            </p>
          </>
        )}
        <LinkLine class="button" to={back} text={value === null ? words.secret.back : words.secret.kept} />
      </section>
    ),
  });
