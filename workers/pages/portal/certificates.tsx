// Certificates as the people of a business read them: a list whose state is its address, the same rows as CSV, and one certificate,
// masked until somebody asks for the person, which is entered in the audit chain.
import type { Hono } from "hono";
import { useContext, type Child, type FC } from "hono/jsx";
import { evidenceHtml, evidenceZip } from "../../../core/certificates/evidence-pack.ts";
import type { ListedCertificate, PublishedCertificate } from "../../../core/certificates/published.ts";
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
import { Exact, filled, Foreign, Hash, Moment } from "../shared/parts.tsx";
import { verifierSource } from "../verifier.gen.ts";
import { csvAnswer } from "./csv.ts";
import {
  Choice,
  Field,
  FormContext,
  Link,
  LinkLine,
  NoMatch,
  number,
  personText,
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
  type Tone,
} from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { addressIn, addressOf } from "./paths.ts";
import { acting, faultOf, reading, readerOf, to, withId, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.certificates;
const path = "/portal/certificates";
const perPage = 25;
const maxPage = 10_000;
const maxExported = 10_000;
/** Read and sent at one time: some hundred kilobytes. */
const exportedAtOnce = 500;

/** What the address says besides the page. */
type Filter = {
  readonly status: "active" | "revoked" | null;
  readonly purpose: string | null;
  readonly website: string | null;
  readonly recipient: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Sealed, so that no address holds a person. */
  readonly person: string | null;
};

const text = (value: string | undefined, max = 200): string | null => value?.trim().slice(0, max) || null;

const dayOf = (value: string | undefined): string | null =>
  value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : null;

const filterOf = (given: (name: string) => string | undefined): Filter => {
  const status = given("status");
  return {
    status: status === "active" || status === "revoked" ? status : null,
    purpose: text(given("purpose"), 500),
    website: text(given("website"), 253),
    recipient: text(given("recipient")),
    from: dayOf(given("from")),
    to: dayOf(given("to")),
    person: text(given("person"), 2_000),
  };
};

const pageOf = (given: string | undefined): number => {
  const page = Number(given);
  return Number.isInteger(page) && page >= 1 && page <= maxPage ? page : 1;
};

const pageAddress = (filter: Filter, page: number): string => addressOf(path, { ...filter, page: page === 1 ? null : page });

const queryOf = async ({ services, member }: Visit, filter: Filter, page: number, size: number): Promise<ListQuery> => {
  const person = filter.person === null ? null : await openAskedPerson(services, member, filter.person);
  const at = (day: string | null, more: number): Instant | null => (day === null ? null : Date.parse(day) + more);
  return {
    page,
    perPage: size,
    status: filter.status,
    subjectEmail: person?.includes("@") ? person : null,
    subjectPhone: person === null || person.includes("@") ? null : person,
    q: filter.purpose,
    originDomain: filter.website,
    entity: filter.recipient,
    from: at(filter.from, 0),
    to: at(filter.to, dayMs - 1),
  };
};

const tones: Readonly<Record<PublishedCertificate["status"], Tone>> = { active: "good", revoked: "bad" };

const Filters: FC<{ filter: Filter }> = ({ filter }) => {
  const isFiltered = addressOf("", filter) !== "";
  return (
    <details class="filters" open={isFiltered}>
      <summary>{words.filter}</summary>
      <form method="get" action={useVisit().at(path)} class="form fields">
        {filter.person !== null && <input type="hidden" name="person" value={filter.person} />}
        {[
          <Choice name="status" label={words.state} value={filter.status} options={{ "": words.any, ...said.states }} />,
          <Field name="purpose" label={said.purpose} value={filter.purpose} maxlength={500} />,
          <Field name="website" label={said.website} value={filter.website} maxlength={253} />,
          <Field name="recipient" label={said.recipient} value={filter.recipient} maxlength={200} />,
          <Field name="from" label={said.from} type="date" value={filter.from} />,
          <Field name="to" label={said.to} type="date" value={filter.to} />,
        ].map((field) => (
          <div>{field}</div>
        ))}
        <Submit label={words.show} />
      </form>
      <PostForm action={`${path}/find`}>
        <Field name="person" label={said.person} hint={said.personHint} required maxlength={320} />
        <button type="submit">{said.find}</button>
      </PostForm>
      {isFiltered && <LinkLine to={path} text={words.clear} />}
    </details>
  );
};

/** What a view is: every filter but the person, who is in no list of the business's. */
const viewOf = (filter: Filter): string => addressOf("", { ...filter, person: null });

const valuesOf = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query));

