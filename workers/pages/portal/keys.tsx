// Keys for servers and public clients for tags. A key is shown once, in the answer to the form that made it.
import type { Hono } from "hono";
import { hexOf } from "../../../core/bytes.ts";
import { keyIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { createClient, createKey, endKey, listClients, listKeys, type ApiKey, type Client } from "../../operations/portal/keys.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, Moment } from "../shared/parts.tsx";
import { Allowed, Careful, Field, portalPage, PostForm, SecretOnce, Status, Table, Wrong, type PortalView } from "./parts.tsx";
import { acting, answer, faultOf, nothing, reading, to, type Fault, type Posted, type Visit } from "./visit.ts";

interface Kept {
  readonly keys: readonly ApiKey[];
  readonly clients: readonly Client[];
  /** Of the form for a new key: sent twice, it makes one. */
  readonly once: string;
}

interface Failed {
  readonly form: "key" | "client";
  readonly name: string;
  readonly fault: Fault;
}

const pageOf = (view: PortalView, { keys, clients, once }: Kept, failed?: Failed): Page => {
  const { words, setting } = view;
  const { keys: said } = words;
  const faultIn = (form: Failed["form"]): Fault | undefined => (failed?.form === form ? failed.fault : undefined);
  const NewForm = ({ form, label }: { form: Failed["form"]; label: string }) => (
    <PostForm view={view} action={`/portal/${form}s`}>
      <h3>{label}</h3>
      <Wrong fault={faultIn(form)} fields={[`${form}_name`]} setting={setting} />
      <input type="hidden" name="once" value={once} />
      <Field
        name={`${form}_name`}
        label={said.name}
        hint={said.nameHint}
        required
        maxlength={80}
        value={failed?.form === form ? failed.name : undefined}
        fault={faultIn(form)}
        setting={setting}
      />
      <button type="submit" class="primary">
        {label}
      </button>
    </PostForm>
  );
  return portalPage(view, {
    tab: "keys",
    title: words.tabs.keys,
    fault: failed?.fault,
    content: (
      <>
        <section aria-labelledby="keys">
          <h2 id="keys">{said.keys}</h2>
          {keys.length === 0 ? (
            <p>{said.noKeys}</p>
          ) : (
            <Table
              label={said.keys}
              rows={keys}
              columns={[
                { head: said.name, cell: (row) => <Exact text={row.name} /> },
                {
                  head: said.key,
                  cell: (row) => (
                    <code translate="no">
                      {row.environment === "live" ? "sk_live_" : "sk_test_"}…{row.last4}
                    </code>
                  ),
                },
                { head: said.made, cell: (row) => <Moment at={row.createdAt} setting={setting} /> },
                {
                  head: said.used,
                  cell: (row) => (row.lastUsedAt === null ? said.never : <Moment at={row.lastUsedAt} setting={setting} />),
                },
                {
                  head: words.state,
                  cell: (row) =>
                    row.revokedAt === null ? <Status tone="good" text={said.works} /> : <Status tone="plain" text={said.ended} />,
                },
                {
                  head: words.action,
                  cell: (row) =>
                    row.revokedAt === null && (
                      <Allowed view={view}>
                        <Careful
                          view={view}
                          action={`/portal/keys/${row.id}/remove`}
                          label={said.remove}
                          of={row.name}
                          consequence={row.lastUsedAt === null ? said.removalUnused : said.removal}
                        />
                      </Allowed>
                    ),
                },
              ]}
            />
          )}
          <Allowed view={view}>
            <NewForm form="key" label={said.newKey} />
          </Allowed>
        </section>
        <section aria-labelledby="clients">
          <h2 id="clients">{said.clients}</h2>
          <p>{said.clientsText}</p>
          <Table
            label={said.clients}
            rows={clients}
            columns={[
              { head: said.name, cell: (row) => <Exact text={row.name} /> },
              {
                head: said.clientId,
                cell: (row) => (
                  <code class="whole" translate="no">
                    {row.id}
                  </code>
                ),
              },
              { head: said.made, cell: (row) => <Moment at={row.createdAt} setting={setting} /> },
            ]}
          />
          <Allowed view={view}>
            <NewForm form="client" label={said.newClient} />
          </Allowed>
        </section>
      </>
    ),
  });
};

/** Those of the mode. */
const kept = async ({ services, member, view }: Visit): Promise<Kept> => {
  const [keys, clients] = await Promise.all([listKeys(services, member), listClients(services, member)]);
  const isOfMode = ({ environment }: Pick<Client, "environment">): boolean => environment === view.environment;
  return { keys: keys.filter(isOfMode), clients: clients.filter(isOfMode), once: hexOf(services.random(16)) };
};

const show = async (visit: Visit): Promise<Response> => answer(visit, pageOf(visit.view, await kept(visit)));

const requestOf = ({ form, view }: Posted, kind: Failed["form"]) => ({
  name: form.get(`${kind}_name`) ?? "",
  environment: view.environment,
  idempotencyKey: form.get("once")?.slice(0, 64) || null,
});

const failed = async (visit: Posted, form: Failed["form"], refused: Parameters<typeof faultOf>[0]): Promise<Response> => {
  const fault = faultOf(refused);
  const named = fault.field === "name" ? { ...fault, field: `${form}_name` } : fault;
  const name = (visit.form.get(`${form}_name`) ?? "").slice(0, 200);
  return answer(visit, pageOf(visit.view, await kept(visit), { form, name, fault: named }), fault.code);
};

const newKey = async (visit: Posted): Promise<Response> => {
  const { services, member, view } = visit;
  const made = await createKey(services, member, requestOf(visit, "key"));
  if (!made.ok) return failed(visit, "key", made);
  const { words } = view;
  const { value, replayed } = made.value;
  return answer(
    visit,
    portalPage(view, {
      tab: "keys",
      title: words.keys.madeTitle,
      content: <SecretOnce view={view} label={words.keys.secretLabel} value={replayed ? null : value.key} back="/portal/keys" />,
    }),
  );
};

const newClient = async (visit: Posted): Promise<Response> => {
  const made = await createClient(visit.services, visit.member, requestOf(visit, "client"));
  return made.ok ? to(visit, "/portal/keys", "added") : failed(visit, "client", made);
};

const remove = async (visit: Posted): Promise<Response> => {
  const id = keyIdOf(visit.c.req.param("id") ?? "");
  const ended = id === null ? null : await endKey(visit.services, visit.member, id);
  return ended?.ok ? to(visit, "/portal/keys", "removed") : nothing(visit);
};

export const mountKeys = (pages: Hono<Api>): void => {
  pages.get("/keys", reading(show));
  pages.post("/keys", acting({ owner: true }, newKey));
  pages.post("/clients", acting({ owner: true }, newClient));
  pages.post("/keys/:id/remove", acting({ owner: true }, remove));
};
