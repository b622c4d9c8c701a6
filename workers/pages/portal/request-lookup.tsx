// Why a request was refused: somebody types the id that stood in its answer.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { parseRequestId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { RefusedRequest } from "../../../storage/refused-requests.ts";
import { getRefusedRequest } from "../../operations/portal/get-refused-request.ts";
import { VerbatimText, Hash, Timestamp } from "../shared/components.tsx";
import { Field, LinkList, PropertyList, Section, StatusLabel, SubmitButton, messages, FormErrorMessage } from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedPage, redirectTo, type FormError, type PortalRequest } from "./portal-request.ts";

const requestMessages = messages.requests;

/** Where what a refusal speaks of is settled. */
const remedyPages: Readonly<Partial<Record<RefusalCode, "domains" | "billing" | "keys">>> = {
  origin_not_verified: "domains",
  page_url_not_verified: "domains",
  origin_mismatch: "domains",
  plan_required: "billing",
  subscription_past_due: "billing",
  business_suspended: "billing",
  forbidden: "keys",
  sandbox_only: "keys",
};

const RefusedRequestDetails: FC<{ request: RefusedRequest }> = ({ request }) => {
  const { code, status, at, method, route } = request;
  const remedy = remedyPages[code];
  const named = [
    [requestMessages.from, request.originHost],
    [requestMessages.page, request.pageHost],
    [messages.keys.clientId, request.clientId],
    [messages.keys.key, request.keyId],
  ] as const;
  return (
    <>
      <p>
        <StatusLabel tone="bad" text={`${status} ${code}`} /> {refusals[code]}
      </p>
      <PropertyList
        lines={[
          [requestMessages.at, <Timestamp at={at} />],
          [requestMessages.route, <code>{`${method} ${route}`}</code>],
          ...named.map(([name, value]) => [name, value !== null && <VerbatimText text={value} />] as const),
        ]}
      />
      {remedy !== undefined && <LinkList class="button" to={`/portal/${remedy}`} text={requestMessages.remedies[remedy]} />}
    </>
  );
};

/** The form, and below it what was found of the last one asked for. */
const renderLookupPage = (
  visit: PortalRequest,
  typed: string | null,
  more: { readonly fault?: FormError; readonly code?: RefusalCode; readonly found?: Child },
) =>
  renderMemberPage(visit, {
    tab: "requests",
    error: more.fault,
    code: more.code,
    content: (
      <>
        <p>{requestMessages.intro}</p>
        <form method="get" action={visit.pathInMode("/portal/requests")} class="form">
          <FormErrorMessage fields={["id"]} />
          <Field name="id" label={requestMessages.id} hint={requestMessages.idHint} required value={typed} maxlength={60} />
          <SubmitButton label={requestMessages.find} />
        </form>
        {more.found}
      </>
    ),
  });

const handleLookup = (visit: PortalRequest): Promise<Response> | Response => {
  const typed = visit.c.req.query("id")?.trim() ?? "";
  if (typed === "") return renderLookupPage(visit, null, {});
  const id = parseRequestId(typed.toLowerCase());
  if (id !== null) return redirectTo(visit, `/portal/requests/${id}`);
  return renderLookupPage(visit, typed.slice(0, 60), { fault: { code: "invalid_request", field: "id", text: requestMessages.badId } });
};

const renderRequest = async (visit: PortalRequest): Promise<Response> => {
  const id = parseRequestId(visit.c.req.param("id") ?? "");
  if (id === null) return redirectTo(visit, "/portal/requests");
  const looked = await getRefusedRequest(visit.services, visit.member, id);
  const found = (
    <Section id="request" title={requestMessages.one}>
      <p>
        <Hash value={id} />
      </p>
      {looked.ok ? <RefusedRequestDetails request={looked.value} /> : <p>{requestMessages.unknown}</p>}
    </Section>
  );
  return renderLookupPage(visit, id, looked.ok ? { found } : { found, code: looked.code });
};

export const registerRequestLookupRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/requests", authenticatedPage(handleLookup));
  pages.get("/requests/:id", authenticatedPage(renderRequest));
};
