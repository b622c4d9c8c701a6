// Certificates as the people of a business read them: a list whose state is its address, the same rows as CSV, and one certificate,
// masked until somebody asks for the person, which is entered in the audit chain.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import type { Environment } from "../../../core/access/entitlement.ts";
import { evidenceHtml, evidenceZip } from "../../../core/certificates/evidence-pack.ts";
import type { ListedCertificate, PublishedCertificate, View } from "../../../core/certificates/published.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { certIdOf, type CertId } from "../../../core/ids.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
import { dayMs, isoOf, type Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { gatherEvidence } from "../../operations/certificates/evidence.ts";
import { listCertificates, type CertificateList, type ListQuery } from "../../operations/certificates/list.ts";
import type { CertificateDetail } from "../../operations/certificates/read.ts";
import { enterExport } from "../../operations/portal/export.ts";
import {
  openAskedPerson,
  ownCertificate,
  revealCertificate,
  sealAskedPerson,
  viewsOfCertificate,
} from "../../operations/portal/certificates.ts";
import { listViews, removeView, saveView, type SavedView } from "../../operations/portal/saved-views.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Foreign, Hash, Moment, numberText } from "../shared/parts.tsx";
import { verifierSource } from "../verifier.gen.ts";
import { csvStream } from "./csv.ts";
import {
  addressIn,
  Allowed,
  Choice,
  Field,
  Pages,
  personText,
  portalPage,
  PostForm,
  Press,
  Status,
  Table,
  type PortalView,
  type Tone,
} from "./parts.tsx";
import { acting, answer, faultOf, nothing, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

const perPage = 25;
const maxExported = 10_000;
/** Read and sent at one time: some hundred kilobytes. */
const exportedAtOnce = 500;

/** What the address says: only what is filled in, so that the same list has one address. */
interface Asked {
  readonly status: "active" | "revoked" | null;
  readonly purpose: string | null;
  readonly website: string | null;
  readonly recipient: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Sealed, so that no address holds a person. */
  readonly person: string | null;
  readonly page: number;
}

const text = (value: string | undefined, max = 200): string | null => value?.trim().slice(0, max) || null;

const dayOf = (value: string | undefined): string | null =>
  value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : null;

const maxPage = 10_000;

const askedOf = (given: (name: string) => string | undefined): Asked => {
  const page = Number(given("page"));
  const status = given("status");
  return {
    status: status === "active" || status === "revoked" ? status : null,
    purpose: text(given("purpose"), 500),
    website: text(given("website"), 253),
    recipient: text(given("recipient")),
    from: dayOf(given("from")),
    to: dayOf(given("to")),
    person: text(given("person"), 2_000),
    page: Number.isInteger(page) && page >= 1 && page <= maxPage ? page : 1,
  };
};

const addressOf = (path: string, asked: Asked): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) {
    const isUsual = value === null || (name === "page" && value === 1);
    if (!isUsual) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
};

const queryOf = async (visit: Visit, asked: Asked, page: number, size: number): Promise<ListQuery> => {
  const person = asked.person === null ? null : await openAskedPerson(visit.services, visit.member, asked.person);
  const at = (day: string | null, more: number): Instant | null => (day === null ? null : Date.parse(day) + more);
  return {
    page,
    perPage: size,
    status: asked.status,
    subjectEmail: person?.includes("@") ? person : null,
    subjectPhone: person === null || person.includes("@") ? null : person,
    q: asked.purpose,
    originDomain: asked.website,
    entity: asked.recipient,
    from: at(asked.from, 0),
    to: at(asked.to, dayMs - 1),
  };
};

const tones: Readonly<Record<PublishedCertificate["status"], Tone>> = { active: "good", revoked: "bad" };

const Person: FC<{ view: PortalView; listed: Pick<ListedCertificate, "subjectMasked" | "subjectErasedAt"> }> = ({ view, listed }) =>
  listed.subjectErasedAt === null ? <Exact text={personText(listed.subjectMasked)} /> : view.words.certificates.erased;

const Filters: FC<{ view: PortalView; asked: Asked }> = ({ view, asked }) => {
  const { words, setting } = view;
  const { certificates: said } = words;
  const isFiltered = addressOf("", { ...asked, page: 1 }) !== "";
  return (
    <details class="filters" open={isFiltered}>
      <summary>{words.filter}</summary>
      <form method="get" action={view.at("/portal/certificates")} class="form fields">
        {asked.person !== null && <input type="hidden" name="person" value={asked.person} />}
        <div>
          <Choice name="status" label={words.state} value={asked.status} options={[["", words.any], ...Object.entries(said.states)]} />
        </div>
        <div>
          <Field name="purpose" label={said.purpose} value={asked.purpose} setting={setting} maxlength={500} />
        </div>
        <div>
          <Field name="website" label={said.website} value={asked.website} setting={setting} maxlength={253} />
        </div>
        <div>
          <Field name="recipient" label={said.recipient} value={asked.recipient} setting={setting} maxlength={200} />
        </div>
        <div>
          <Field name="from" label={said.from} type="date" value={asked.from} setting={setting} />
        </div>
        <div>
          <Field name="to" label={said.to} type="date" value={asked.to} setting={setting} />
        </div>
        <button type="submit" class="primary">
          {words.show}
        </button>
      </form>
      <PostForm view={view} action="/portal/certificates/find">
        <Field name="person" label={said.person} hint={said.personHint} setting={setting} required maxlength={320} />
        <button type="submit">{said.find}</button>
      </PostForm>
      {isFiltered && (
        <p>
          <a href={view.at("/portal/certificates")}>{words.clear}</a>
        </p>
      )}
    </details>
  );
};

/** The rest of the address that a view is: every filter but the person, who is in no list of the business's. */
const queryText = (asked: Asked): string => addressOf("", { ...asked, person: null, page: 1 }).slice(1);

interface NewView {
  readonly name: string;
  readonly fault: Fault;
}

/** A status and nothing else asked, then those the business keeps by name. Any view is the address of its page, too. */
const Views: FC<{ view: PortalView; asked: Asked; saved: readonly SavedView[]; typed: NewView | undefined }> = ({
  view,
  asked,
  saved,
  typed,
}) => {
  const { words, setting } = view;
  const { certificates: said } = words;
  const here = addressOf("", { ...asked, page: 1 });
  const usual = [["", said.all], ...Object.entries(said.states).map(([status, text]) => [`?status=${status}`, text] as const)] as const;
  const isView = usual.some(([query]) => query === here) || saved.some(({ query }) => `?${query}` === here);
  const Link = ({ query, children }: { query: string; children?: Child }) => (
    <li>
      <a href={view.at(`/portal/certificates${query}`)} aria-current={here === query ? "true" : undefined}>
        {children}
      </a>
    </li>
  );
  return (
    <>
      <nav class="views" aria-label={said.views}>
        <ul>
          {usual.map(([query, text]) => (
            <Link query={query}>{text}</Link>
          ))}
          {saved.map(({ name, query }) => (
            <Link query={`?${query}`}>
              <Exact text={name} />
            </Link>
          ))}
        </ul>
      </nav>
      {!isView && <p class="quiet">{said.keepView}</p>}
      {(!isView || typed !== undefined) && asked.person === null && (
        <Allowed view={view} ownerOnly={false}>
          <PostForm view={view} action="/portal/certificates/views" class="form fields">
            {[...new URLSearchParams(queryText(asked))].map(([name, value]) => (
              <input type="hidden" name={name} value={value} />
            ))}
            <div>
              <Field name="name" label={said.viewName} required maxlength={60} value={typed?.name} fault={typed?.fault} setting={setting} />
            </div>
            <button type="submit">{said.saveView}</button>
          </PostForm>
        </Allowed>
      )}
      {saved.length > 0 && (
        <details>
          <summary>{said.savedViews}</summary>
          <Table
            label={said.savedViews}
            rows={saved}
            columns={[
              { head: said.viewName, cell: ({ name }) => <Exact text={name} /> },
              {
                head: words.action,
                cell: ({ name }) => (
                  <Allowed view={view} ownerOnly={false}>
                    <Press view={view} action="/portal/certificates/views/remove" label={said.removeView} of={name} values={{ name }} />
                  </Allowed>
                ),
              },
            ]}
          />
        </details>
      )}
    </>
  );
};

interface Listed {
  readonly list: CertificateList;
  readonly saved: readonly SavedView[];
}

const listPage = (view: PortalView, asked: Asked, { list, saved }: Listed, typed?: NewView): Page => {
  const { words, setting } = view;
  const { certificates: said } = words;
  const { total } = list;
  const isFiltered = addressOf("", { ...asked, page: 1 }) !== "";
  const first = (list.page - 1) * perPage + 1;
  const number = (value: number): string => numberText(value, setting.language);
  const shown = { first: number(first), last: number(first + list.certificates.length - 1), total: number(total) };
  return portalPage(view, {
    tab: "certificates",
    title: words.tabs.certificates,
    fault: typed?.fault,
    content: (
      <>
        <Views view={view} asked={asked} saved={saved} typed={typed} />
        <Filters view={view} asked={asked} />
        {list.certificates.length === 0 ? (
          <p>
            {isFiltered || total > 0 ? (
              <>
                {words.noMatch} <a href={view.at("/portal/certificates")}>{words.clear}</a>
              </>
            ) : (
              <>
                {said.empty} <a href={view.at("/portal/snippet")}>{words.tabs.snippet}</a>
              </>
            )}
          </p>
        ) : (
          <>
            <p>{filled(said.range, shown)}</p>
            {total <= maxExported ? (
              <Press
                view={view}
                action="/portal/certificates/export"
                label={filled(said.csv, { total: number(total) })}
                values={Object.fromEntries(new URLSearchParams(addressOf("", { ...asked, page: 1 })))}
              />
            ) : (
              <p class="quiet">{filled(said.tooMany, { max: number(maxExported) })}</p>
            )}
            <Table
              label={words.tabs.certificates}
              rows={list.certificates}
              columns={[
                {
                  head: said.issued,
                  cell: (row) => (
                    <a href={view.at(`/portal/certificates/${row.id}`)}>
                      <Moment at={row.issuedAt} setting={setting} />
                    </a>
                  ),
                },
                { head: words.state, cell: (row) => <Status tone={tones[row.status]} text={said.states[row.status]} /> },
                { head: said.person, cell: (row) => <Person view={view} listed={row} /> },
                { head: said.purpose, cell: (row) => <Exact text={row.purpose} /> },
                { head: said.website, cell: (row) => row.originDomain },
                { head: said.recipients, cell: (row) => number(row.entities.length) },
                { head: said.opened, cell: (row) => number(row.viewCount) },
              ]}
            />
            <Pages
              words={words}
              page={list.page}
              pages={Math.ceil(total / perPage)}
              at={(page) => view.at(addressOf("/portal/certificates", { ...asked, page }))}
            />
          </>
        )}
      </>
    ),
  });
};

const listed = async (visit: Visit, asked: Asked): Promise<Listed> => {
  const { services, member } = visit;
  const read = async () => listCertificates(services, readerOf(visit), await queryOf(visit, asked, asked.page, perPage));
  const [found, saved] = await Promise.all([read(), listViews(services, member)]);
  return { list: found, saved };
};

const list = async (visit: Visit): Promise<Response> => {
  const { c } = visit;
  const asked = askedOf((name) => c.req.query(name));
  const address = addressOf("/portal/certificates", asked);
  if (new URL(c.req.url).searchParams.size > new URL(address, c.req.url).searchParams.size) return to(visit, address);
  return answer(visit, listPage(visit.view, asked, await listed(visit, asked)));
};

/** The filter of the form, kept under a name. Sent with none it is the whole list, which has its view. */
const keepView = async (visit: Posted): Promise<Response> => {
  const { services, member, form, view } = visit;
  const asked = { ...askedOf((name) => form.get(name)), person: null, page: 1 };
  const name = form.get("name") ?? "";
  if (queryText(asked) === "") return to(visit, "/portal/certificates");
  const saved = await saveView(services, member, { name, query: queryText(asked) });
  if (saved.ok) return to(visit, addressOf("/portal/certificates", asked));
  const fault = faultOf(saved);
  return answer(visit, listPage(view, asked, await listed(visit, asked), { name: name.slice(0, 200), fault }), fault.code);
};

const dropView = async (visit: Posted): Promise<Response> => {
  await removeView(visit.services, visit.member, visit.form.get("name") ?? "");
  return to(visit, "/portal/certificates");
};

const find = async (visit: Posted): Promise<Response> => {
  const person = text(visit.form.get("person"), 320);
  if (person === null) return to(visit, "/portal/certificates");
  return to(visit, `/portal/certificates?person=${encodeURIComponent(await sealAskedPerson(visit.services, visit.member, person))}`);
};

const csvHead = ["certificate", "issued_at", "status", "person", "purpose", "website", "recipients", "opened"];

const csvRow = (row: ListedCertificate): readonly string[] => [
  row.id,
  isoOf(row.issuedAt),
  row.status,
  row.subjectErasedAt === null ? personText(row.subjectMasked) : "",
  row.purpose,
  row.originDomain,
  String(row.entities.length),
  String(row.viewCount),
];

/** The rows of the filter as they were when it was asked for: what is issued meanwhile would push rows from one page onto the next. */
const csv = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, view } = visit;
  const asked = askedOf((name) => form.get(name));
  const read = async (page: number): Promise<CertificateList> => {
    const query = await queryOf(visit, asked, page, exportedAtOnce);
    return listCertificates(services, readerOf(visit), { ...query, to: Math.min(query.to ?? view.now, view.now) });
  };
  const first = await read(1);
  if (first.total > maxExported) return to(visit, addressOf("/portal/certificates", asked));
  await enterExport(services, member, { list: "certificates", environment: view.environment, rows: first.total });
  const pages = Math.ceil(first.total / exportedAtOnce);
  const rowsOf = ({ certificates }: CertificateList): readonly (readonly string[])[] => certificates.map(csvRow);
  c.header("Content-Disposition", 'attachment; filename="certificates.csv"');
  const file = csvStream(csvHead, rowsOf(first), pages, async (page) => rowsOf(await read(page)));
  return c.body(file, 200, { "Content-Type": "text/csv; charset=utf-8" });
};

