// Serves /app/history: the entries of a person's audit chain, which can be filtered by business.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseBusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { AppEnv } from "../../http/context.ts";
import { getHistory } from "../../operations/consumers/get-history.ts";
import { ButtonLink, SubmitButton } from "../shared/form-fields.tsx";
import type { AppMessages } from "../i18n/app.ts";
import { VerbatimText, EmptyCard, Notice, Timestamp } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import type { AppRequest } from "./app-request.ts";
import { useAppRequest } from "./components.tsx";
import { authenticatedPage } from "./handlers.ts";
import { renderAppPage } from "./page.tsx";

const describeHistoryEntry = (type: string, { historyEvents, otherEvent }: AppMessages): string =>
  Object.hasOwn(historyEvents, type) ? historyEvents[type as keyof AppMessages["historyEvents"]] : otherEvent;

/** Renders nothing if no filter is set and there are fewer than two businesses to choose from. */
const BusinessFilter: FC<{ shares: readonly Share[]; selectedId: string | null }> = ({ shares, selectedId }) => {
  const { messages, language } = useAppRequest();
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
            <SubmitButton class="btn">{messages.show}</SubmitButton>
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
  const { messages } = useAppRequest();
  return isFiltered ? (
    <EmptyCard
      icon="search"
      title={isSearched ? messages.historyNoMatch : messages.historyNoMatchYet}
      advice={isSearched ? undefined : messages.historyNoMatchYetAdvice}
    />
  ) : (
    <EmptyCard
      icon="scroll-text"
      title={messages.historyNone}
      advice={messages.historyNoneAdvice}
      action={<ButtonLink href="/app">{messages.backToList}</ButtonLink>}
    />
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
  const { c, services, session, messages } = request;
  const businessId = c.req.query("with") ?? null;
  if (businessId === "") return c.redirect("/app/history", 303); // the person selected "all businesses"
  const beforeSeq = parseBeforeSeq(c.req.query("before"));
  const isNewest = beforeSeq === null;
  const businessFilter = businessId === null ? "everybody" : parseBusinessId(businessId);
  const { trail, shares } = await getHistory(services, session, { limit: entriesPerPage, beforeSeq, businessFilter });
  const byId = new Map(shares.map((share) => [share.id as string, share]));
  const pending = isNewest ? (trail?.pending ?? []) : [];
  // `seq` is null while the entry is not yet in the chain.
  const rows = [
    ...pending.map(({ at, type, entityId }) => ({ at, type, share: byId.get(entityId), seq: null })),
    ...(trail?.page?.entries ?? []).map(({ at, type, entity_id, seq }) => ({ at: Date.parse(at), type, share: byId.get(entity_id), seq })),
  ];
  const older = trail?.page?.nextBeforeSeq ?? null;
  const historyPath = (parameters: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams({ ...(businessId !== null && { with: businessId }), ...parameters });
    return query.size === 0 ? "/app/history" : `/app/history?${query}`;
  };
  return renderAppPage(
    request,
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
          <Table
            label={messages.tabs.history}
            rows={rows}
            columns={[
              [messages.what, ({ type }) => describeHistoryEntry(type, messages)],
              [
                messages.withWhom,
                ({ share }) =>
                  share !== undefined && (
                    <a href={`/app/shares/${share.id}`}>
                      <VerbatimText text={share.business.name} />
                    </a>
                  ),
              ],
              [messages.when, ({ at }) => <Timestamp at={at} />],
              [messages.entry, ({ seq }) => seq ?? <span class="quiet">{messages.historyWaiting}</span>, "number"],
            ]}
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

export const registerHistoryRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/history", authenticatedPage(renderHistory));
};
