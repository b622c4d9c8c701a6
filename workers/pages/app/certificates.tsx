// /app/certificates/{id}: a consent that was given on a form, and withdrawing it; and how such consents stand in the lists. The address
// was proved by signing in, so nothing more is asked.
import type { FC } from "hono/jsx";
import type { Hono } from "hono";
import { ceaseBy } from "../../../core/business-days.ts";
import { isRefusal, type PublishedCertificate } from "../../../core/certificates/published.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { certIdOf, type CertId } from "../../../core/ids.ts";
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
import { ownCertificateWords, type OwnCertificateWords } from "../shared/i18n/own-certificates.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Foreign, Moment, numberText, Shape, type Setting } from "../shared/parts.tsx";
import { chosenEntities } from "../withdrawal/routes.tsx";
import { actsOf, EntityReceipt, isDivisible, RecipientBoxes, SomeWithdrawn } from "../withdrawal/withdrawal-parts.tsx";
import { appNotice, appPage, dayIn, Fault, faulty, Naming, PostForm, titleOf, type AppView } from "./parts.tsx";
import { acting, answer, flash, formOf, reading, refused, type Posted, type Visit } from "./signed-in.ts";

const wordsOf = ({ setting }: { readonly setting: Setting }): OwnCertificateWords => ownCertificateWords[setting.language];

type NamingBusiness = NamingBusinesses["businesses"][number];

/** Of one business in the list of all: how many there are, and the way to them. */
export const CertificatesLine: FC<{ naming: NamingBusiness; isEnded: boolean; view: AppView }> = ({ naming, isEnded, view }) => {
  const words = wordsOf(view);
  const { language } = view.setting;
  const { id, name, certificates, active, lastIssuedAt } = naming;
  const count = isEnded ? certificates - active : active;
  const [one, many] = isEnded ? [words.oneWithdrawn, words.manyWithdrawn] : [words.one, words.many];
  return (
    <li>
      <p>
        <span class={`status ${isEnded ? "plain" : "good"}`}>
          <Shape name={isEnded ? "dot" : "tick"} />
          {isEnded ? words.withdrawn : words.active}
        </span>
      </p>
      <p>
        <a href={`/app/with/${id}`}>{count === 1 ? one : filled(many, { count: numberText(count, language) })}</a>
      </p>
      {!isEnded && <p class="quiet">{filled(words.newest, { date: dayIn(language, lastIssuedAt) })}</p>}
      {!isEnded && (
        <p>
          <a class="button" href={`/app/with/${id}`} aria-label={filled(words.seeOrWithdrawOf, { business: name })}>
            {words.seeOrWithdraw}
          </a>
        </p>
      )}
    </li>
  );
};

/** What follows the businesses of a list: the way to more of them, and that some may be missing. */
export const MoreBusinesses: FC<{ naming: NamingBusinesses; isEnded: boolean; view: AppView }> = ({ naming, isEnded, view }) => {
  const words = wordsOf(view);
  const last = naming.businesses.at(-1);
  return (
    <>
      {naming.isIncomplete && <p role="status">{words.away}</p>}
      {naming.hasMore && last !== undefined && (
        <p>
          <a class="button" href={`/app?${isEnded ? "view=ended&" : ""}after=${last.id}`}>
            {words.moreBusinesses}
          </a>
        </p>
      )}
    </>
  );
};

type NamingCertificate = NamingCertificates["certificates"][number];

const ListedStanding: FC<{ certificate: Pick<NamingCertificate, "status" | "ceaseBy">; view: AppView }> = ({ certificate, view }) => {
  const words = wordsOf(view);
  const { status, ceaseBy: until } = certificate;
  if (status === "active")
    return (
      <span class="status good">
        <Shape name="tick" />
        {words.active}
      </span>
    );
  return until === null || view.now > until ? (
    <span class="status plain">
      <Shape name="dot" />
      {words.withdrawn}
    </span>
  ) : (
    <span class="status caution">
      <Shape name="clock" />
      {filled(words.withdrawnUntil, { date: dayIn(view.setting.language, until) })}
    </span>
  );
};

