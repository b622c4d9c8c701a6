// The list of certificates as the people of a business read it: its state is its address, kept by name as a view; the same rows as CSV.
import type { Hono } from "hono";
import { useContext, type Child, type FC } from "hono/jsx";
import type { ListedCertificate } from "../../../core/certificates/published.ts";
import { dayMs, isoOf, type Instant } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { listCertificates, type CertificateList, type ListQuery } from "../../operations/certificates/list.ts";
import { enterExport } from "../../operations/portal/export.ts";
import { openAskedPerson, sealAskedPerson } from "../../operations/portal/certificates.ts";
import { listViews, removeView, saveView, type SavedView } from "../../operations/portal/saved-views.ts";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { CertificateState } from "./certificate.tsx";
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
  Submit,
  Table,
  useVisit,
  words,
} from "./parts.tsx";
import { showPage } from "./page.tsx";
import { addressOf } from "./paths.ts";
import { acting, faultOf, reading, readerOf, to, type Fault, type Posted, type Visit } from "./visit.ts";

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
          [words.state, (row) => <CertificateState of={row} />],
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

export const mountCertificates = (pages: Hono<Api>): void => {
  pages.get("/certificates", reading(list));
  pages.post("/certificates/views", acting({}, keepView));
  pages.post("/certificates/views/remove", acting({}, dropView));
  pages.post("/certificates/export", acting({ reads: true }, csv));
  pages.post("/certificates/find", acting({ reads: true }, find));
};
