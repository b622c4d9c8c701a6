// The list of certificates. Its filter is its query string, which can be saved under a name as a view; the same rows can be exported as CSV.
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
import { SubmitButton } from "../shared/form-fields.tsx";
import { NavigationList } from "../shared/signed-in-components.tsx";
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
  Table,
  usePortalRequest,
  messages,
} from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { toFormError, toReader, redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const certificateMessages = messages.certificates;
const certificatesPath = "/portal/certificates";
const certificatesPerPage = 25;
const maxPage = 10_000;
const maxExportedRows = 10_000;
const exportBatchSize = 500; // rows read and sent at a time: a few hundred kilobytes

type CertificateFilter = {
  readonly status: "active" | "revoked" | null;
  readonly purpose: string | null;
  readonly website: string | null;
  readonly recipient: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Sealed, so that no URL contains an email address or phone number. */
  readonly person: string | null;
};

const parseText = (value: string | undefined, max = 200): string | null => value?.trim().slice(0, max) || null;

const parseDay = (value: string | undefined): string | null =>
  value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : null;

const parseFilter = (get: (name: string) => string | undefined): CertificateFilter => {
  const status = get("status");
  return {
    status: status === "active" || status === "revoked" ? status : null,
    purpose: parseText(get("purpose"), 500),
    website: parseText(get("website"), 253),
    recipient: parseText(get("recipient")),
    from: parseDay(get("from")),
    to: parseDay(get("to")),
    person: parseText(get("person"), 2_000),
  };
};

const parsePageNumber = (text: string | undefined): number => {
  const page = Number(text);
  return Number.isInteger(page) && page >= 1 && page <= maxPage ? page : 1;
};

const listPath = (filter: CertificateFilter, page: number): string =>
  pathWithQuery(certificatesPath, { ...filter, page: page === 1 ? null : page });

const toListQuery = async (
  { services, member }: PortalRequest,
  filter: CertificateFilter,
  page: number,
  perPage: number,
): Promise<CertificateListQuery> => {
  const person = filter.person === null ? null : await openSearchedPerson(services, member, filter.person);
  const toInstant = (day: string | null, offsetMs: number): Instant | null => (day === null ? null : Date.parse(day) + offsetMs);
  return {
    page,
    perPage,
    status: filter.status,
    subjectEmail: person?.includes("@") ? person : null,
    subjectPhone: person === null || person.includes("@") ? null : person,
    q: filter.purpose,
    originDomain: filter.website,
    entity: filter.recipient,
    from: toInstant(filter.from, 0),
    to: toInstant(filter.to, dayMs - 1),
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
        <SubmitButton>{messages.show}</SubmitButton>
      </form>
      <PostForm action={`${certificatesPath}/find`}>
        <Field name="person" label={certificateMessages.person} hint={certificateMessages.personHint} required maxlength={320} />
        <button type="submit">{certificateMessages.find}</button>
      </PostForm>
      {isFiltered && <LinkList to={certificatesPath} text={messages.clear} />}
    </details>
  );
};

/** Builds a saved view's query from every filter except the person, which a view must not store. */
const toViewQuery = (filter: CertificateFilter): string => pathWithQuery("", { ...filter, person: null });

const toFormValues = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query));