/** Those of one business, the newest first. */
export const CertificateList: FC<{ of: NamingCertificates; businessId: string; view: AppView }> = ({ of, businessId, view }) => {
  const words = wordsOf(view);
  const { language } = view.setting;
  const last = of.certificates.at(-1);
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">{words.heading}</h2>
      <p class="quiet">{words.strangers}</p>
      <ul class="lines">
        {of.certificates.map((certificate) => (
          <li>
            <p>
              <ListedStanding certificate={certificate} view={view} />
            </p>
            <p>
              <a href={`/app/certificates/${certificate.id}`}>
                <Exact text={certificate.purpose} />
              </a>
            </p>
            <p class="quiet">
              <Exact text={certificate.originDomain} /> · {filled(words.given, { date: dayIn(language, certificate.issuedAt) })}
            </p>
          </li>
        ))}
      </ul>
      {of.hasMore && last !== undefined && (
        <p>
          <a class="button" href={`/app/with/${businessId}?after=${last.id}`}>
            {words.older}
          </a>
        </p>
      )}
    </section>
  );
};

const Standing: FC<{ certificate: PublishedCertificate; view: AppView }> = ({ certificate, view }) => {
  const words = wordsOf(view);
  const { language } = view.setting;
  if (certificate.status === "active" && isRefusal(certificate))
    return (
      <span class="status caution">
        <Shape name="cross" />
        {words.refused}
      </span>
    );
  const gone = certificate.entitiesWithdrawn.length;
  if (certificate.status === "active" && gone > 0)
    return (
      <span class="status caution">
        <Shape name="clock" />
        {filled(words.partly, {
          count: numberText(gone, language),
          all: numberText(gone + standingEntities(certificate).length, language),
        })}
      </span>
    );
  return <ListedStanding certificate={{ status: certificate.status, ceaseBy: certificate.withdrawal?.ceaseBy ?? null }} view={view} />;
};

const Names: FC<{ names: readonly string[]; setting: Setting }> = ({ names, setting }) => (
  <ul class="names">
    {names.map((name) => (
      <li>
        <Foreign text={name} setting={setting} />
      </li>
    ))}
  </ul>
);

/** Where the certificate is published, and its receipts. */
interface Places {
  readonly verifyUrl: string;
  readonly apiBase: string;
}

