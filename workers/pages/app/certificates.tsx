// /app/certificates/{id}: a consent that was given on a form, and withdrawing it; and how such consents stand in the lists. The address
// was proved by signing in, so nothing more is asked.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { ceaseBy } from "../../../core/business-days.ts";
import type { CertificateStatus } from "../../../core/certificates/certificate.ts";
import { isRefusal, type PublishedCertificate } from "../../../core/certificates/published.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { certIdOf, type CertId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import { standingEntities } from "../../../core/withdrawals/entities.ts";
import type { Api } from "../../http/context.ts";
import {
  activeNaming,
  ownCertificate,
  withdrawAll,
  withdrawOwn,
  withdrawOwnEntities,
  type NamingBusinesses,
  type NamingCertificates,
} from "../../operations/consumers/certificates.ts";
import { ButtonLink, Choices } from "../shared/forms.tsx";
import { ownCertificateWords, type OwnCertificateWords } from "../shared/i18n/own-certificates.ts";
import type { Page } from "../shared/layout.tsx";
import { dayIn, Exact, FieldFault, filled, Foreign, Moment, Naming, numberText, Points, Status, type Standing } from "../shared/parts.tsx";
import { chosenEntities } from "../withdrawal/routes.tsx";
import { actsOf, EntityReceipt, isDivisible, RecipientBoxes, ScopeBoxes, WithdrawnSummary } from "../withdrawal/parts.tsx";
import { appPage, PostForm, useView, type AppView } from "./parts.tsx";
import { acting, answer, flash, formOf, nothingHere, reading, refused, type Posted, type Visit } from "./signed-in.ts";

export const ownWordsOf = ({ language }: AppView): OwnCertificateWords => ownCertificateWords[language];

/** Of one business in the list of all: how many there are, and the way to them. */
export const CertificatesLine: FC<{ naming: NamingBusinesses["businesses"][number]; isEnded: boolean }> = ({ naming, isEnded }) => {
  const view = useView();
  const words = ownWordsOf(view);
  const { id, name, certificates, active, lastIssuedAt } = naming;
  const count = isEnded ? certificates - active : active;
  const [one, many] = isEnded ? [words.oneWithdrawn, words.manyWithdrawn] : [words.one, words.many];
  return (
    <li>
      <p>
        <Status {...standingOf(view, isEnded ? "revoked" : "active")} />
      </p>
      <p>
        <a href={`/app/with/${id}`}>{count === 1 ? one : filled(many, { count: numberText(count, view.language) })}</a>
      </p>
      {!isEnded && (
        <>
          <p class="quiet">{filled(words.newest, { date: dayIn(view.language, lastIssuedAt) })}</p>
          <p>
            <a class="button" href={`/app/with/${id}`} aria-label={filled(words.seeOrWithdrawOf, { business: name })}>
              {words.seeOrWithdraw}
            </a>
          </p>
        </>
      )}
    </li>
  );
};

