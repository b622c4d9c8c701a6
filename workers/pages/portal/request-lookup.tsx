// Explains why an API request was refused. The request is found by the request ID from its response.
import { cutText } from "../../../core/cut-text.ts";
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { parseRequestId, parseShareId, parseTypedCertId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { RefusedRequest } from "../../../storage/refused-requests.ts";
import { getRefusedRequest } from "../../operations/portal/get-refused-request.ts";
import { EmptyCard, Hash, Icon, Timestamp, VerbatimText, PropertyList } from "../shared/components.tsx";
import { Card, Field, FormErrorMessage, Link, messages, StatusLabel, usePortalRequest } from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const requestMessages = messages.requests;

/** For some refusals, the page where a member can fix the cause. */
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

const RefusedRequestCard: FC<{ id: string; request: RefusedRequest }> = ({ id, request }) => {
  const { code, status, at, method, route } = request;
  const remedy = remedyPages[code];
  const identifiers = [
    [requestMessages.from, request.originHost],
    [requestMessages.page, request.pageHost],
    [messages.keys.clientId, request.clientId],
    [requestMessages.key, request.keyId],
  ] as const;
  return (
    <Card
      id="request"
      title={requestMessages.one}
      end={<StatusLabel tone="bad" text={`${status} ${code}`} />}
      footer={remedy !== undefined && <Link class="btn" to={`/portal/${remedy}`} text={requestMessages.remedies[remedy]} />}
    >
      <p>
        <strong>{refusals[code]}</strong>
      </p>
      <PropertyList
        lines={[
          [requestMessages.id, <Hash value={id} />],
          [requestMessages.at, <Timestamp at={at} />],
          [requestMessages.route, <code>{`${method} ${route}`}</code>],
          ...identifiers.map(([name, value]) => [name, value !== null && <VerbatimText text={value} />] as const),
        ]}
      />
    </Card>
  );
};

/** The form uses GET, so that its result can be reloaded and shared. This is safe because a request ID does not identify a person. */
const LookupForm: FC<{ typed: string | null }> = ({ typed }) => (
  <form class="card" method="get" action={usePortalRequest().pathInMode("/portal/requests")}>
    <div class="body">
      <FormErrorMessage fields={["id"]} />
      <Field name="id" label={requestMessages.id} hint={requestMessages.idHint} required value={typed} maxlength={60} />
    </div>
    <footer>
      <span />
      <button type="submit" class="btn primary">
        <Icon name="search" />
        {requestMessages.find}
      </button>
    </footer>
  </form>
);

/** Renders the result, if there is one, followed by the lookup form. */
const renderLookupPage = (
  request: PortalRequest,
  typed: string | null,
  { error, code, result }: { readonly error?: FormError; readonly code?: RefusalCode; readonly result?: Child },
) =>
  renderMemberPage(request, {
    tab: "requests",
    intro: requestMessages.intro,
    error,
    code,
    content: (
      <>
        {result}
        <LookupForm typed={typed} />
      </>
    ),
  });

const handleLookup = (request: PortalRequest): Promise<Response> | Response => {
  const typed = request.c.req.query("id")?.trim() ?? "";
  if (typed === "") return renderLookupPage(request, null, {});
  const id = parseRequestId(typed.toLowerCase());
  if (id !== null) return redirectTo(request, `/portal/requests/${id}`);
  return renderLookupPage(request, cutText(typed, 60), { error: { code: "invalid_request", field: "id", text: requestMessages.badId } });
};

const renderRequest = async (request: PortalRequest): Promise<Response> => {
  const id = parseRequestId(request.c.req.param("id") ?? "");
  if (id === null) return redirectTo(request, "/portal/requests");
  const found = await getRefusedRequest(request.services, request.member, id);
  const result = found.ok ? (
    <RefusedRequestCard id={id} request={found.value} />
  ) : (
    <EmptyCard icon="search" title={requestMessages.unknownTitle} advice={requestMessages.unknown} />
  );
  return renderLookupPage(request, id, found.ok ? { result } : { result, code: found.code });
};

/** Redirects to the record whose ID was entered in the top bar. */
const handleIdLookup = (request: PortalFormRequest): Promise<Response> | Response => {
  const typed = request.form.get("id")?.trim() ?? "";
  const certId = parseTypedCertId(typed);
  if (certId !== null) return redirectTo(request, `/portal/certificates/${certId}`);
  const id = typed.toLowerCase();
  if (parseShareId(id) !== null) return redirectTo(request, `/portal/shares/${id}`);
  if (parseRequestId(id) !== null) return redirectTo(request, `/portal/requests/${id}`);
  return renderLookupPage(request, cutText(typed, 60), { error: { code: "invalid_request", field: "id", text: requestMessages.badAnyId } });
};

export const registerRequestLookupRoutes = (pages: Hono<AppEnv>): void => {
  pages.post("/lookup", authenticatedAction({ isReadOnly: true }, handleIdLookup));
  pages.get("/requests", authenticatedPage(handleLookup));
  pages.get("/requests/:id", authenticatedPage(renderRequest));
};