const Recipients: FC<{ view: PortalView; certificate: PublishedCertificate }> = ({ view, certificate }) => {
  const { words, setting, now } = view;
  const { certificates: said } = words;
  return (
    <Table
      label={said.recipients}
      rows={certificate.entities}
      columns={[
        { head: said.recipient, cell: (name) => <Foreign text={name} setting={setting} /> },
        {
          head: words.state,
          cell: (name) => {
            const one = certificate.entitiesWithdrawn.find(({ entity }) => entity === name);
            if (certificate.answered?.rejected.includes(name)) return <Status tone="plain" text={said.declined} />;
            if (certificate.withdrawal !== null) return <Status tone="plain" text={said.states.revoked} />;
            if (one === undefined) return <Status tone="good" text={said.agreed} />;
            if (one.acknowledgedAt !== null) return <Status tone="plain" text={words.deadlines.acknowledged} />;
            return (
              <>
                <Status tone={isOverdue(one.ceaseBy, null, now) ? "bad" : "caution"} text={said.states.revoked} /> {words.deadlines.due}{" "}
                <Moment at={one.ceaseBy} setting={setting} />
              </>
            );
          },
        },
      ]}
    />
  );
};

const Withdrawn: FC<{ view: PortalView; certificate: PublishedCertificate }> = ({ view, certificate }) => {
  const { words, setting, now } = view;
  const { withdrawal } = certificate;
  const isOpen =
    withdrawal === null
      ? certificate.entitiesWithdrawn.some(({ acknowledgedAt }) => acknowledgedAt === null)
      : withdrawal.acknowledgedAt === null;
  if (withdrawal === null && certificate.entitiesWithdrawn.length === 0) return null;
  return (
    <section aria-labelledby="withdrawal">
      <h2 id="withdrawal">{words.certificates.withdrawal}</h2>
      {withdrawal !== null && (
        <dl>
          <div>
            <dt>{words.deadlines.withdrawn}</dt>
            <dd>
              <Moment at={withdrawal.withdrawnAt} setting={setting} />
            </dd>
          </div>
          <div>
            <dt>{words.deadlines.due}</dt>
            <dd>
              <Moment at={withdrawal.ceaseBy} setting={setting} />{" "}
              {isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now) && <Status tone="bad" text={words.deadlines.overdue} />}
            </dd>
          </div>
          <div>
            <dt>{words.deadlines.acknowledged}</dt>
            <dd>
              {withdrawal.acknowledgedAt === null ? words.deadlines.notYet : <Moment at={withdrawal.acknowledgedAt} setting={setting} />}
            </dd>
          </div>
        </dl>
      )}
      {isOpen && (
        <p>
          <a class="button" href={view.at(`/portal/deadlines/${certificate.id}`)}>
            {words.deadlines.acknowledge}
          </a>
        </p>
      )}
    </section>
  );
};

