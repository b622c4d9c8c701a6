// Keys for servers and public clients for tags. A key is shown once, in the answer to the form that made it.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { keyIdOf } from "../../../core/ids.ts";
import type { Refusal } from "../../../core/result.ts";
import type { Api } from "../../http/context.ts";
import { createClient, createKey, endKey, listClients, listKeys, type Client } from "../../operations/portal/keys.ts";
import { Exact, Moment } from "../shared/parts.tsx";
import { Careful, Field, Once, PostForm, Section, Status, Submit, Table, useVisit, words, Wrong } from "./parts.tsx";
import { nothing, showPage, showSecret } from "./page.tsx";
import { acting, faultOf, reading, to, withId, type Fault, type Posted, type Visit } from "./visit.ts";

const said = words.keys;

type Kind = "key" | "client";

/** The name of its input says which of the two forms was sent. */
const NewForm: FC<{ kind: Kind; label: string }> = ({ kind, label }) => (
  <PostForm by="owner" action={`/portal/${kind}s`}>
    <h3>{label}</h3>
    {useVisit().form?.has(`${kind}_name`) && <Wrong fields={[`${kind}_name`]} />}
    <Once />
    <Field name={`${kind}_name`} label={said.name} hint={said.nameHint} required maxlength={80} />
    <Submit label={label} />
  </PostForm>
);

const show = async (visit: Visit, fault?: Fault): Promise<Response> => {
  const { services, member } = visit;
  const [keys, clients] = await Promise.all([listKeys(services, member), listClients(services, member)]);
  const isOfMode = ({ environment }: Pick<Client, "environment">): boolean => environment === visit.environment;
  return showPage(visit, {
    tab: "keys",
    fault,
    content: (
      <>
        <Section id="keys" title={said.keys}>
          <Table
            label={said.keys}
            rows={keys.filter(isOfMode)}
            empty={said.noKeys}
            columns={[
              [said.name, (row) => <Exact text={row.name} />],
              [
                said.key,
                (row) => (
                  <code translate="no">
                    {row.environment === "live" ? "sk_live_" : "sk_test_"}…{row.last4}
                  </code>
                ),
              ],
              [said.made, (row) => <Moment at={row.createdAt} />],
              [said.used, (row) => (row.lastUsedAt === null ? said.never : <Moment at={row.lastUsedAt} />)],
              [
                words.state,
                (row) => (row.revokedAt === null ? <Status tone="good" text={said.works} /> : <Status tone="plain" text={said.ended} />),
              ],
              [
                words.action,
                (row) =>
                  row.revokedAt === null && (
                    <Careful
                      by="owner"
                      action={`/portal/keys/${row.id}/remove`}
                      label={said.remove}
                      of={row.name}
                      consequence={row.lastUsedAt === null ? said.removalUnused : said.removal}
                    />
                  ),
              ],
            ]}
          />
          <NewForm kind="key" label={said.newKey} />
        </Section>
        <Section id="clients" title={said.clients}>
          <p>{said.clientsText}</p>
          <Table
            label={said.clients}
            rows={clients.filter(isOfMode)}
            columns={[
              [said.name, (row) => <Exact text={row.name} />],
              [
                said.clientId,
                (row) => (
                  <code class="whole" translate="no">
                    {row.id}
                  </code>
                ),
              ],
              [said.made, (row) => <Moment at={row.createdAt} />],
            ]}
          />
          <NewForm kind="client" label={said.newClient} />
        </Section>
      </>
    ),
  });
};

const requestOf = ({ form, environment }: Posted, kind: Kind) => ({
  name: form.get(`${kind}_name`) ?? "",
  environment,
  idempotencyKey: form.get("once")?.slice(0, 64) || null,
});

const refused = (visit: Posted, kind: Kind, why: Refusal): Promise<Response> => {
  const fault = faultOf(why);
  return show(visit, fault.field === "name" ? { ...fault, field: `${kind}_name` } : fault);
};

const newKey = async (visit: Posted): Promise<Response> => {
  const made = await createKey(visit.services, visit.member, requestOf(visit, "key"));
  if (!made.ok) return refused(visit, "key", made);
  const { value, replayed } = made.value;
  return showSecret(visit, {
    tab: "keys",
    title: said.madeTitle,
    label: said.secretLabel,
    value: replayed ? null : value.key,
    back: "/portal/keys",
  });
};

const newClient = async (visit: Posted): Promise<Response> => {
  const made = await createClient(visit.services, visit.member, requestOf(visit, "client"));
  return made.ok ? to(visit, "/portal/keys", "added") : refused(visit, "client", made);
};

const remove = async (visit: Posted, id: string): Promise<Response> => {
  const ended = await endKey(visit.services, visit.member, id);
  return ended.ok ? to(visit, "/portal/keys", "removed") : nothing(visit);
};

export const mountKeys = (pages: Hono<Api>): void => {
  pages.get("/keys", reading(show));
  pages.post("/keys", acting({ owner: true }, newKey));
  pages.post("/clients", acting({ owner: true }, newClient));
  pages.post("/keys/:id/remove", acting({ owner: true }, withId(keyIdOf, remove)));
};
