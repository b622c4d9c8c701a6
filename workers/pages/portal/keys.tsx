// Keys for servers and public clients for tags. A key is shown once, in the answer to the form that made it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { parseApiKeyId } from "../../../core/ids.ts";
import type { Refusal } from "../../../core/result.ts";
import type { AppEnv } from "../../http/context.ts";
import type { Client } from "../../../storage/clients.ts";
import { createApiKey } from "../../operations/portal/create-api-key.ts";
import { createClient } from "../../operations/portal/create-client.ts";
import { listApiKeys } from "../../operations/portal/list-api-keys.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { revokeApiKey } from "../../operations/portal/revoke-api-key.ts";
import { VerbatimText, Timestamp } from "../shared/components.tsx";
import {
  ConfirmButton,
  Field,
  IdempotencyField,
  PostForm,
  Section,
  StatusLabel,
  SubmitButton,
  Table,
  usePortalRequest,
  messages,
  FormErrorMessage,
} from "./components.tsx";
import { notFoundPage, renderMemberPage, renderSecretPage } from "./page.tsx";
import {
  authenticatedAction,
  toFormError,
  authenticatedPage,
  redirectTo,
  withId,
  type FormError,
  type PortalFormRequest,
  type PortalRequest,
} from "./portal-request.ts";

const keyMessages = messages.keys;

type CredentialKind = "key" | "client";

/** The name of its input says which of the two forms was sent. */
const NewCredentialForm: FC<{ kind: CredentialKind; label: string }> = ({ kind, label }) => (
  <PostForm requiredRole="owner" action={`/portal/${kind}s`}>
    <h3>{label}</h3>
    {usePortalRequest().form?.has(`${kind}_name`) && <FormErrorMessage fields={[`${kind}_name`]} />}
    <IdempotencyField />
    <Field name={`${kind}_name`} label={keyMessages.name} hint={keyMessages.nameHint} required maxlength={80} />
    <SubmitButton label={label} />
  </PostForm>
);

const renderKeys = async (visit: PortalRequest, fault?: FormError): Promise<Response> => {
  const { services, member } = visit;
  const [keys, clients] = await Promise.all([listApiKeys(services, member), listClients(services, member)]);
  const isOfMode = ({ environment }: Pick<Client, "environment">): boolean => environment === visit.environment;
  return renderMemberPage(visit, {
    tab: "keys",
    error: fault,
    content: (
      <>
        <Section id="keys" title={keyMessages.keys}>
          <Table
            label={keyMessages.keys}
            rows={keys.filter(isOfMode)}
            emptyMessage={keyMessages.noKeys}
            columns={[
              [keyMessages.name, (row) => <VerbatimText text={row.name} />],
              [
                keyMessages.key,
                (row) => (
                  <code translate="no">
                    {row.environment === "live" ? "sk_live_" : "sk_test_"}…{row.last4}
                  </code>
                ),
              ],
              [keyMessages.made, (row) => <Timestamp at={row.createdAt} />],
              [keyMessages.used, (row) => (row.lastUsedAt === null ? keyMessages.never : <Timestamp at={row.lastUsedAt} />)],
              [
                messages.state,
                (row) =>
                  row.revokedAt === null ? (
                    <StatusLabel tone="good" text={keyMessages.works} />
                  ) : (
                    <StatusLabel tone="plain" text={keyMessages.ended} />
                  ),
              ],
              [
                messages.action,
                (row) =>
                  row.revokedAt === null && (
                    <ConfirmButton
                      requiredRole="owner"
                      action={`/portal/keys/${row.id}/remove`}
                      label={keyMessages.remove}
                      of={row.name}
                      consequence={row.lastUsedAt === null ? keyMessages.removalUnused : keyMessages.removal}
                    />
                  ),
              ],
            ]}
          />
          <NewCredentialForm kind="key" label={keyMessages.newKey} />
        </Section>
        <Section id="clients" title={keyMessages.clients}>
          <p>{keyMessages.clientsText}</p>
          <Table
            label={keyMessages.clients}
            rows={clients.filter(isOfMode)}
            columns={[
              [keyMessages.name, (row) => <VerbatimText text={row.name} />],
              [
                keyMessages.clientId,
                (row) => (
                  <code class="whole" translate="no">
                    {row.id}
                  </code>
                ),
              ],
              [keyMessages.made, (row) => <Timestamp at={row.createdAt} />],
            ]}
          />
          <NewCredentialForm kind="client" label={keyMessages.newClient} />
        </Section>
      </>
    ),
  });
};

const parseCreateRequest = ({ form, environment }: PortalFormRequest, kind: CredentialKind) => ({
  name: form.get(`${kind}_name`) ?? "",
  environment,
  idempotencyKey: form.get("once")?.slice(0, 64) || null,
});

const renderCreateError = (visit: PortalFormRequest, kind: CredentialKind, why: Refusal): Promise<Response> => {
  const fault = toFormError(why);
  return renderKeys(visit, fault.field === "name" ? { ...fault, field: `${kind}_name` } : fault);
};

const handleCreateKey = async (visit: PortalFormRequest): Promise<Response> => {
  const made = await createApiKey(visit.services, visit.member, parseCreateRequest(visit, "key"));
  if (!made.ok) return renderCreateError(visit, "key", made);
  const { value, isReplayed } = made.value;
  return renderSecretPage(visit, {
    tab: "keys",
    title: keyMessages.madeTitle,
    label: keyMessages.secretLabel,
    value: isReplayed ? null : value.key,
    backPath: "/portal/keys",
  });
};

const handleCreateClient = async (visit: PortalFormRequest): Promise<Response> => {
  const made = await createClient(visit.services, visit.member, parseCreateRequest(visit, "client"));
  return made.ok ? redirectTo(visit, "/portal/keys", "added") : renderCreateError(visit, "client", made);
};

const handleRevokeKey = async (visit: PortalFormRequest, id: string): Promise<Response> => {
  const ended = await revokeApiKey(visit.services, visit.member, id);
  return ended.ok ? redirectTo(visit, "/portal/keys", "removed") : notFoundPage(visit);
};

export const registerKeyRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/keys", authenticatedPage(renderKeys));
  pages.post("/keys", authenticatedAction({ ownerOnly: true }, handleCreateKey));
  pages.post("/clients", authenticatedAction({ ownerOnly: true }, handleCreateClient));
  pages.post("/keys/:id/remove", authenticatedAction({ ownerOnly: true }, withId(parseApiKeyId, handleRevokeKey)));
};
