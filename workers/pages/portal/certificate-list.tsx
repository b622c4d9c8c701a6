// The list of certificates. The filter is in the query string. Members can save a filter as a named view and export the filtered rows as
// CSV.
import { cutText } from "../../../core/cut-text.ts";
import type { Hono } from "hono";
import { useContext, type FC } from "hono/jsx";
import type { CertificateSummary } from "../../../core/certificates/published-certificate.ts";
import { dayMs, toIso, type Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { listCertificates, type CertificateList, type CertificateListQuery } from "../../operations/certificates/list-certificates.ts";
import { maxListedCertificates } from "../../../core/certificates/list-depth.ts";
import { recordExport } from "../../operations/portal/record-export.ts";
import { openSearchedPerson, sealSearchedPerson } from "../../operations/portal/searched-person.ts";
import type { SavedView } from "../../../storage/saved-views.ts";
import { createSavedView } from "../../operations/portal/create-saved-view.ts";
import { getCertificateListViews } from "../../operations/portal/get-certificate-list-views.ts";
import { removeSavedView } from "../../operations/portal/remove-saved-view.ts";
import { EmptyCard, Icon, VerbatimText, formatMessage } from "../shared/components.tsx";
import { SubmitButton } from "../shared/form-fields.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { CertificateStatusLabel } from "./certificate-detail.tsx";
import { csvResponse } from "./csv.ts";
import { FilterChips, FilterPanel, type FilterChip } from "./list-filters.tsx";
import {
  ActionButton,
  Field,
  FormContext,
  FormErrorMessage,
  Link,
  NoMatches,
  PostForm,
  ShortId,
  ShortTime,
  formatCount,
  formatMaskedPerson,
  MaskedPersonName,
  formatShortDay,
  messages,
  usePortalRequest,
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
const exportBatchSize = 500; // the export reads and sends this many rows at a time, a few hundred kilobytes

type CertificateFilter = {
  readonly status: "active" | "revoked" | null;
  readonly purpose: string | null;
  readonly website: string | null;
  readonly recipient: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** The person's email address or phone number, sealed so that no URL reveals it. */
  readonly person: string | null;
};

const parseText = (value: string | undefined, max = 200): string | null => cutText(value?.trim() ?? "", max) || null;

/** Returns null for a day that does not exist. Date.parse would accept February 30 as a day in March. */
const parseDay = (value: string | undefined): string | null => {
  const at = value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(at) && toIso(at).slice(0, 10) === value ? value : null;
};

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

/** Builds a saved view's query. Leaves out the person, because a view must not store personal data. */
const toViewQuery = (filter: CertificateFilter): string => pathWithQuery("", { ...filter, person: null });

const toFormValues = (query: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(query));

const isFiltered = (filter: CertificateFilter): boolean => pathWithQuery("", filter) !== "";

type ListViews = Awaited<ReturnType<typeof getCertificateListViews>>;

/**
 * Tabs for all, active and withdrawn certificates. They keep the other filters. The counts are shown only if no other filter is set,
 * because they are for the whole list.
 */
const StatusTabs: FC<{ filter: CertificateFilter; counts: ListViews["counts"] }> = ({ filter, counts }) => {
  const { pathInMode } = usePortalRequest();
  const hasOtherFilters = isFiltered({ ...filter, status: null });
  const { active, revoked } = counts;
  const tabs = [
    [null, certificateMessages.all, active + revoked],
    ["active", certificateMessages.states.active, active],
    ["revoked", certificateMessages.states.revoked, revoked],
  ] as const;
  return (
    <nav class="tabs" aria-label={certificateMessages.views}>
      {tabs.map(([status, text, count]) => (
        <a href={pathInMode(listPath({ ...filter, status }, 1))} aria-current={filter.status === status ? "page" : undefined}>
          {text} {!hasOtherFilters && <span class="n">{formatCount(count)}</span>}
        </a>
      ))}
    </nav>
  );
};

/** A menu with the saved views, each with a button that removes it, and a form that saves the current filter as a view. */
const SavedViews: FC<{ filter: CertificateFilter; saved: readonly SavedView[] }> = ({ filter, saved }) => {
  const { error } = useContext(FormContext);
  const { pathInMode } = usePortalRequest();
  const currentQuery = pathWithQuery("", filter).slice(1);
  const isSaved = saved.some(({ query }) => query === currentQuery);
  const canSave = filter.person === null && (error !== undefined || (isFiltered(filter) && !isSaved));
  if (saved.length === 0 && !canSave) return null;
  return (
    <details class="dropdown" open={error !== undefined}>
      <summary class="btn sm">
        <Icon name="bookmark" />
        {certificateMessages.savedViews}
        <Icon name="chevron-down" />
      </summary>
      <div>
        {saved.map(({ name, query }) => (
          <div class="saved-view">
            <a href={pathInMode(`${certificatesPath}?${query}`)} aria-current={query === currentQuery ? "true" : undefined}>
              <VerbatimText text={name} />
            </a>
            <ActionButton
              look="bare"
              requiredRole="member"
              action={`${certificatesPath}/views/remove`}
              label={certificateMessages.removeView}
              target={name}
              hiddenValues={{ name }}
            />
          </div>
        ))}
        {canSave && (
          <PostForm
            requiredRole="member"
            action={`${certificatesPath}/views`}
            class="menu-form"
            hiddenValues={toFormValues(toViewQuery(filter))}
          >
            <Field name="name" label={certificateMessages.viewName} required maxlength={60} />
            <SubmitButton class="btn sm">{certificateMessages.saveView}</SubmitButton>
          </PostForm>
        )}
      </div>
    </details>
  );
};

const filterNames = ["website", "recipient", "purpose", "from", "to"] as const;

/** Shows each filter, except the status, as a link that removes it. */
const ListFilterChips: FC<{ filter: CertificateFilter; total: number }> = ({ filter, total }) => (
  <FilterChips
    path={certificatesPath}
    lead={formatMessage(certificateMessages.matches, { total: formatCount(total) })}
    chips={[...filterNames, "person" as const].flatMap((name): readonly FilterChip[] => {
      const value = filter[name];
      if (value === null) return [];
      const pathWithout = listPath({ ...filter, [name]: null }, 1);
      if (name === "person") return [{ label: certificateMessages.onePerson, value: null, pathWithout }];
      const text = name === "from" || name === "to" ? formatShortDay(Date.parse(value)) : value;
      return [{ label: certificateMessages[name], value: { text, content: <VerbatimText text={text} /> }, pathWithout }];
    })}
  />
);

const FilterForm: FC<{ filter: CertificateFilter }> = ({ filter }) => {
  const input = (name: (typeof filterNames)[number], type: "text" | "date", placeholder?: string, maxlength?: number) => (
    <div>
      <label for={`filter-${name}`}>{certificateMessages[name]}</label>
      <input
        id={`filter-${name}`}
        name={name}
        type={type}
        value={filter[name] ?? undefined}
        placeholder={placeholder}
        maxlength={maxlength}
        autocomplete="off"
      />
    </div>
  );
  return (
    <FilterPanel active={filterNames.filter((name) => filter[name] !== null).length}>
      <PostForm action={`${certificatesPath}/find`} class="find">
        <div>
          <label for="person">{certificateMessages.findPerson}</label>
          <div class="join">
            <input id="person" name="person" placeholder={certificateMessages.personHint} autocomplete="off" required maxlength={320} />
            <button class="btn" type="submit">
              <Icon name="search" />
              {certificateMessages.find}
            </button>
          </div>
        </div>
      </PostForm>
      <form method="get" action={usePortalRequest().pathInMode(certificatesPath)} class="narrow">
        {filter.status !== null && <input type="hidden" name="status" value={filter.status} />}
        {filter.person !== null && <input type="hidden" name="person" value={filter.person} />}
        {input("website", "text", undefined, 253)}
        {input("recipient", "text", certificateMessages.exactName, 200)}
        {input("purpose", "text", undefined, 500)}
        {input("from", "date")}
        {input("to", "date")}
        <div>
          <SubmitButton class="btn">{messages.show}</SubmitButton>
        </div>
      </form>
    </FilterPanel>
  );
};

interface NumberedPaginationProps {
  readonly page: number;
  readonly pages: number;
  readonly note: string;
  readonly pathOf: (page: number) => string;
}

const NumberedPagination: FC<NumberedPaginationProps> = ({ page, pages, note, pathOf }) => (
  <nav class="pager" aria-label={messages.pages.label}>
    <span>{note}</span>
    <span class="row">
      {page > 2 && <Link class="btn sm" to={pathOf(1)} text={messages.pages.first} />}
      {page > 1 && <Link class="btn sm" to={pathOf(page - 1)} rel="prev" text={messages.pages.previous} />}
      {page < pages && <Link class="btn sm" to={pathOf(page + 1)} rel="next" text={messages.pages.next} />}
    </span>
  </nav>
);

const Recipients: FC<{ names: readonly string[] }> = ({ names: [first, ...others] }) =>
  first === undefined ? null : (
    <>
      <VerbatimText text={first} /> {others.length > 0 && <span class="quiet">+{formatCount(others.length)}</span>}
    </>
  );

const StatusCell: FC<{ certificate: CertificateSummary }> = ({ certificate }) => {
  const withdrawal = certificate.withdrawal ?? certificate.entitiesWithdrawn.at(-1);
  return (
    <>
      <CertificateStatusLabel standing={certificate} />
      {withdrawal !== undefined && (
        <small class="quiet">
          {withdrawal.method === "business_recorded" ? certificateMessages.byBusiness : certificateMessages.byPerson}
        </small>
      )}
      {certificate.withdrawal !== null && certificate.withdrawal.acknowledgedAt !== null && (
        <small class="quiet">
          {formatMessage(certificateMessages.contactEndedOn, { date: formatShortDay(certificate.withdrawal.acknowledgedAt) })}
        </small>
      )}
    </>
  );
};

const CertificateTable: FC<{ certificates: readonly CertificateSummary[] }> = ({ certificates }) => (
  <Table
    label={messages.tabs.certificates}
    rows={certificates}
    columns={[
      [
        certificateMessages.person,
        (row) => (
          <>
            <Link to={`${certificatesPath}/${row.id}`} text={<MaskedPersonName masked={row.subjectMasked} />} />
            <small class="quiet">
              <ShortId id={row.id} />
            </small>
          </>
        ),
      ],
      [messages.state, (row) => <StatusCell certificate={row} />, "corner"],
      [
        certificateMessages.purposeAndWebsite,
        (row) => (
          <>
            <VerbatimText text={row.purpose} />
            <small class="quiet">{row.originDomain}</small>
          </>
        ),
        "plain",
      ],
      [messages.recipients, (row) => <Recipients names={row.entities} />, "plain"],
      [certificateMessages.opened, (row) => formatCount(row.viewCount), "minor number"],
      [certificateMessages.issuedUtc, (row) => <ShortTime at={row.issuedAt} />, "plain"],
    ]}
  />
);

const renderFilteredList = async (
  request: PortalRequest,
  filter: CertificateFilter,
  page: number,
  error?: FormError,
): Promise<Response> => {
  const { services, member } = request;
  const list = async () => listCertificates(services, toReader(request), await toListQuery(request, filter, page, certificatesPerPage));
  const [found, { counts, saved }] = await Promise.all([list(), getCertificateListViews(services, member, request.environment)]);
  const { certificates, total, isTruncated } = found;
  const pages = Math.ceil(Math.min(total, maxListedCertificates) / certificatesPerPage);
  // A page can be empty, for example because a withdrawal removed rows from a filtered list after the link was shown. Redirect to the last
  // page. If the total says that this page has rows, the total is too high, so redirect to the first page.
  if (certificates.length === 0 && page > 1) return redirectTo(request, listPath(filter, page <= pages ? 1 : Math.max(1, pages)));
  const first = (page - 1) * certificatesPerPage + 1;
  const range = {
    first: formatCount(first),
    last: formatCount(first + certificates.length - 1),
    total: `${formatCount(total)}${isTruncated ? "+" : ""}`,
  };
  const isEmpty = total === 0 && !isFiltered(filter) && saved.length === 0 && error === undefined;
  return renderMemberPage(request, {
    tab: "certificates",
    error,
    intro: certificateMessages.intro,
    actions:
      total === 0 ? undefined : total <= maxExportedRows && !isTruncated ? (
        <ActionButton
          look="secondary"
          icon="download"
          action={`${certificatesPath}/export`}
          label={formatMessage(certificateMessages.csv, { total: formatCount(total) })}
          hiddenValues={toFormValues(pathWithQuery("", filter))}
        />
      ) : (
        <span class="small quiet">{formatMessage(certificateMessages.tooMany, { max: formatCount(maxExportedRows) })}</span>
      ),
    content: isEmpty ? (
      <EmptyCard
        icon="file-badge"
        title={certificateMessages.emptyTitle}
        advice={certificateMessages.empty}
        action={<Link class="btn primary" to="/portal/snippet" text={certificateMessages.installTag} />}
      />
    ) : (
      <div class="card">
        <div class="tabbar">
          <StatusTabs filter={filter} counts={counts} />
          <SavedViews filter={filter} saved={saved} />
        </div>
        <div class="body stack">
          <FormErrorMessage fields={["name"]} />
          <FilterForm filter={filter} />
          <ListFilterChips filter={filter} total={total} />
        </div>
        {certificates.length === 0 ? (
          <NoMatches path={certificatesPath} />
        ) : (
          <>
            <CertificateTable certificates={certificates} />
            <NumberedPagination
              page={page}
              pages={pages}
              note={formatMessage(certificateMessages.range, range)}
              pathOf={(other) => listPath(filter, other)}
            />
          </>
        )}
      </div>
    ),
  });
};

const renderCertificateList = async (request: PortalRequest): Promise<Response> => {
  const { req } = request.c;
  const filter = parseFilter((name) => req.query(name));
  const page = parsePageNumber(req.query("page"));
  const canonicalPath = listPath(filter, page);
  // The browser also submits the empty fields of the filter form. This redirect removes them from the URL.
  const hasExtraParameters = new URL(req.url).searchParams.size > new URL(canonicalPath, req.url).searchParams.size;
  return hasExtraParameters ? redirectTo(request, canonicalPath) : renderFilteredList(request, filter, page);
};

/** Saves the filter as a named view. Without a filter, there is nothing to save, because the whole list is a built-in view. */
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
 * Returns a function that reads the next batch of the list, newest first, and an empty batch at the end. Leaves out rows that were issued
 * after the export started. Each batch starts at the issuance time of the last row that was read and not at a page number, because a
 * withdrawal during the export can remove a row and shift the pages.
 */
const createBatchReader = (request: PortalFormRequest, filter: CertificateFilter) => {
  let end: Instant = request.now;
  let readAtEnd = new Set<string>(); // IDs of the rows that were issued at `end` and that earlier batches contain
  return async (): Promise<CertificateList> => {
    const query = await toListQuery(request, filter, 1, exportBatchSize + readAtEnd.size);
    const list = await listCertificates(request.services, toReader(request), { ...query, to: Math.min(query.to ?? end, end) });
    const certificates = list.certificates.filter(({ id }) => !readAtEnd.has(id));
    const last = certificates.at(-1)?.issuedAt ?? end;
    if (last !== end) readAtEnd = new Set();
    end = last;
    for (const { id, issuedAt } of certificates) if (issuedAt === end) readAtEnd.add(id);
    return { ...list, certificates };
  };
};

const handleExportCsv = async (request: PortalFormRequest): Promise<Response> => {
  const { c, services, member, form, environment } = request;
  const filter = parseFilter((name) => form.get(name));
  const readBatch = createBatchReader(request, filter);
  const { certificates, total, isTruncated } = await readBatch();
  if (total > maxExportedRows || isTruncated) return redirectTo(request, pathWithQuery(certificatesPath, filter));
  await recordExport(services, member, { list: "certificates", environment, rows: total });
  const readRows = async () => (await readBatch()).certificates.map(toCsvRow);
  return csvResponse(c, "certificates", csvHeader, certificates.map(toCsvRow), total > exportBatchSize ? readRows : undefined);
};

export const registerCertificateListRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/certificates", authenticatedPage(renderCertificateList));
  pages.post("/certificates/views", authenticatedAction({}, handleSaveView));
  pages.post("/certificates/views/remove", authenticatedAction({}, handleRemoveView));
  pages.post("/certificates/export", authenticatedAction({ isReadOnly: true }, handleExportCsv));
  pages.post("/certificates/find", authenticatedAction({ isReadOnly: true }, handleFindPerson));
};
