// /app/history: the entries of a person's audit chain, optionally filtered by business.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { parseBusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import { getHistory, type History } from "../../operations/consumers/get-history.ts";
import { ButtonLink } from "../shared/form-fields.tsx";
import type { AppMessages } from "../i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import { appPage, RecordTable, useAppView, type AppView } from "./components.tsx";
import { renderAppPage, authenticatedPage, type AppRequest } from "./app-request.ts";

const describeHistoryEntry = (type: string, { facts, otherFact }: AppMessages): string =>
  Object.hasOwn(facts, type) ? facts[type as keyof AppMessages["facts"]] : otherFact;

/** The cells of an entry. `share` is the related share, if any; `seq` is null while the entry is not yet in the chain. */
const toHistoryCells = (
  messages: AppMessages,
  at: Instant,
  type: string,
  share: Share | undefined,
  seq: string | null,
): readonly Child[] => [
  describeHistoryEntry(type, messages),
  share !== undefined && (
    <a href={`/app/shares/${share.id}`}>
      <VerbatimText text={share.business.name} />
    </a>
  ),
  <Timestamp at={at} />,
  seq ?? <span class="quiet">{messages.historyWaiting}</span>,
];

interface HistoryPageData extends History {
  readonly isNewest: boolean;
  /** The business to filter by, as written in the query; null for all entries. */
  readonly businessId: string | null;
}

/** Hidden if there is nothing to choose from, unless a filter is set. */
const BusinessFilter: FC<{ shares: readonly Share[]; selectedId: string | null }> = ({ shares, selectedId }) => {
  const { messages, language } = useAppView();
  const names = new Map<string, string>(shares.map(({ business }) => [business.id, business.name]));
  if (names.size < 2 && selectedId === null) return null;
  const sorted = [...names].sort(([, a], [, b]) => a.localeCompare(b, language));
  return (
    <search>
      <form method="get" action="/app/history" class="form">
        <label for="with">{messages.withWhom}</label>
        <select id="with" name="with">
          <option value="">{messages.historyAll}</option>
          {sorted.map(([id, name]) => (
            <option value={id} selected={id === selectedId} dir="auto" translate="no">
              {name}
            </option>
          ))}
        </select>
        <div class="choices">
          <button type="submit">{messages.show}</button>
          {selectedId !== null && <ButtonLink href="/app/history">{messages.clearFilter}</ButtonLink>}
        </div>
      </form>
    </search>
  );
};

const historyPage = (view: AppView, { trail, shares, isNewest, businessId }: HistoryPageData): Page => {
  const { messages } = view;
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const pending = isNewest ? (trail?.pending ?? []) : [];
  const rows = [
    ...pending.map(({ at, type, entityId }) => toHistoryCells(messages, at, type, byId.get(entityId), null)),
    ...(trail?.page?.entries ?? []).map(({ at, type, entity_id, seq }) =>
      toHistoryCells(messages, Date.parse(at), type, byId.get(entity_id), seq),
    ),
  ];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const historyPath = (parameters: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(businessId !== null && { with: businessId }), ...parameters });
    return query.size === 0 ? "/app/history" : `/app/history?${query}`;
  };
  const emptyMessage = businessId === null ? messages.historyNone : older === null ? messages.historyNoMatch : messages.historyNoMatchYet;
  return appPage(
    view,
    { tab: "history", title: messages.tabs.history },
    <>
      <p>{messages.historyIntro}</p>
      {trail === null && <p role="status">{messages.historyAway}</p>}
      <BusinessFilter shares={shares} selectedId={businessId} />
      {trail !== null && rows.length === 0 && <p>{emptyMessage}</p>}
      {rows.length > 0 && (
        <RecordTable
          label={messages.tabs.history}
          headings={[messages.what, messages.withWhom, messages.when, messages.entry]}
          rows={rows}
        />
      )}
      <p class="choices">
        {!isNewest && <ButtonLink href={historyPath({})}>{messages.newest}</ButtonLink>}
        {older !== null && <ButtonLink href={historyPath({ before: older })}>{messages.older}</ButtonLink>}
      </p>
    </>,
  );
};

const entriesPerPage = 50;

/** Parses the entry number to start below. Returns null for the newest entries, or if the text is not an entry number. */
const parseBeforeSeq = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;

const renderHistory = async (request: AppRequest): Promise<Response> => {
  const { c, services, session } = request;
  const businessId = c.req.query("with");
  if (businessId === "") return c.redirect("/app/history", 303); // "all businesses" was selected
  const beforeSeq = parseBeforeSeq(c.req.query("before"));
  const businessFilter = businessId === undefined ? "everybody" : parseBusinessId(businessId);
  const found = await getHistory(services, session, { limit: entriesPerPage, beforeSeq, of: businessFilter });
  return renderAppPage(request, historyPage(request, { ...found, isNewest: beforeSeq === null, businessId: businessId ?? null }));
};

export const registerHistoryRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/history", authenticatedPage(renderHistory));
};
