// The business's audit log, newest entries first, with filters by actor, type and record.
import { cutText } from "../../../core/cut-text.ts";
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseActorFilter } from "../../../core/audit/actor-filter.ts";
import { parseTypedCertId } from "../../../core/ids.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import type { AppEnv } from "../../http/context.ts";
import { listAuditEntries, type AuditEntry, type AuditEntryPage } from "../../operations/audit/list-audit-entries.ts";
import { EmptyCard, FormattedMessage, formatMessage, Notice, VerbatimText } from "../shared/components.tsx";
import { SubmitButton } from "../shared/form-fields.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import {
  describeAuditEvent,
  formatKeyEnding,
  isAuditEventType,
  Link,
  NoMatches,
  messages,
  Pagination,
  Field,
  ShortId,
  ShortTime,
  usePortalRequest,
  type AuditEventType,
} from "./components.tsx";
import { FilterChips, FilterPanel } from "./list-filters.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedPage } from "./handlers.ts";
import { pathWithQuery } from "./paths.ts";
import type { PortalRequest } from "./portal-request.ts";

const auditMessages = messages.audit;
const auditPath = "/portal/audit";
const entriesPerPage = 50;
const maxIdLength = 80; // every ID is shorter than this

const describeKey = (key: ApiKey): string => formatMessage(auditMessages.actors.key, { name: key.name, ending: formatKeyEnding(key) });

/** Describes who caused the entry. A member or a key that no longer exists is described without a name. */
const describeActor = ({ actor, entityId, isFromServer }: AuditEntry, { members, keys, originDomains }: AuditEntryPage): string => {
  const { actors } = auditMessages;
  if (actor === null) return actors.erased;
  switch (actor.kind) {
    case "member": {
      const member = members.find(({ id }) => id === actor.id);
      return member === undefined
        ? actors.formerMember
        : formatMessage(actors.member, { email: member.email, role: messages.roles[member.role] });
    }
    case "api_key": {
      const key = keys.find(({ id }) => id === actor.id);
      return key === undefined ? actors.formerKey : describeKey(key);
    }
    case "client": {
      const domain = originDomains.get(entityId);
      if (domain === undefined) return isFromServer ? actors.server : actors.client;
      return formatMessage(isFromServer ? actors.serverFor : actors.clientOn, { domain });
    }
    case "subject":
      return actors[actor.verifiedBy];
    case "consumer":
      return actors.person;
    default:
      return actors[actor.kind];
  }
};

/**
 * Returns the path of a record's page. If the record has no page or may have been removed, returns the path of the list that contains it.
 * Returns null for a kind of record without a list.
 */
const findRecordPath = (entityType: string, id: string, { domains }: AuditEntryPage): string | null => {
  switch (entityType) {
    case "certificate":
      return `/portal/certificates/${id}`;
    case "share":
      return `/portal/shares/${id}`;
    case "webhook":
      return "/portal/webhooks";
    case "domain":
      return domains.some((domain) => domain.id === id) ? `/portal/domains/${id}` : "/portal/domains";
    case "api_key":
    case "client":
      return "/portal/keys";
    case "member":
      return "/portal/team";
    default:
      return null;
  }
};

/** Shows the name of the record that an entry is about or, if it has no name, the start and the end of its ID. */
const EntryRecord: FC<{ entry: AuditEntry; page: AuditEntryPage }> = ({ entry: { entityType, entityId }, page }) => {
  const { members, keys, clients, domains } = page;
  const { entities } = auditMessages;
  const kind = Object.hasOwn(entities, entityType) ? entities[entityType as keyof typeof entities] : entityType;
  if (entityType === "business") return <>{kind}</>;
  const path = findRecordPath(entityType, entityId, page);
  const name =
    members.find(({ id }) => id === entityId)?.email ??
    [...keys, ...clients].find(({ id }) => id === (entityId as typeof id))?.name ??
    domains.find(({ id }) => id === entityId)?.domain ??
    null;
  const shown = name === null ? <ShortId id={entityId} /> : <VerbatimText text={name} />;
  return (
    <>
      {kind} {path === null ? shown : <Link to={path} text={shown} />}
    </>
  );
};

interface AuditFilter {
  readonly actor: string | null;
  readonly type: AuditEventType | null;
  readonly id: string | null;
}

const readFilter = ({ c }: PortalRequest): AuditFilter => {
  const [actor, type] = [c.req.query("actor"), c.req.query("type")];
  const id = cutText(c.req.query("id")?.trim() ?? "", maxIdLength);
  return {
    actor: actor !== undefined && parseActorFilter(actor) !== null ? actor : null,
    type: type !== undefined && isAuditEventType(type) ? type : null,
    id: id === "" ? null : (parseTypedCertId(id) ?? id),
  };
};

