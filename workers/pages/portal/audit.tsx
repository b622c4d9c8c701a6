// The audit chain of the business, newest first.
import type { Hono } from "hono";
import type { TrailEntry } from "../../../core/audit/trail.ts";
import type { Api } from "../../http/context.ts";
import { auditTrail } from "../../operations/audit/trail.ts";
import { Hash, Moment } from "../shared/parts.tsx";
import { Further, Table, words } from "./parts.tsx";
import { showPage } from "./page.tsx";
import { reading, type Visit } from "./visit.ts";

const said = words.audit;
const perPage = 50;

/** A member by their id, everybody else as the entry names them; nothing once it was erased. */
const whoOf = ({ committed }: TrailEntry): string => String(committed?.payload.by ?? committed?.payload.actor ?? "");

const show = async (visit: Visit): Promise<Response> => {
  const asked = Number(visit.c.req.query("before"));
  const beforeSeq = Number.isSafeInteger(asked) && asked > 0 ? asked : null;
  const trail = await auditTrail(visit.services, visit.member.business, { limit: perPage, beforeSeq });
  if (!trail.ok) return showPage(visit, { tab: "audit", content: <p>{said.away}</p>, code: trail.code });
  const { page, pending } = trail.value;
  return showPage(visit, {
    tab: "audit",
    content: (
      <>
        <p>{said.intro}</p>
        {beforeSeq === null && pending.length > 0 && <p>{said.pending}</p>}
        <Table
          label={words.tabs.audit}
          rows={page?.entries ?? []}
          empty={said.empty}
          columns={[
            [said.seq, (row) => row.seq],
            [said.at, (row) => <Moment at={Date.parse(row.at)} />],
            [said.what, (row) => <code>{row.type}</code>],
            [said.who, (row) => <code class="wraps">{whoOf(row)}</code>],
            [said.about, (row) => <code class="wraps">{row.entity_id}</code>],
            [said.hash, (row) => <Hash value={row.hash} />],
          ]}
        />
        <Further
          first={beforeSeq !== null && "/portal/audit"}
          next={page?.nextBeforeSeq != null && `/portal/audit?before=${page.nextBeforeSeq}`}
        />
      </>
    ),
  });
};

export const mountAudit = (pages: Hono<Api>): void => {
  pages.get("/audit", reading(show));
};