const Opened: FC<{ view: PortalView; detail: CertificateDetail }> = ({ view: { words, setting }, detail: { opened } }) => (
  <>
    {opened.subject === null ? (
      <p>{words.certificates.erased}</p>
    ) : (
      <dl>
        {[...opened.subject.fields].map(([key, value]) => (
          <div>
            <dt>{key}</dt>
            <dd>
              <Foreign text={String(value)} setting={setting} />
            </dd>
          </div>
        ))}
      </dl>
    )}
    {opened.evidence !== null && (
      <>
        <h3>{words.certificates.circumstances}</h3>
        <dl>
          {Object.entries(opened.evidence).map(([key, value]) => (
            <div>
              <dt>{key}</dt>
              <dd>
                <Exact text={typeof value === "string" ? value : JSON.stringify(value)} />
              </dd>
            </div>
          ))}
        </dl>
      </>
    )}
  </>
);

interface Shown {
  readonly certificate: PublishedCertificate;
  readonly views: readonly View[];
  readonly detail: CertificateDetail | null;
}

const detailPage = (view: PortalView, publicUrl: string, { certificate, views, detail }: Shown): Page => {
  const { words, setting } = view;
  const { certificates: said } = words;
  const own = view.at(`/portal/certificates/${certificate.id}`);
  return portalPage(view, {
    tab: "certificates",
    title: said.one,
    content: (
      <>
        <p>
          <Status tone={tones[certificate.status]} text={said.states[certificate.status]} /> <Hash value={certificate.id} />
        </p>
        <dl>
          <div>
            <dt>{said.issued}</dt>
            <dd>
              <Moment at={certificate.issuedAt} setting={setting} />
            </dd>
          </div>
          <div>
            <dt>{said.purpose}</dt>
            <dd>
              <Foreign text={certificate.purpose} setting={setting} />
            </dd>
          </div>
          <div>
            <dt>{said.website}</dt>
            <dd>{certificate.originDomain}</dd>
          </div>
          <div>
            <dt>{said.public}</dt>
            <dd>
              <a href={publicUrl}>{publicUrl}</a>
            </dd>
          </div>
        </dl>
        <Withdrawn view={view} certificate={certificate} />
        <section aria-labelledby="what">
          <h2 id="what">{said.what}</h2>
          <blockquote>
            <Exact text={certificate.disclosureText} passage />
          </blockquote>
        </section>
        <section aria-labelledby="recipients">
          <h2 id="recipients">{said.recipients}</h2>
          <Recipients view={view} certificate={certificate} />
        </section>
        <section aria-labelledby="person">
          <h2 id="person">{said.person}</h2>
          {detail === null ? (
            <>
              <dl>
                {Object.entries(certificate.subjectMasked).map(([key, value]) => (
                  <div>
                    <dt>{key}</dt>
                    <dd>
                      <Exact text={value} />
                    </dd>
                  </div>
                ))}
              </dl>
              {certificate.subjectErasedAt === null ? (
                <>
                  <p class="quiet">{said.revealHint}</p>
                  <Press view={view} action={`${own}/reveal`} label={said.reveal} />
                </>
              ) : (
                <p>{said.erased}</p>
              )}
            </>
          ) : (
            <Opened view={view} detail={detail} />
          )}
        </section>
        <section aria-labelledby="packs">
          <h2 id="packs">{said.packs}</h2>
          <p class="quiet">{said.packsHint}</p>
          <PostForm view={view} action={`${own}/evidence`}>
            <Choice
              name="format"
              label={said.format}
              options={[
                ["zip", said.zip],
                ["html", said.html],
              ]}
            />
            <p class="choice">
              <input type="checkbox" id="redact" name="redact" value="1" /> <label for="redact">{said.redact}</label>
            </p>
            <button type="submit">{said.download}</button>
          </PostForm>
        </section>
        <section aria-labelledby="opens">
          <h2 id="opens">{said.opens}</h2>
          {views.length === 0 ? (
            <p>{said.noOpens}</p>
          ) : (
            <Table
              label={said.opens}
              rows={views}
              columns={[
                { head: said.at, cell: (row) => <Moment at={row.at} setting={setting} /> },
                { head: said.ip, cell: (row) => <code>{row.ip}</code> },
                { head: said.system, cell: (row) => row.os ?? "" },
                { head: said.browser, cell: (row) => (row.bot ? said.bot : <Exact text={row.userAgent} />) },
              ]}
            />
          )}
        </section>
      </>
    ),
  });
};