/** Lists the actors that the log can be filtered by, with their names. */
const listActorOptions = (page: AuditEntryPage): Readonly<Record<string, string>> => {
  const { groups, actors } = auditMessages;
  const memberOptions = page.members
    .filter(({ invitedUntil }) => invitedUntil === null)
    .map(({ id, email, role }) => [`member:${id}`, formatMessage(actors.member, { email, role: messages.roles[role] })]);
  const keyOptions = page.keys.map((key) => [`api_key:${key.id}`, describeKey(key)]);
  return { ...Object.fromEntries(memberOptions), ...groups, ...Object.fromEntries(keyOptions) };
};

const filterNames = ["actor", "type", "id"] as const;

const EntryFilter: FC<{ filter: AuditFilter; page: AuditEntryPage }> = ({ filter, page }) => {
  const { filters, types } = auditMessages;
  const { pathInMode } = usePortalRequest();
  const actorOptions = listActorOptions(page);
  const active = filterNames.flatMap((name) => {
    const value = filter[name];
    return value === null ? [] : [{ name, value }];
  });
  const describe = (name: (typeof filterNames)[number], value: string): string =>
    name === "actor" ? (actorOptions[value] ?? value) : name === "type" ? describeAuditEvent(value) : value;
  return (
    <div class="body stack">
      <FilterPanel active={active.length}>
        <form method="get" action={pathInMode(auditPath)} class="filter-bar">
          <Field name="actor" label={filters.actor} value={filter.actor} options={{ "": filters.anyone, ...actorOptions }} />
          <Field name="type" label={filters.type} value={filter.type} options={{ "": filters.anything, ...types }} />
          <div class="field">
            <label for="id">{filters.id}</label>
            <input id="id" name="id" value={filter.id ?? ""} placeholder={filters.idHint} maxlength={maxIdLength} autocomplete="off" />
          </div>
          <SubmitButton class="btn">{messages.show}</SubmitButton>
        </form>
      </FilterPanel>
      <FilterChips
        path={auditPath}
        chips={active.map(({ name, value }) => {
          const text = describe(name, value);
          return {
            label: filters[name],
            value: { text, content: <VerbatimText text={text} /> },
            pathWithout: pathWithQuery(auditPath, { ...filter, [name]: null }),
          };
        })}
      />
    </div>
  );
};

const EntriesCard: FC<{ page: AuditEntryPage; filter: AuditFilter; beforeSeq: number | null }> = ({ page, filter, beforeSeq }) => {
  const { entries, nextBeforeSeq } = page;
  const isFiltered = filter.actor !== null || filter.type !== null || filter.id !== null;
  const pathBefore = (seq: string | null): string => pathWithQuery(auditPath, { ...filter, before: seq });
  if (entries.length === 0 && !isFiltered && beforeSeq === null)
    return <EmptyCard icon="scroll-text" title={auditMessages.emptyTitle} advice={auditMessages.empty} />;
  return (
    <div class="card">
      <EntryFilter filter={filter} page={page} />
      <Table
        label={messages.tabs.audit}
        rows={entries}
        empty={<NoMatches path={auditPath} />}
        columns={[
          [auditMessages.what, ({ type }) => describeAuditEvent(type)],
          [auditMessages.who, (entry) => <VerbatimText text={describeActor(entry, page)} />],
          [auditMessages.about, (entry) => <EntryRecord entry={entry} page={page} />],
          [messages.timeUtc, ({ at }) => <ShortTime at={Date.parse(at)} />],
          [auditMessages.seq, ({ seq }) => seq, "minor number"],
        ]}
      />
      <Pagination
        first={beforeSeq !== null && pathBefore(null)}
        next={nextBeforeSeq !== null && pathBefore(nextBeforeSeq)}
        note={isFiltered && nextBeforeSeq !== null ? auditMessages.partial : undefined}
      />
    </div>
  );
};

const renderAuditLog = async (request: PortalRequest): Promise<Response> => {
  const { c, services, member } = request;
  const before = Number(c.req.query("before"));
  const beforeSeq = Number.isSafeInteger(before) && before > 0 ? before : null;
  const filter = readFilter(request);
  const listed = await listAuditEntries(services, member, {
    limit: entriesPerPage,
    beforeSeq,
    type: filter.type,
    entityId: filter.id,
    actor: filter.actor === null ? null : parseActorFilter(filter.actor),
  });
  if (!listed.ok)
    return renderMemberPage(request, {
      tab: "audit",
      code: listed.code,
      content: <Notice tone="caution" icon="triangle-alert" title={auditMessages.away} />,
    });
  const page = listed.value;
  return renderMemberPage(request, {
    tab: "audit",
    intro: auditMessages.intro,
    content: (
      <>
        {beforeSeq === null && page.hasPending && (
          <Notice icon="clock" title={auditMessages.pendingTitle}>
            <p>{auditMessages.pending}</p>
          </Notice>
        )}
        <EntriesCard page={page} filter={filter} beforeSeq={beforeSeq} />
        <p class="small quiet">
          <FormattedMessage text={auditMessages.proofs} parts={{ request: <code>GET /v1/business/portal/audit</code> }} />
        </p>
      </>
    ),
  });
};

export const registerAuditRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/audit", authenticatedPage(renderAuditLog));
};
