// The business's audit log, newest entries first.
import type { Hono } from "hono";
import type { TrailEntry } from "../../../core/audit/trail.ts";
import type { AppEnv } from "../../http/context.ts";
import { getAuditTrail } from "../../operations/audit/get-audit-trail.ts";
import { Hash, Timestamp } from "../shared/components.tsx";
import { Pagination, Table, messages } from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedPage } from "./handlers.ts";
import type { PortalRequest } from "./portal-request.ts";

const auditMessages = messages.audit;
const entriesPerPage = 50;

/** Returns the member's ID, or the actor that the entry names. Empty if the payload was erased. */
const getEntryActor = ({ committed }: TrailEntry): string => String(committed?.payload.by ?? committed?.payload.actor ?? "");

const renderAuditTrail = async (request: PortalRequest): Promise<Response> => {
  const before = Number(request.c.req.query("before"));
  const beforeSeq = Number.isSafeInteger(before) && before > 0 ? before : null;
  const trail = await getAuditTrail(request.services, request.member.business, { limit: entriesPerPage, beforeSeq });
  if (!trail.ok) return renderMemberPage(request, { tab: "audit", content: <p>{auditMessages.away}</p>, code: trail.code });
  const { page, pending } = trail.value;
  return renderMemberPage(request, {
    tab: "audit",
    content: (
      <>
        <p>{auditMessages.intro}</p>
        {beforeSeq === null && pending.length > 0 && <p>{auditMessages.pending}</p>}
        <Table
          label={messages.tabs.audit}
          rows={page?.entries ?? []}
          emptyMessage={auditMessages.empty}
          columns={[
            [auditMessages.seq, (row) => row.seq],
            [auditMessages.at, (row) => <Timestamp at={Date.parse(row.at)} />],
            [auditMessages.what, (row) => <code>{row.type}</code>],
            [auditMessages.who, (row) => <code class="wraps">{getEntryActor(row)}</code>],
            [auditMessages.about, (row) => <code class="wraps">{row.entity_id}</code>],
            [auditMessages.hash, (row) => <Hash value={row.hash} />],
          ]}
        />
        <Pagination
          first={beforeSeq !== null && "/portal/audit"}
          next={page?.nextBeforeSeq != null && `/portal/audit?before=${page.nextBeforeSeq}`}
        />
      </>
    ),
  });
};

export const registerAuditRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/audit", authenticatedPage(renderAuditTrail));
};