const shownOpens = 25;

const asked = ({ c }: Visit): CertId | null => certIdOf(c.req.param("id") ?? "");

/** A test record is not shown among the live ones, nor a live one as a test: to the same page in its own mode. */
const otherMode = ({ c }: Visit, environment: Environment, id: CertId): Response =>
  c.redirect(addressIn(environment, `/portal/certificates/${id}`), 303);

const show = async (visit: Visit, detail: CertificateDetail | null): Promise<Response> => {
  const { services, member, view } = visit;
  const id = asked(visit);
  const own = id === null ? null : await viewsOfCertificate(services, member, id, { page: 1, perPage: shownOpens });
  if (id === null || !own?.ok) return nothing(visit);
  const { certificate, views } = own.value;
  if (certificate.environment !== view.environment) return otherMode(visit, certificate.environment, id);
  return answer(visit, detailPage(view, verifyUrlOf(services.config.verifyUrl, id), { certificate, views, detail }));
};

const reveal = async (visit: Posted): Promise<Response> => {
  const id = asked(visit);
  const detail = id === null ? null : await revealCertificate(visit.services, visit.member, id);
  return detail?.ok ? show(visit, detail.value) : nothing(visit);
};

const evidence = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form } = visit;
  const id = asked(visit);
  const own = id === null ? null : await ownCertificate(services, member, id);
  if (id === null || !own?.ok || own.value.environment !== visit.view.environment) return nothing(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const parts = await gatherEvidence(services, readerOf(visit), actor, id, {
    disclose: null,
    redacted: form.has("redact"),
  });
  if (!parts.ok) return nothing(visit);
  const format = form.get("format") === "html" ? "html" : "zip";
  c.header("Content-Disposition", `attachment; filename="evidence-${id}.${format}"`);
  return format === "zip"
    ? c.body(await evidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await evidenceHtml(parts.value, verifierSource), 200, { "Content-Type": "text/html; charset=utf-8" });
};

export const mountCertificates = (pages: Hono<Api>): void => {
  pages.get("/certificates", reading(list));
  pages.post("/certificates/views", acting({}, keepView));
  pages.post("/certificates/views/remove", acting({}, dropView));
  pages.post("/certificates/export", acting({ reads: true }, csv));
  pages.post("/certificates/find", acting({ reads: true }, find));
  pages.get(
    "/certificates/:id",
    reading((visit) => show(visit, null)),
  );
  pages.post("/certificates/:id/reveal", acting({ reads: true }, reveal));
  pages.post("/certificates/:id/evidence", acting({ reads: true }, evidence));
};