const certificatePage = (view: AppView, certificate: PublishedCertificate, { verifyUrl, apiBase }: Places): Page => {
  const words = wordsOf(view);
  const { setting } = view;
  const standing = certificate.status === "active" ? standingEntities(certificate) : [];
  return appPage(
    view,
    null,
    titleOf(words.title, certificate.businessName),
    <>
      <h1>
        <Naming text={words.title} name={certificate.businessName} />
      </h1>
      <p class="standing">
        <Standing certificate={certificate} view={view} />
        <span class="quiet">
          <Exact text={certificate.originDomain} /> · <Moment at={certificate.issuedAt} setting={setting} />
        </span>
      </p>
      {standing.length > 0 && (
        <>
          <p class="choices">
            <a class="button" href={`/app/certificates/${certificate.id}/withdraw`}>
              {words.withdraw}
            </a>
          </p>
          <p class="quiet">{words.strangers}</p>
        </>
      )}
      <section aria-labelledby="agreed">
        <h2 id="agreed">{words.agreed}</h2>
        <p>
          {view.words.forPurpose} <Foreign text={certificate.purpose} setting={setting} />
        </p>
        <blockquote>
          <Foreign text={certificate.disclosureText} setting={setting} />
        </blockquote>
      </section>
      <section aria-labelledby="recipients">
        <h2 id="recipients">{words.recipients}</h2>
        {standing.length === 0 ? <p>{words.nobody}</p> : <Names names={standing} setting={setting} />}
        {actsOf(certificate).map((act) => (
          <>
            <h3>{words.from}</h3>
            <Names names={act.map(({ entity }) => entity)} setting={setting} />
            <p class="quiet">
              <SomeWithdrawn act={act} setting={setting} />{" "}
              <EntityReceipt certificate={certificate} act={act} apiBase={apiBase} setting={setting} />
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
          <Naming text={words.toBusiness} name={certificate.businessName} />
        </a>
      </p>
    </>,
  );
};

/** What follows, before it is done. `active`: how many of the business's name the person. */
const withdrawPage = (view: AppView, certificate: PublishedCertificate, active: number, fault?: string): Page => {
  const words = wordsOf(view);
  const { setting } = view;
  const said = setting.words.withdraw;
  const path = `/app/certificates/${certificate.id}`;
  return faulty(
    view,
    fault,
    appPage(
      view,
      null,
      titleOf(words.withdrawTitle, certificate.businessName),
      <>
        <h1>
          <Naming text={words.withdrawTitle} name={certificate.businessName} />
        </h1>
        <ul class="names">
          <li>{filled(words.consequence, { date: dayIn(setting.language, ceaseBy(view.now)) })}</li>
          <li>{words.stays}</li>
          <li>{words.proved}</li>
        </ul>
        <PostForm view={view} action={`${path}/withdraw`}>
          {active > 1 && (
            <fieldset class="boxes">
              <legend>{said.scope}</legend>
              <p>
                <input type="radio" name="scope" value="business" id="scope-business" checked />
                <label for="scope-business">
                  <Naming text={said.scopeBusiness} name={certificate.businessName} /> ({numberText(active, setting.language)})
                </label>
              </p>
              <p>
                <input type="radio" name="scope" value="certificate" id="scope-certificate" />
                <label for="scope-certificate">{said.scopeCertificate}</label>
              </p>
            </fieldset>
          )}
          <div class="choices">
            <a class="button" href={path}>
              {words.keep}
            </a>
            <button type="submit" class="primary">
              {words.withdraw}
            </button>
          </div>
        </PostForm>
        {isDivisible(certificate) && (
          <details open={fault !== undefined}>
            <summary>{words.some}</summary>
            <PostForm view={view} action={`${path}/withdraw-some`}>
              {fault !== undefined && <Fault view={view} text={fault} />}
              <RecipientBoxes certificate={certificate} form="some" label={words.some} />
              <button type="submit">{words.someSubmit}</button>
            </PostForm>
          </details>
        )}
      </>,
    ),
  );
};

/** With the certificate that the address names; a page of its own where it does not name the person. */
const withCertificate =
  <V extends Visit>(then: (visit: V, certificate: PublishedCertificate) => Promise<Response>) =>
  async (visit: V): Promise<Response> => {
    const own = await ownCertificate(visit.services, visit.person, certIdOf(visit.c.req.param("id") ?? ""));
    const words = wordsOf(visit.view);
    return own.ok ? then(visit, own.value) : refused(visit, "not_found", appNotice(visit.view, words.none, words.noneAdvice));
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
  const withdrawn = await withdrawOwn(services, person, id, view.setting.language);
  if (withdrawn.ok) await flash(visit, { key: "withdrawnOne", date: withdrawn.value.ceaseBy });
  return c.redirect(pathOf(id), 303);
};

const withdrawSome = async (visit: Posted, certificate: PublishedCertificate): Promise<Response> => {
  const { c, services, person, form, view } = visit;
  const entities = chosenEntities(form, certificate);
  if (entities === null) {
    const active = await activeNaming(services, person, certificate.businessId);
    return refused(visit, "invalid_request", withdrawPage(view, certificate, active, wordsOf(view).tickSome));
  }
  const withdrawn = await withdrawOwnEntities(services, person, certificate.id, { entities, language: view.setting.language });
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
