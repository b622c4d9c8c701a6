// The list of certificates as the people of a business read it: its state is its address, kept by name as a view; the same rows as CSV.
import type { Hono } from "hono";
import { useContext, type Child, type FC } from "hono/jsx";
import type { CertificateSummary } from "../../../core/certificates/published-certificate.ts";
import { dayMs, toIso, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { listCertificates, type CertificateList, type CertificateListQuery } from "../../operations/certificates/list-certificates.ts";
import { recordExport } from "../../operations/portal/record-export.ts";
import { openSearchedPerson, sealSearchedPerson } from "../../operations/portal/searched-person.ts";
import type { SavedView } from "../../../storage/saved-views.ts";
import { createSavedView } from "../../operations/portal/create-saved-view.ts";
import { listSavedViews } from "../../operations/portal/list-saved-views.ts";
import { removeSavedView } from "../../operations/portal/remove-saved-view.ts";
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import { CertificateStatusLabel } from "./certificate-detail.tsx";
import { csvResponse } from "./csv.ts";
import {
  SelectField,
  Field,
  FormContext,
  Link,
  LinkList,
  NoMatchMessage,
  formatCount,
  formatMaskedPerson,
  PostForm,
  ActionButton,
  SubmitButton,
  Table,
  usePortalRequest,
  messages,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import {
  authenticatedAction,
  toFormError,
  authenticatedPage,
  toReader,
  redirectTo,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const certificateMessages = messages.certificates;
const certificatesPath = "/portal/certificates";
const certificatesPerPage = 25;
const maxPage = 10_000;
const maxExportedRows = 10_000;
/** Read and sent at one time: some hundred kilobytes. */
const exportBatchSize = 500;

/** What the address says besides the page. */
type CertificateFilter = {
  readonly status: "active" | "revoked" | null;
  readonly purpose: string | null;
  readonly website: string | null;
  readonly recipient: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Sealed, so that no address holds a person. */
  readonly person: string | null;
};

const parseText = (value: string | undefined, max = 200): string | null => value?.trim().slice(0, max) || null;

const parseDay = (value: string | undefined): string | null =>
  value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : null;

const parseFilter = (given: (name: string) => string | undefined): CertificateFilter => {
  const status = given("status");
  return {
    status: status === "active" || status === "revoked" ? status : null,
    purpose: parseText(given("purpose"), 500),
    website: parseText(given("website"), 253),
    recipient: parseText(given("recipient")),
    from: parseDay(given("from")),
    to: parseDay(given("to")),
    person: parseText(given("person"), 2_000),
  };
};

const parsePageNumber = (given: string | undefined): number => {
  const page = Number(given);
  return Number.isInteger(page) && page >= 1 && page <= maxPage ? page : 1;
};

const listPath = (filter: CertificateFilter, page: number): string =>
  pathWithQuery(certificatesPath, { ...filter, page: page === 1 ? null : page });

const toListQuery = async (
  { services, member }: PortalRequest,
  filter: CertificateFilter,
  page: number,
  size: number,
): Promise<CertificateListQuery> => {
  const person = filter.person === null ? null : await openSearchedPerson(services, member, filter.person);
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

const FilterForm: FC<{ filter: CertificateFilter }> = ({ filter }) => {
  const isFiltered = pathWithQuery("", filter) !== "";
  return (
    <details class="filters" open={isFiltered}>
      <summary>{messages.filter}</summary>
      <form method="get" action={usePortalRequest().pathInMode(certificatesPath)} class="form fields">
        {filter.person !== null && <input type="hidden" name="person" value={filter.person} />}
        {[
          <SelectField
            name="status"
            label={messages.state}
            value={filter.status}
            options={{ "": messages.any, ...certificateMessages.states }}
          />,
          <Field name="purpose" label={certificateMessages.purpose} value={filter.purpose} maxlength={500} />,
          <Field name="website" label={certificateMessages.website} value={filter.website} maxlength={253} />,
          <Field name="recipient" label={certificateMessages.recipient} value={filter.recipient} maxlength={200} />,
          <Field name="from" label={certificateMessages.from} type="date" value={filter.from} />,
          <Field name="to" label={certificateMessages.to} type="date" value={filter.to} />,
        ].map((field) => (
          <div>{field}</div>
        ))}
        <SubmitButton label={messages.show} />
      </form>
      <PostForm action={`${certificatesPath}/find`}>
        <Field name="person" label={certificateMessages.person} hint={certificateMessages.personHint} required maxlength={320} />
        <button type="submit">{certificateMessages.find}</button>
      </PostForm>
      {isFiltered && <LinkList to={certificatesPath} text={messages.clear} />}
    </details>
  );
};

/** What a view is: every filter but the person, who is in no list of the business's. */
const toViewQuery = (filter: CertificateFilter): string => pathWithQuery("", { ...filter, person: null });

const toFormValues = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query));

/** A status and nothing else asked, then those the business keeps by name. Any view is the address of its page, too. */
const SavedViews: FC<{ filter: CertificateFilter; saved: readonly SavedView[] }> = ({ filter, saved }) => {
  const { pathInMode } = usePortalRequest();
  const { fault } = useContext(FormContext);
  const here = pathWithQuery("", filter);
  const views: readonly (readonly [query: string, name: Child])[] = [
    ["", certificateMessages.all],
    ...Object.entries(certificateMessages.states).map(([status, text]) => [`?status=${status}`, text] as const),
    ...saved.map(({ name, query }) => [`?${query}`, <VerbatimText text={name} />] as const),
  ];
  const isView = views.some(([query]) => query === here);
  return (
    <>
      <nav class="views" aria-label={certificateMessages.views}>
        <ul>
          {views.map(([query, name]) => (
            <li>
              <a href={pathInMode(`${certificatesPath}${query}`)} aria-current={here === query ? "true" : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {!isView && <p class="quiet">{certificateMessages.keepView}</p>}
      {(!isView || fault !== undefined) && filter.person === null && (
        <PostForm
          requiredRole="member"
          action={`${certificatesPath}/views`}
          class="form fields"
          hiddenValues={toFormValues(toViewQuery(filter))}
        >
          <div>
            <Field name="name" label={certificateMessages.viewName} required maxlength={60} />
          </div>
          <button type="submit">{certificateMessages.saveView}</button>
        </PostForm>
      )}
      {saved.length > 0 && (
        <details>
          <summary>{certificateMessages.savedViews}</summary>
          <Table
            label={certificateMessages.savedViews}
            rows={saved}
            columns={[
              [certificateMessages.viewName, ({ name }) => <VerbatimText text={name} />],
              [
                messages.action,
                ({ name }) => (
                  <ActionButton
                    requiredRole="member"
                    action={`${certificatesPath}/views/remove`}
                    label={certificateMessages.removeView}
                    of={name}
                    hiddenValues={{ name }}
                  />
                ),
              ],
            ]}
          />
        </details>
      )}
    </>
  );
};

const NumberedPagination: FC<{ page: number; pages: number; to: (page: number) => string }> = ({ page, pages, to }) => (
  <nav class="pages" aria-label={messages.pages.label}>
    <p>{formatMessage(messages.pages.at, { page: String(page), pages: String(pages) })}</p>
    {page > 1 && <Link to={to(1)} text={messages.pages.first} />}
    {page > 1 && <Link to={to(page - 1)} rel="prev" text={messages.pages.previous} />}
    {page < pages && <Link to={to(page + 1)} rel="next" text={messages.pages.next} />}
  </nav>
);

const CertificateResults: FC<{ filter: CertificateFilter; list: CertificateList }> = ({ filter, list: { certificates, page, total } }) => {
  const first = (page - 1) * certificatesPerPage + 1;
  const shown = { first: formatCount(first), last: formatCount(first + certificates.length - 1), total: formatCount(total) };
  return (
    <>
      <p>{formatMessage(certificateMessages.range, shown)}</p>
      {total <= maxExportedRows ? (
        <ActionButton
          action={`${certificatesPath}/export`}
          label={formatMessage(certificateMessages.csv, { total: formatCount(total) })}
          hiddenValues={toFormValues(pathWithQuery("", filter))}
        />
      ) : (
        <p class="quiet">{formatMessage(certificateMessages.tooMany, { max: formatCount(maxExportedRows) })}</p>
      )}
      <Table
        label={messages.tabs.certificates}
        rows={certificates}
        columns={[
          [certificateMessages.issued, (row) => <Link to={`${certificatesPath}/${row.id}`} text={<Timestamp at={row.issuedAt} />} />],
          [messages.state, (row) => <CertificateStatusLabel of={row} />],
          [
            certificateMessages.person,
            (row) =>
              row.subjectErasedAt === null ? <VerbatimText text={formatMaskedPerson(row.subjectMasked)} /> : certificateMessages.erased,
          ],
          [certificateMessages.purpose, (row) => <VerbatimText text={row.purpose} />],
          [certificateMessages.website, (row) => row.originDomain],
          [certificateMessages.recipients, (row) => formatCount(row.entities.length)],
          [certificateMessages.opened, (row) => formatCount(row.viewCount)],
        ]}
      />
      <NumberedPagination page={page} pages={Math.ceil(total / certificatesPerPage)} to={(other) => listPath(filter, other)} />
    </>
  );
};

const renderFilteredList = async (visit: PortalRequest, filter: CertificateFilter, page: number, fault?: FormError): Promise<Response> => {
  const { services, member } = visit;
  const read = async () => listCertificates(services, toReader(visit), await toListQuery(visit, filter, page, certificatesPerPage));
  const [found, saved] = await Promise.all([read(), listSavedViews(services, member)]);
  return renderMemberPage(visit, {
    tab: "certificates",
    error: fault,
    content: (
      <>
        <SavedViews filter={filter} saved={saved} />
        <FilterForm filter={filter} />
        {found.certificates.length > 0 ? (
          <CertificateResults filter={filter} list={found} />
        ) : (
          <p>
            {pathWithQuery("", filter) !== "" || found.total > 0 ? (
              <NoMatchMessage path={certificatesPath} />
            ) : (
              <>
                {certificateMessages.empty} <Link to="/portal/snippet" text={messages.tabs.snippet} />
              </>
            )}
          </p>
        )}
      </>
    ),
  });
};

const renderCertificateList = async (visit: PortalRequest): Promise<Response> => {
  const { req } = visit.c;
  const filter = parseFilter((name) => req.query(name));
  const page = parsePageNumber(req.query("page"));
  const address = listPath(filter, page);
  const isShorter = new URL(req.url).searchParams.size > new URL(address, req.url).searchParams.size;
  return isShorter ? redirectTo(visit, address) : renderFilteredList(visit, filter, page);
};

/** The filter of the form, kept under a name. Sent with none it is the whole list, which has its view. */
const handleSaveView = async (visit: PortalFormRequest): Promise<Response> => {
  const { services, member, form } = visit;
  const filter = { ...parseFilter((name) => form.get(name)), person: null };
  const query = toViewQuery(filter).slice(1);
  if (query === "") return redirectTo(visit, certificatesPath);
  const saved = await createSavedView(services, member, { name: form.get("name") ?? "", query });
  return saved.ok ? redirectTo(visit, pathWithQuery(certificatesPath, filter)) : renderFilteredList(visit, filter, 1, toFormError(saved));
};

const handleRemoveView = async (visit: PortalFormRequest): Promise<Response> => {
  await removeSavedView(visit.services, visit.member, visit.form.get("name") ?? "");
  return redirectTo(visit, certificatesPath);
};

const handleFindPerson = async (visit: PortalFormRequest): Promise<Response> => {
  const person = parseText(visit.form.get("person"), 320);
  return redirectTo(
    visit,
    pathWithQuery(certificatesPath, { person: person === null ? null : await sealSearchedPerson(visit.services, visit.member, person) }),
  );
};

const csvHeader = ["certificate", "issued_at", "status", "person", "purpose", "website", "recipients", "opened"];

const toCsvRow = (row: CertificateSummary): readonly string[] => [
  row.id,
  toIso(row.issuedAt),
  row.status,
  row.subjectErasedAt === null ? formatMaskedPerson(row.subjectMasked) : "",
  row.purpose,
  row.originDomain,
  String(row.entities.length),
  String(row.viewCount),
];

/** The rows of the filter as they were when it was asked for: what is issued meanwhile would push rows from one page onto the next. */
const handleExportCsv = async (visit: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form, environment, now } = visit;
  const filter = parseFilter((name) => form.get(name));
  const read = async (page: number): Promise<CertificateList> => {
    const query = await toListQuery(visit, filter, page, exportBatchSize);
    return listCertificates(services, toReader(visit), { ...query, to: Math.min(query.to ?? now, now) });
  };
  const { certificates, total } = await read(1);
  if (total > maxExportedRows) return redirectTo(visit, pathWithQuery(certificatesPath, filter));
  await recordExport(services, member, { list: "certificates", environment, rows: total });
  const rowsOf = async (page: number) => (await read(page)).certificates.map(toCsvRow);
  return csvResponse(c, "certificates", csvHeader, certificates.map(toCsvRow), Math.ceil(total / exportBatchSize), rowsOf);
};

export const registerCertificateListRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates", authenticatedPage(renderCertificateList));
  pages.post("/certificates/views", authenticatedAction({}, handleSaveView));
  pages.post("/certificates/views/remove", authenticatedAction({}, handleRemoveView));
  pages.post("/certificates/export", authenticatedAction({ isReadOnly: true }, handleExportCsv));
  pages.post("/certificates/find", authenticatedAction({ isReadOnly: true }, handleFindPerson));
};
