// The audit chain of the business, newest first.
import type { Hono } from "hono";
import type { AuditTrail, TrailEntry } from "../../../core/audit/trail.ts";
import type { Api } from "../../http/context.ts";
import { auditTrail } from "../../operations/audit/trail.ts";
import type { Page } from "../shared/layout.tsx";
import { Hash, Moment } from "../shared/parts.tsx";
import { portalPage, Table, type PortalView } from "./parts.tsx";
import { answer, reading, type Visit } from "./visit.ts";

const perPage = 50;

/** A member by their id, everybody else as the entry names them; nothing once it was erased. */
const whoOf = ({ committed }: TrailEntry): string => String(committed?.payload.by ?? committed?.payload.actor ?? "");

const pageOf = (view: PortalView, { page, pending }: AuditTrail, isFirst: boolean): Page => {
  const { words, setting } = view;
  const { audit: said } = words;
  const entries = page?.entries ?? [];
  return portalPage(view, {
    tab: "audit",
    title: words.tabs.audit,
    content: (
      <>
        <p>{said.intro}</p>
        {isFirst && pending.length > 0 && <p>{said.pending}</p>}
        {entries.length === 0 ? (
          <p>{said.empty}</p>
        ) : (
          <Table
            label={words.tabs.audit}
            rows={entries}
            columns={[
              { head: said.seq, cell: (row) => row.seq },
              { head: said.at, cell: (row) => <Moment at={Date.parse(row.at)} setting={setting} /> },
              { head: said.what, cell: (row) => <code>{row.type}</code> },
              { head: said.who, cell: (row) => <code class="wraps">{whoOf(row)}</code> },
              { head: said.about, cell: (row) => <code class="wraps">{row.entity_id}</code> },
              { head: said.hash, cell: (row) => <Hash value={row.hash} /> },
            ]}
          />
        )}
        {(!isFirst || page?.nextBeforeSeq != null) && (
          <nav class="pages" aria-label={words.pages.label}>
            {!isFirst && <a href={view.at("/portal/audit")}>{words.pages.first}</a>}
            {page?.nextBeforeSeq != null && (
              <a href={view.at(`/portal/audit?before=${page.nextBeforeSeq}`)} rel="next">
                {words.pages.next}
              </a>
            )}
          </nav>
        )}
      </>
    ),
  });
};

const show = async (visit: Visit): Promise<Response> => {
  const { c, services, member, view } = visit;
  const asked = Number(c.req.query("before"));
  const beforeSeq = Number.isSafeInteger(asked) && asked > 0 ? asked : null;
  const trail = await auditTrail(services, member.business, { limit: perPage, beforeSeq });
  if (trail.ok) return answer(visit, pageOf(view, trail.value, beforeSeq === null));
  const page = portalPage(view, { tab: "audit", title: view.words.tabs.audit, content: <p>{view.words.audit.away}</p> });
  return answer(visit, page, trail.code);
};

export const mountAudit = (pages: Hono<Api>): void => {
  pages.get("/audit", reading(show));
};