/** A status and nothing else asked, then those the business keeps by name. Any view is the address of its page, too. */
const Views: FC<{ filter: Filter; saved: readonly SavedView[] }> = ({ filter, saved }) => {
  const { at } = useVisit();
  const { fault } = useContext(FormContext);
  const here = addressOf("", filter);
  const views: readonly (readonly [query: string, name: Child])[] = [
    ["", said.all],
    ...Object.entries(said.states).map(([status, text]) => [`?status=${status}`, text] as const),
    ...saved.map(({ name, query }) => [`?${query}`, <Exact text={name} />] as const),
  ];
  const isView = views.some(([query]) => query === here);
  return (
    <>
      <nav class="views" aria-label={said.views}>
        <ul>
          {views.map(([query, name]) => (
            <li>
              <a href={at(`${path}${query}`)} aria-current={here === query ? "true" : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {!isView && <p class="quiet">{said.keepView}</p>}
      {(!isView || fault !== undefined) && filter.person === null && (
        <PostForm by="member" action={`${path}/views`} class="form fields" values={valuesOf(viewOf(filter))}>
          <div>
            <Field name="name" label={said.viewName} required maxlength={60} />
          </div>
          <button type="submit">{said.saveView}</button>
        </PostForm>
      )}
      {saved.length > 0 && (
        <details>
          <summary>{said.savedViews}</summary>
          <Table
            label={said.savedViews}
            rows={saved}
            columns={[
              [said.viewName, ({ name }) => <Exact text={name} />],
              [
                words.action,
                ({ name }) => <Press by="member" action={`${path}/views/remove`} label={said.removeView} of={name} values={{ name }} />,
              ],
            ]}
          />
        </details>
      )}
    </>
  );
};

const Pages: FC<{ page: number; pages: number; to: (page: number) => string }> = ({ page, pages, to }) => (
  <nav class="pages" aria-label={words.pages.label}>
    <p>{filled(words.pages.at, { page: String(page), pages: String(pages) })}</p>
    {page > 1 && <Link to={to(1)} text={words.pages.first} />}
    {page > 1 && <Link to={to(page - 1)} rel="prev" text={words.pages.previous} />}
    {page < pages && <Link to={to(page + 1)} rel="next" text={words.pages.next} />}
  </nav>
);

const Listed: FC<{ filter: Filter; list: CertificateList }> = ({ filter, list: { certificates, page, total } }) => {
  const first = (page - 1) * perPage + 1;
  const shown = { first: number(first), last: number(first + certificates.length - 1), total: number(total) };
  return (
    <>
      <p>{filled(said.range, shown)}</p>
      {total <= maxExported ? (
        <Press action={`${path}/export`} label={filled(said.csv, { total: number(total) })} values={valuesOf(addressOf("", filter))} />
      ) : (
        <p class="quiet">{filled(said.tooMany, { max: number(maxExported) })}</p>
      )}
      <Table
        label={words.tabs.certificates}
        rows={certificates}
        columns={[
          [said.issued, (row) => <Link to={`${path}/${row.id}`} text={<Moment at={row.issuedAt} />} />],
          [words.state, (row) => <Status tone={tones[row.status]} text={said.states[row.status]} />],
          [said.person, (row) => (row.subjectErasedAt === null ? <Exact text={personText(row.subjectMasked)} /> : said.erased)],
          [said.purpose, (row) => <Exact text={row.purpose} />],
          [said.website, (row) => row.originDomain],
          [said.recipients, (row) => number(row.entities.length)],
          [said.opened, (row) => number(row.viewCount)],
        ]}
      />
      <Pages page={page} pages={Math.ceil(total / perPage)} to={(other) => pageAddress(filter, other)} />
    </>
  );
};

const showList = async (visit: Visit, filter: Filter, page: number, fault?: Fault): Promise<Response> => {
  const { services, member } = visit;
  const read = async () => listCertificates(services, readerOf(visit), await queryOf(visit, filter, page, perPage));
  const [found, saved] = await Promise.all([read(), listViews(services, member)]);
  return showPage(visit, {
    tab: "certificates",
    fault,
    content: (
      <>
        <Views filter={filter} saved={saved} />
        <Filters filter={filter} />
        {found.certificates.length > 0 ? (
          <Listed filter={filter} list={found} />
        ) : (
          <p>
            {addressOf("", filter) !== "" || found.total > 0 ? (
              <NoMatch path={path} />
            ) : (
              <>
                {said.empty} <Link to="/portal/snippet" text={words.tabs.snippet} />
              </>
            )}
          </p>
        )}
      </>
    ),
  });
};

const list = async (visit: Visit): Promise<Response> => {
  const { req } = visit.c;
  const filter = filterOf((name) => req.query(name));
  const page = pageOf(req.query("page"));
  const address = pageAddress(filter, page);
  const isShorter = new URL(req.url).searchParams.size > new URL(address, req.url).searchParams.size;
  return isShorter ? to(visit, address) : showList(visit, filter, page);
};

/** The filter of the form, kept under a name. Sent with none it is the whole list, which has its view. */
const keepView = async (visit: Posted): Promise<Response> => {
  const { services, member, form } = visit;
  const filter = { ...filterOf((name) => form.get(name)), person: null };
  const query = viewOf(filter).slice(1);
  if (query === "") return to(visit, path);
  const saved = await saveView(services, member, { name: form.get("name") ?? "", query });
  return saved.ok ? to(visit, addressOf(path, filter)) : showList(visit, filter, 1, faultOf(saved));
};

const dropView = async (visit: Posted): Promise<Response> => {
  await removeView(visit.services, visit.member, visit.form.get("name") ?? "");
  return to(visit, path);
};

const find = async (visit: Posted): Promise<Response> => {
  const person = text(visit.form.get("person"), 320);
  return to(visit, addressOf(path, { person: person === null ? null : await sealAskedPerson(visit.services, visit.member, person) }));
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
  const { c, services, member, form, environment, now } = visit;
  const filter = filterOf((name) => form.get(name));
  const read = async (page: number): Promise<CertificateList> => {
    const query = await queryOf(visit, filter, page, exportedAtOnce);
    return listCertificates(services, readerOf(visit), { ...query, to: Math.min(query.to ?? now, now) });
  };
  const { certificates, total } = await read(1);
  if (total > maxExported) return to(visit, addressOf(path, filter));
  await enterExport(services, member, { list: "certificates", environment, rows: total });
  const rowsOf = async (page: number) => (await read(page)).certificates.map(csvRow);
  return csvAnswer(c, "certificates", csvHead, certificates.map(csvRow), Math.ceil(total / exportedAtOnce), rowsOf);
};

const RecipientState: FC<{ certificate: PublishedCertificate; name: string }> = ({ certificate, name }) => {
  const { now } = useVisit();
  const one = certificate.entitiesWithdrawn.find(({ entity }) => entity === name);
  if (certificate.answered?.rejected.includes(name)) return <Status tone="plain" text={said.declined} />;
  if (certificate.withdrawal !== null) return <Status tone="plain" text={said.states.revoked} />;
  if (one === undefined) return <Status tone="good" text={said.agreed} />;
  if (one.acknowledgedAt !== null) return <Status tone="plain" text={words.deadlines.acknowledged} />;
  return (
    <>
      <Status tone={isOverdue(one.ceaseBy, null, now) ? "bad" : "caution"} text={said.states.revoked} /> {words.deadlines.due}{" "}
      <Moment at={one.ceaseBy} />
    </>
  );
};

const Withdrawn: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, withdrawal, entitiesWithdrawn } }) => {
  const { now } = useVisit();
  const { deadlines } = words;
  if (withdrawal === null && entitiesWithdrawn.length === 0) return null;
  const withdrawn = withdrawal === null ? entitiesWithdrawn : [withdrawal];
  return (
    <Section id="withdrawal" title={said.withdrawal}>
      {withdrawal !== null && (
        <Properties
          lines={[
            [deadlines.withdrawn, <Moment at={withdrawal.withdrawnAt} />],
            [
              deadlines.due,
              <>
                <Moment at={withdrawal.ceaseBy} />{" "}
                {isOverdue(withdrawal.ceaseBy, withdrawal.acknowledgedAt, now) && <Status tone="bad" text={deadlines.overdue} />}
              </>,
            ],
            [deadlines.acknowledged, withdrawal.acknowledgedAt === null ? deadlines.notYet : <Moment at={withdrawal.acknowledgedAt} />],
          ]}
        />
      )}
      {withdrawn.some(({ acknowledgedAt }) => acknowledgedAt === null) && (
        <LinkLine class="button" to={`/portal/deadlines/${id}`} text={deadlines.acknowledge} />
      )}
    </Section>
  );
};

const Masked: FC<{ certificate: PublishedCertificate }> = ({ certificate: { id, subjectMasked, subjectErasedAt } }) => (
  <>
    <Properties lines={Object.entries(subjectMasked).map(([key, value]) => [key, <Exact text={value} />])} />
    {subjectErasedAt === null ? (
      <>
        <p class="quiet">{said.revealHint}</p>
        <Press action={`${path}/${id}/reveal`} label={said.reveal} />
      </>
    ) : (
      <p>{said.erased}</p>
    )}
  </>
);

const Opened: FC<{ detail: CertificateDetail }> = ({ detail: { opened } }) => (
  <>
    {opened.subject === null ? (
      <p>{said.erased}</p>
    ) : (
      <Properties lines={[...opened.subject.fields].map(([key, value]) => [key, <Foreign text={String(value)} />])} />
    )}
    {opened.evidence !== null && (
      <>
        <h3>{said.circumstances}</h3>
        <Properties
          lines={Object.entries(opened.evidence).map(([key, value]) => [
            key,
            <Exact text={typeof value === "string" ? value : JSON.stringify(value)} />,
          ])}
        />
      </>
    )}
  </>
);

const shownOpens = 25;

const show = async (visit: Visit, id: CertId, detail?: CertificateDetail): Promise<Response> => {
  const { c, services, member, environment } = visit;
  const own = await viewsOfCertificate(services, member, id, { page: 1, perPage: shownOpens });
  if (!own.ok) return nothing(visit);
  const { certificate, views } = own.value;
  // A test record is not shown among the live ones, nor a live one as a test: to the same page in its own mode.
  if (certificate.environment !== environment) return c.redirect(addressIn(certificate.environment, `${path}/${id}`), 303);
  const publicUrl = verifyUrlOf(services.config.verifyUrl, id);
  return showPage(visit, {
    tab: "certificates",
    title: said.one,
    content: (
      <>
        <p>
          <Status tone={tones[certificate.status]} text={said.states[certificate.status]} /> <Hash value={id} />
        </p>
        <Properties
          lines={[
            [said.issued, <Moment at={certificate.issuedAt} />],
            [said.purpose, <Foreign text={certificate.purpose} />],
            [said.website, certificate.originDomain],
            [said.public, <a href={publicUrl}>{publicUrl}</a>],
          ]}
        />
        <Withdrawn certificate={certificate} />
        <Section id="what" title={said.what}>
          <blockquote>
            <Exact text={certificate.disclosureText} passage />
          </blockquote>
        </Section>
        <Section id="recipients" title={said.recipients}>
          <Table
            label={said.recipients}
            rows={certificate.entities}
            columns={[
              [said.recipient, (name) => <Foreign text={name} />],
              [words.state, (name) => <RecipientState certificate={certificate} name={name} />],
            ]}
          />
        </Section>
        <Section id="person" title={said.person}>
          {detail === undefined ? <Masked certificate={certificate} /> : <Opened detail={detail} />}
        </Section>
        <Section id="packs" title={said.packs}>
          <p class="quiet">{said.packsHint}</p>
          <PostForm action={`${path}/${id}/evidence`}>
            <Choice name="format" label={said.format} options={{ zip: said.zip, html: said.html }} />
            <p class="choice">
              <Tick name="redact" label={said.redact} />
            </p>
            <button type="submit">{said.download}</button>
          </PostForm>
        </Section>
        <Section id="opens" title={said.opens}>
          <Table
            label={said.opens}
            rows={views}
            empty={said.noOpens}
            columns={[
              [said.at, (row) => <Moment at={row.at} />],
              [said.ip, (row) => <code>{row.ip}</code>],
              [said.system, (row) => row.os ?? ""],
              [said.browser, (row) => (row.bot ? said.bot : <Exact text={row.userAgent} />)],
            ]}
          />
        </Section>
      </>
    ),
  });
};

const reveal = async (visit: Posted, id: CertId): Promise<Response> => {
  const detail = await revealCertificate(visit.services, visit.member, id);
  return detail.ok ? show(visit, id, detail.value) : nothing(visit);
};

const evidence = async (visit: Posted, id: CertId): Promise<Response> => {
  const { c, services, member, form } = visit;
  const own = await ownCertificate(services, member, id);
  if (!own.ok || own.value.environment !== visit.environment) return nothing(visit);
  const actor = { kind: "member", id: member.userId } as const;
  const parts = await gatherEvidence(services, readerOf(visit), actor, id, { disclose: null, redacted: form.has("redact") });
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
  pages.get("/certificates/:id", reading(withId(certIdOf, show)));
  pages.post("/certificates/:id/reveal", acting({ reads: true }, withId(certIdOf, reveal)));
  pages.post("/certificates/:id/evidence", acting({ reads: true }, withId(certIdOf, evidence)));
};