/** What follows the businesses of a list: the way to more of them, and that some may be missing. */
export const MoreBusinesses: FC<{ naming: NamingBusinesses; isEnded: boolean }> = ({ naming, isEnded }) => {
  const words = ownWordsOf(useView());
  const last = naming.businesses.at(-1);
  return (
    <>
      {naming.isIncomplete && <p role="status">{words.away}</p>}
      {naming.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app?${isEnded ? "view=ended&" : ""}after=${last.id}`}>{words.moreBusinesses}</ButtonLink>
        </p>
      )}
    </>
  );
};

/** How one stands in a list; `until`: by when contact must end, of one that is withdrawn. */
const standingOf = (view: AppView, status: CertificateStatus, until: Instant | null = null): Standing => {
  const words = ownWordsOf(view);
  if (status === "active") return { tone: "good", shape: "tick", text: words.active };
  return until === null || view.now > until
    ? { tone: "plain", shape: "dot", text: words.withdrawn }
    : { tone: "caution", shape: "clock", text: filled(words.withdrawnUntil, { date: dayIn(view.language, until) }) };
};

/** Those of one business, the newest first. */
export const CertificateList: FC<{ of: NamingCertificates; businessId: string }> = ({ of, businessId }) => {
  const view = useView();
  const words = ownWordsOf(view);
  const last = of.certificates.at(-1);
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">{words.heading}</h2>
      <p class="quiet">{words.strangers}</p>
      <ul class="lines">
        {of.certificates.map(({ id, status, ceaseBy: until, purpose, originDomain, issuedAt }) => (
          <li>
            <p>
              <Status {...standingOf(view, status, until)} />
            </p>
            <p>
              <a href={`/app/certificates/${id}`}>
                <Exact text={purpose} />
              </a>
            </p>
            <p class="quiet">
              <Exact text={originDomain} /> · {filled(words.given, { date: dayIn(view.language, issuedAt) })}
            </p>
          </li>
        ))}
      </ul>
      {of.hasMore && last !== undefined && (
        <p>
          <ButtonLink href={`/app/with/${businessId}?after=${last.id}`}>{words.older}</ButtonLink>
        </p>
      )}
    </section>
  );
};

/** How it stands on its own page: also where nobody was agreed to, or some are withdrawn from. */
const ownStandingOf = (view: AppView, certificate: PublishedCertificate): Standing => {
  const words = ownWordsOf(view);
  const isActive = certificate.status === "active";
  if (isActive && isRefusal(certificate)) return { tone: "caution", shape: "cross", text: words.refused };
  const gone = certificate.entitiesWithdrawn.length;
  if (!isActive || gone === 0) return standingOf(view, certificate.status, certificate.withdrawal?.ceaseBy);
  const number = (value: number): string => numberText(value, view.language);
  const text = filled(words.partly, { count: number(gone), all: number(gone + standingEntities(certificate).length) });
  return { tone: "caution", shape: "clock", text };
};

const Names: FC<{ names: readonly string[] }> = ({ names }) => <Points of={names.map((name) => <Foreign text={name} />)} />;

/** Where the certificate is published, and its receipts. */
interface Places {
  readonly verifyUrl: string;
  readonly apiBase: string;
}

const certificatePage = (view: AppView, certificate: PublishedCertificate, { verifyUrl, apiBase }: Places): Page => {
  const words = ownWordsOf(view);
  const standing = certificate.status === "active" ? standingEntities(certificate) : [];
  return appPage(
    view,
    { title: words.title, business: certificate.businessName },
    <>
      <p class="standing">
        <Status {...ownStandingOf(view, certificate)} />
        <span class="quiet">
          <Exact text={certificate.originDomain} /> · <Moment at={certificate.issuedAt} />
        </span>
      </p>
      {standing.length > 0 && (
        <>
          <p class="choices">
            <ButtonLink href={`${pathOf(certificate.id)}/withdraw`}>{words.withdraw}</ButtonLink>
          </p>
          <p class="quiet">{words.strangers}</p>
        </>
      )}
      <section aria-labelledby="agreed">
        <h2 id="agreed">{words.agreed}</h2>
        <p>
          {view.words.forPurpose} <Foreign text={certificate.purpose} />
        </p>
        <blockquote>
          <Foreign text={certificate.disclosureText} />
        </blockquote>
      </section>
      <section aria-labelledby="recipients">
        <h2 id="recipients">{words.recipients}</h2>
        {standing.length === 0 ? <p>{words.nobody}</p> : <Names names={standing} />}
        {actsOf(certificate).map((act) => (
          <>
            <h3>{words.from}</h3>
            <Names names={act.entities} />
            <p class="quiet">
              <WithdrawnSummary of={act} /> <EntityReceipt id={certificate.id} number={act.number} apiBase={apiBase} />
            </p>
          </>
        ))}
      </section>
      <section aria-labelledby="subject">
        <h2 id="subject">{words.subject}</h2>
        <p>
          <Exact text={Object.values(certificate.subjectMasked).join(", ")} />
        </p>
      </section>
      <p>
        <a href={verifyUrl}>{words.open}</a>
      </p>
      <p class="quiet">{words.openAdvice}</p>
      <p>
        <a href={`/app/with/${certificate.businessId}`}>
          <Naming text={view.words.withTitle} name={certificate.businessName} />
        </a>
      </p>
    </>,
  );
};

/** What follows, before it is done. `active`: how many of the business's name the person. */
const withdrawPage = (view: AppView, certificate: PublishedCertificate, active: number, fault?: string): Page => {
  const words = ownWordsOf(view);
  const path = pathOf(certificate.id);
  const business = certificate.businessName;
  return appPage(
    view,
    { title: words.withdrawTitle, business, isFaulty: fault !== undefined },
    <>
      <Points of={[filled(words.consequence, { date: dayIn(view.language, ceaseBy(view.now)) }), words.stays, words.proved]} />
      <PostForm action={`${path}/withdraw`}>
        {active > 1 && (
          <fieldset class="boxes">
            <ScopeBoxes business={business} count={active} />
          </fieldset>
        )}
        <Choices back={path} keep={words.keep} go={words.withdraw} />
      </PostForm>
      {isDivisible(certificate) && (
        <details open={fault !== undefined}>
          <summary>{words.some}</summary>
          <PostForm action={`${path}/withdraw-some`}>
            {fault !== undefined && <FieldFault text={fault} />}
            <RecipientBoxes certificate={certificate} form="some" label={words.some} />
            <button type="submit">{words.someSubmit}</button>
          </PostForm>
        </details>
      )}
    </>,
  );
};

/** With the certificate that the address names; a page of its own where it does not name the person. */
const withCertificate =
  <V extends Visit>(then: (visit: V, certificate: PublishedCertificate) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const own = await ownCertificate(visit.services, visit.person, certIdOf(visit.c.req.param("id") ?? ""));
    const words = ownWordsOf(visit.view);
    return own.ok ? then(visit, own.value) : nothingHere(visit, words.none, words.noneAdvice);
  };

const pathOf = (id: CertId): string => `/app/certificates/${id}`;

/** What is withdrawn, or was a refusal, has nobody left to withdraw from; its page says so. */
const whileStanding =
  <V extends Visit>(then: (visit: V, certificate: PublishedCertificate) => Promise<Response>) =>
  async (visit: V, certificate: PublishedCertificate): Promise<Response> =>
    certificate.status === "active" && standingEntities(certificate).length > 0
      ? then(visit, certificate)
      : visit.c.redirect(pathOf(certificate.id), 303);

const show = (visit: Visit, certificate: PublishedCertificate): Promise<Response> => {
  const { verifyUrl, baseUrl } = visit.services.config;
  const places = { verifyUrl: verifyUrlOf(verifyUrl, certificate.id), apiBase: baseUrl };
  return answer(visit, 200, certificatePage(visit.view, certificate, places));
};

const ask = async (visit: Visit, certificate: PublishedCertificate): Promise<Response> =>
  answer(visit, 200, withdrawPage(visit.view, certificate, await activeNaming(visit.services, visit.person, certificate.businessId)));

const withdraw = async (visit: Posted, { id, businessId }: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  if (form.get("scope") === "business") {
    const withdrawn = await withdrawAll(services, person, { businessId });
    if (withdrawn.ok) {
      const { withdrawn: count, isPending, withdrawnAt } = withdrawn.value;
      await flash(visit, { key: isPending ? "endedPending" : "endedAll", count, date: ceaseBy(withdrawnAt) });
    }
    return c.redirect(`/app/with/${businessId}`, 303);
  }
  const withdrawn = await withdrawOwn(services, person, id, view.language);
  if (withdrawn.ok) await flash(visit, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(pathOf(id), 303);
};

const withdrawSome = async (visit: Posted, certificate: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  const entities = chosenEntities(form, certificate);
  if (entities === null) {
    const active = await activeNaming(services, person, certificate.businessId);
    return refused(visit, "invalid_request", withdrawPage(view, certificate, active, ownWordsOf(view).tickSome));
  }
  const withdrawn = await withdrawOwnEntities(services, person, certificate.id, { entities, language: view.language });
  if (withdrawn.ok) await flash(visit, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(pathOf(certificate.id), 303);
};

export const mountCertificates = (pages: Hono<Api>): void => {
  pages.get("/certificates/:id", reading(withCertificate(show)));
  pages.get("/certificates/:id/withdraw", reading(withCertificate(whileStanding(ask))));
  pages.post("/certificates/:id/withdraw", acting(withCertificate(whileStanding(withdraw))));
  pages.get("/certificates/:id/withdraw-some", (c) => formOf(`/app/certificates/${c.req.param("id")}/withdraw`)(c));
  pages.post("/certificates/:id/withdraw-some", acting(withCertificate(whileStanding(withdrawSome))));
};
