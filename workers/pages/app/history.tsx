// Serves /app/history: the entries of a person's audit chain, which can be filtered by business.
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
import { VerbatimText, EmptyState, Notice, Timestamp } from "../shared/components.tsx";
import { DataTable } from "../shared/signed-in-components.tsx";
import { useAppView, type AppView } from "./components.tsx";
import { appPage } from "./page.tsx";
import { renderAppPage, authenticatedPage, type AppRequest } from "./app-request.ts";

const describeHistoryEntry = (type: string, { historyEvents, otherEvent }: AppMessages): string =>
  Object.hasOwn(historyEvents, type) ? historyEvents[type as keyof AppMessages["historyEvents"]] : otherEvent;

/** Returns the table cells of an entry. `share` is the related share, if any. `seq` is null while the entry is not yet in the chain. */
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

/** Renders nothing if no filter is set and there are fewer than two businesses to choose from. */
const BusinessFilter: FC<{ shares: readonly Share[]; selectedId: string | null }> = ({ shares, selectedId }) => {
  const { messages, language } = useAppView();
  const names = new Map<string, string>(shares.map(({ business }) => [business.id, business.name]));
  if (names.size < 2 && selectedId === null) return null;
  const sorted = [...names].sort(([, a], [, b]) => a.localeCompare(b, language));
  return (
    <search>
      <form method="get" action="/app/history" class="row filter">
        <div class="field">
          <label for="with">{messages.withWhom}</label>
          <div class="join">
            <select id="with" name="with">
              <option value="">{messages.historyAll}</option>
              {sorted.map(([id, name]) => (
                <option value={id} selected={id === selectedId} dir="auto" translate="no">
                  {name}
                </option>
              ))}
            </select>
            <button type="submit" class="btn">
              {messages.show}
            </button>
          </div>
        </div>
        {selectedId !== null && (
          <a class="btn bare" href="/app/history">
            {messages.clearFilter}
          </a>
        )}
      </form>
    </search>
  );
};

const EmptyHistory: FC<{ isFiltered: boolean; isSearched: boolean }> = ({ isFiltered, isSearched }) => {
  const { messages } = useAppView();
  return (
    <div class="card">
      {isFiltered ? (
        <EmptyState
          icon="search"
          title={isSearched ? messages.historyNoMatch : messages.historyNoMatchYet}
          {...(!isSearched && { advice: messages.historyNoMatchYetAdvice })}
        />
      ) : (
        <EmptyState
          icon="scroll-text"
          title={messages.historyNone}
          advice={messages.historyNoneAdvice}
          action={<ButtonLink href="/app">{messages.backToList}</ButtonLink>}
        />
      )}
    </div>
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
  return appPage(
    view,
    { tab: "history", title: messages.tabs.history, lede: messages.historyIntro },
    <>
      {trail === null && (
        <Notice tone="caution" icon="triangle-alert" title={messages.historyUnavailable} role="status">
          {messages.historyUnavailableAdvice}
        </Notice>
      )}
      <BusinessFilter shares={shares} selectedId={businessId} />
      {trail !== null && rows.length === 0 && <EmptyHistory isFiltered={businessId !== null} isSearched={older === null} />}
      {rows.length > 0 && (
        <div class="card">
          <DataTable
            label={messages.tabs.history}
            columns={[
              { heading: messages.what },
              { heading: messages.withWhom },
              { heading: messages.when },
              { heading: messages.entry, kind: "number" },
            ]}
            rows={rows}
          />
        </div>
      )}
      {(!isNewest || older !== null) && (
        <p class="row">
          {!isNewest && <ButtonLink href={historyPath({})}>{messages.newest}</ButtonLink>}
          {older !== null && <ButtonLink href={historyPath({ before: older })}>{messages.older}</ButtonLink>}
        </p>
      )}
    </>,
  );
};

const entriesPerPage = 50;

/**
 * Parses the `before` parameter, which limits the list to entries with lower numbers. Returns null if the parameter is missing or is not an
 * entry number. The list then starts with the newest entry.
 */
const parseBeforeSeq = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;

const renderHistory = async (request: AppRequest): Promise<Response> => {
  const { c, services, session } = request;
  const businessId = c.req.query("with");
  if (businessId === "") return c.redirect("/app/history", 303); // the person selected "all businesses"
  const beforeSeq = parseBeforeSeq(c.req.query("before"));
  const businessFilter = businessId === undefined ? "everybody" : parseBusinessId(businessId);
  const found = await getHistory(services, session, { limit: entriesPerPage, beforeSeq, of: businessFilter });
  return renderAppPage(request, historyPage(request, { ...found, isNewest: beforeSeq === null, businessId: businessId ?? null }));
};

export const registerHistoryRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/history", authenticatedPage(renderHistory));
};
