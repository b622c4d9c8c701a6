// Shares with the business: the list, and one share with its history. The shared values are available through the API only.
import type { Hono } from "hono";
import { parseShareId, type ShareId } from "../../../core/ids.ts";
import { groupsFromKeys } from "../../../core/shares/fields.ts";
import { shareStatuses, type ShareStatus } from "../../../core/shares/share.ts";
import type { AppEnv } from "../../http/context.ts";
import { getBusinessShare } from "../../operations/shares/get-business-share.ts";
import { listShares } from "../../operations/shares/list-shares.ts";
import { formatFieldGroups } from "../shared/share-options.ts";
import { VerbatimText, UntrustedText, Hash, Timestamp } from "../shared/components.tsx";
import {
  ListFilter,
  Pagination,
  language,
  Link,
  LinkList,
  NoMatchMessage,
  PropertyList,
  Section,
  StatusLabel,
  Table,
  messages,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { authenticatedPage, withId } from "./handlers.ts";
import { toReader, type PortalRequest } from "./portal-request.ts";

const shareMessages = messages.shares;
const sharesPerPage = 25;
const shareTones: Readonly<Record<ShareStatus, Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "plain",
  ceased: "plain",
  superseded: "plain",
};

const renderShareList = async (request: PortalRequest): Promise<Response> => {
  const { c, services } = request;
  const status = shareStatuses.find((name) => name === c.req.query("status")) ?? null;
  const after = parseShareId(c.req.query("after") ?? "");
  const found = await listShares(services, toReader(request), { status, limit: sharesPerPage, startingAfter: after });
  if (!found.ok) return notFoundPage(request);
  const { shares, hasMore } = found.value;
  const pathAfter = (id: ShareId | null): string => pathWithQuery("/portal/shares", { status, after: id });
  const last = shares.at(-1);
  return renderMemberPage(request, {
    tab: "shares",
    content: (
      <>
        <ListFilter path="/portal/shares" name="status" label={messages.state} value={status} options={shareMessages.states} />
        <Table
          label={messages.tabs.shares}
          rows={shares}
          emptyMessage={
            status === null && after === null ? (
              <>
                {shareMessages.empty} <Link to="/portal/snippet" text={messages.tabs.snippet} />
              </>
            ) : (
              <NoMatchMessage path="/portal/shares" />
            )
          }
          columns={[
            [shareMessages.granted, (row) => <Link to={`/portal/shares/${row.id}`} text={<Timestamp at={row.createdAt} />} />],
            [messages.state, (row) => <StatusLabel tone={shareTones[row.status]} text={shareMessages.states[row.status]} />],
            [shareMessages.fields, (row) => formatFieldGroups(language, groupsFromKeys(row.scope))],
            [messages.certificates.purpose, (row) => <VerbatimText text={row.purpose} />],
            [shareMessages.ends, (row) => <Timestamp at={row.expiresAt} />],
            [messages.deadlines.due, (row) => row.ceaseBy !== null && row.status === "revoked" && <Timestamp at={row.ceaseBy} />],
          ]}
        />
        <Pagination first={after !== null && pathAfter(null)} next={hasMore && last !== undefined && pathAfter(last.id)} />
      </>
    ),
  });
};

const renderShare = async (request: PortalRequest, id: ShareId): Promise<Response> => {
  const found = await getBusinessShare(request.services, toReader(request), id);
  if (!found.ok) return notFoundPage(request);
  const { share, disclosureText, history, reason } = found.value;
  return renderMemberPage(request, {
    tab: "shares",
    title: shareMessages.one,
    content: (
      <>
        <p>
          <StatusLabel tone={shareTones[share.status]} text={shareMessages.states[share.status]} /> <Hash value={share.id} />
        </p>
        {share.environment === "sandbox" && <p class="band">{messages.testBand}</p>}
        {share.status === "revoked" && <LinkList class="btn" to={`/portal/deadlines/${share.id}`} text={messages.deadlines.acknowledge} />}
        <PropertyList
          lines={[
            [shareMessages.fields, formatFieldGroups(language, groupsFromKeys(share.scope))],
            [messages.certificates.purpose, <UntrustedText text={share.purpose} />],
            [messages.certificates.website, share.origin],
            [shareMessages.granted, <Timestamp at={share.createdAt} />],
            [shareMessages.ends, <Timestamp at={share.expiresAt} />],
            [shareMessages.stopped, share.revokedAt !== null && <Timestamp at={share.revokedAt} />],
            [messages.deadlines.due, share.ceaseBy !== null && <Timestamp at={share.ceaseBy} />],
            [messages.deadlines.acknowledged, share.acknowledgedAt !== null && <Timestamp at={share.acknowledgedAt} />],
            [shareMessages.reason, reason !== null && <UntrustedText text={reason} />],
          ]}
        />
        <Section id="text" title={messages.certificates.what}>
          <blockquote>
            <VerbatimText text={disclosureText} passage />
          </blockquote>
        </Section>
        <Section id="history" title={shareMessages.history}>
          <Table
            label={shareMessages.history}
            rows={history}
            columns={[
              [messages.audit.at, (row) => <Timestamp at={row.at} />],
              [messages.audit.what, (row) => <code>{row.type}</code>],
              [messages.audit.seq, (row) => row.auditSeq ?? messages.audit.waiting],
            ]}
          />
        </Section>
        <Section id="values" title={shareMessages.values}>
          <p>{shareMessages.valuesText}</p>
          <pre>
            <code translate="no">{`curl -H "Authorization: Bearer $SVC_KEY" "$SVC_API/shares/${share.id}/current"`}</code>
          </pre>
        </Section>
      </>
    ),
  });
};

export const registerShareRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/shares", authenticatedPage(renderShareList));
  pages.get("/shares/:id", authenticatedPage(withId(parseShareId, renderShare)));
};
