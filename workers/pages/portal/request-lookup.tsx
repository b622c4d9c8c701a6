// Explains why an API request was refused, looked up by the request ID from its response.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { parseRequestId, parseShareId, parseTypedCertId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { RefusedRequest } from "../../../storage/refused-requests.ts";
import { getRefusedRequest } from "../../operations/portal/get-refused-request.ts";
import { SubmitButton } from "../shared/form-fields.tsx";
import { VerbatimText, Hash, Timestamp } from "../shared/components.tsx";
import { Field, LinkList, PropertyList, Section, StatusLabel, messages, FormErrorMessage } from "./components.tsx";
import { renderMemberPage } from "./page.tsx";
import { authenticatedAction, authenticatedPage } from "./handlers.ts";
import { redirectTo, type FormError, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const requestMessages = messages.requests;

/** The page on which the cause of a refusal can be fixed. */
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
  const identifiers = [
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
          ...identifiers.map(([name, value]) => [name, value !== null && <VerbatimText text={value} />] as const),
        ]}
      />
      {remedy !== undefined && <LinkList class="btn" to={`/portal/${remedy}`} text={requestMessages.remedies[remedy]} />}
    </>
  );
};

/** The lookup form, followed by the result if there is one. */
const renderLookupPage = (
  request: PortalRequest,
  typed: string | null,
  { error, code, result }: { readonly error?: FormError; readonly code?: RefusalCode; readonly result?: Child },
) =>
  renderMemberPage(request, {
    tab: "requests",
    error,
    code,
    content: (
      <>
        <p>{requestMessages.intro}</p>
        <form method="get" action={request.pathInMode("/portal/requests")} class="form">
          <FormErrorMessage fields={["id"]} />
          <Field name="id" label={requestMessages.id} hint={requestMessages.idHint} required value={typed} maxlength={60} />
          <SubmitButton>{requestMessages.find}</SubmitButton>
        </form>
        {result}
      </>
    ),
  });

const handleLookup = (request: PortalRequest): Promise<Response> | Response => {
  const typed = request.c.req.query("id")?.trim() ?? "";
  if (typed === "") return renderLookupPage(request, null, {});
  const id = parseRequestId(typed.toLowerCase());
  if (id !== null) return redirectTo(request, `/portal/requests/${id}`);
  return renderLookupPage(request, typed.slice(0, 60), { error: { code: "invalid_request", field: "id", text: requestMessages.badId } });
};

const renderRequest = async (request: PortalRequest): Promise<Response> => {
  const id = parseRequestId(request.c.req.param("id") ?? "");
  if (id === null) return redirectTo(request, "/portal/requests");
  const found = await getRefusedRequest(request.services, request.member, id);
  const result = (
    <Section id="request" title={requestMessages.one}>
      <p>
        <Hash value={id} />
      </p>
      {found.ok ? <RefusedRequestDetails request={found.value} /> : <p>{requestMessages.unknown}</p>}
    </Section>
  );
  return renderLookupPage(request, id, found.ok ? { result } : { result, code: found.code });
};

/** Redirects to the page of the record with the ID from the top bar. */
const handleIdLookup = (request: PortalFormRequest): Promise<Response> | Response => {
  const typed = request.form.get("id")?.trim() ?? "";
  const certId = parseTypedCertId(typed);
  if (certId !== null) return redirectTo(request, `/portal/certificates/${certId}`);
  const id = typed.toLowerCase();
  if (parseShareId(id) !== null) return redirectTo(request, `/portal/shares/${id}`);
  if (parseRequestId(id) !== null) return redirectTo(request, `/portal/requests/${id}`);
  return renderLookupPage(request, typed.slice(0, 60), { error: { code: "invalid_request", field: "id", text: requestMessages.badId } });
};

export const registerRequestLookupRoutes = (pages: Hono<AppEnv>): void => {
  pages.post("/lookup", authenticatedAction({ isReadOnly: true }, handleIdLookup));
  pages.get("/requests", authenticatedPage(handleLookup));
  pages.get("/requests/:id", authenticatedPage(renderRequest));
};