/** The built-in views by status, then the views that the business saved. */
const SavedViews: FC<{ filter: CertificateFilter; saved: readonly SavedView[] }> = ({ filter, saved }) => {
  const { pathInMode } = usePortalRequest();
  const { error } = useContext(FormContext);
  const currentQuery = pathWithQuery("", filter);
  const views: readonly (readonly [query: string, name: Child])[] = [
    ["", certificateMessages.all],
    ...Object.entries(certificateMessages.states).map(([status, text]) => [`?status=${status}`, text] as const),
    ...saved.map(({ name, query }) => [`?${query}`, <VerbatimText text={name} />] as const),
  ];
  const isView = views.some(([query]) => query === currentQuery);
  return (
    <>
      <NavigationList
        class="views"
        label={certificateMessages.views}
        links={views.map(([query, text]) => ({
          path: pathInMode(`${certificatesPath}${query}`),
          text,
          current: query === currentQuery ? "true" : undefined,
        }))}
      />
      {!isView && <p class="quiet">{certificateMessages.keepView}</p>}
      {(!isView || error !== undefined) && filter.person === null && (
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

const NumberedPagination: FC<{ page: number; pages: number; pathOf: (page: number) => string }> = ({ page, pages, pathOf }) => (
  <nav class="pages" aria-label={messages.pages.label}>
    <p>{formatMessage(messages.pages.at, { page: String(page), pages: String(pages) })}</p>
    {page > 1 && <Link to={pathOf(1)} text={messages.pages.first} />}
    {page > 1 && <Link to={pathOf(page - 1)} rel="prev" text={messages.pages.previous} />}
    {page < pages && <Link to={pathOf(page + 1)} rel="next" text={messages.pages.next} />}
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
      <NumberedPagination page={page} pages={Math.ceil(total / certificatesPerPage)} pathOf={(other) => listPath(filter, other)} />
    </>
  );
};

const renderFilteredList = async (
  request: PortalRequest,
  filter: CertificateFilter,
  page: number,
  error?: FormError,
): Promise<Response> => {
  const { services, member } = request;
  const list = async () => listCertificates(services, toReader(request), await toListQuery(request, filter, page, certificatesPerPage));
  const [found, saved] = await Promise.all([list(), listSavedViews(services, member)]);
  return renderMemberPage(request, {
    tab: "certificates",
    error,
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

const renderCertificateList = async (request: PortalRequest): Promise<Response> => {
  const { req } = request.c;
  const filter = parseFilter((name) => req.query(name));
  const page = parsePageNumber(req.query("page"));
  const canonicalPath = listPath(filter, page);
  // A filter form submits its empty fields too: drop them from the URL.
  const hasExtraParameters = new URL(req.url).searchParams.size > new URL(canonicalPath, req.url).searchParams.size;
  return hasExtraParameters ? redirectTo(request, canonicalPath) : renderFilteredList(request, filter, page);
};

/** Saves the filter under a name. Without a filter there is nothing to save: the whole list is a built-in view. */
const handleSaveView = async (request: PortalFormRequest): Promise<Response> => {
  const { services, member, form } = request;
  const filter = { ...parseFilter((name) => form.get(name)), person: null };
  const query = toViewQuery(filter).slice(1);
  if (query === "") return redirectTo(request, certificatesPath);
  const saved = await createSavedView(services, member, { name: form.get("name") ?? "", query });
  return saved.ok
    ? redirectTo(request, pathWithQuery(certificatesPath, filter))
    : renderFilteredList(request, filter, 1, toFormError(saved));
};

const handleRemoveView = async (request: PortalFormRequest): Promise<Response> => {
  await removeSavedView(request.services, request.member, request.form.get("name") ?? "");
  return redirectTo(request, certificatesPath);
};

const handleFindPerson = async (request: PortalFormRequest): Promise<Response> => {
  const person = parseText(request.form.get("person"), 320);
  return redirectTo(
    request,
    pathWithQuery(certificatesPath, {
      person: person === null ? null : await sealSearchedPerson(request.services, request.member, person),
    }),
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

/**
 * Exports the filtered rows that exist now, because certificates issued during the export would shift rows from one batch into the next.
 */
const handleExportCsv = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form, environment, now } = request;
  const filter = parseFilter((name) => form.get(name));
  const read = async (page: number): Promise<CertificateList> => {
    const query = await toListQuery(request, filter, page, exportBatchSize);
    return listCertificates(services, toReader(request), { ...query, to: Math.min(query.to ?? now, now) });
  };
  const { certificates, total } = await read(1);
  if (total > maxExportedRows) return redirectTo(request, pathWithQuery(certificatesPath, filter));
  await recordExport(services, member, { list: "certificates", environment, rows: total });
  const readRows = async (page: number) => (await read(page)).certificates.map(toCsvRow);
  return csvResponse(c, "certificates", csvHeader, certificates.map(toCsvRow), Math.ceil(total / exportBatchSize), readRows);
};

export const registerCertificateListRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates", authenticatedPage(renderCertificateList));
  pages.post("/certificates/views", authenticatedAction({}, handleSaveView));
  pages.post("/certificates/views/remove", authenticatedAction({}, handleRemoveView));
  pages.post("/certificates/export", authenticatedAction({ isReadOnly: true }, handleExportCsv));
  pages.post("/certificates/find", authenticatedAction({ isReadOnly: true }, handleFindPerson));
};
