// The world of the workerd tests: the demo's businesses in two homes, and requests through the front door.
import { env, exports } from "cloudflare:workers";
import { demoWorld, type DemoBusiness } from "../../scripts/demo-world.ts";
import type { Home } from "../../core/ids.ts";

const secret = "d29ybGQgb2YgdGhlIHRlc3RzLCBub3QgYSBzZWNyZXQ=";
export const world = demoWorld(secret);
export const worldInSecondHome = demoWorld(secret, "01" as Home);

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly text: string;
}

/** One request through the Worker's front door. */
export const call = async (path: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await exports.default.fetch(new Request(`http://svc.test${path}`, init));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null,
  };
};

export const get = (path: string, key?: string): Promise<Answer> =>
  call(path, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });

export interface ConsentBody {
  client_id: string;
  fields: Record<string, unknown>;
  disclosure_text: string;
  entities: unknown[];
  purpose: string;
  page_url: string;
  [extra: string]: unknown;
}

/** A submission that is accepted; tests change one thing about it. */
export const submission = (business: DemoBusiness = world.acme): ConsentBody => ({
  client_id: business.clients.live,
  fields: { email: "pat@example.com", first_name: "Pat", phone: "+1 202 555 0123" },
  disclosure_text: "By clicking Send I agree that Acme Solar LLC may call me.",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
  purpose: "solar quote follow-up",
  page_url: "https://www.example.com/quote?utm=1",
});

export const origin = "https://www.example.com";

/** POST /v1/consent as a browser on the business's page sends it. */
export const consent = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  call("/v1/consent", {
    method: "POST",
    headers: {
      "content-type": "text/plain;charset=UTF-8",
      origin,
      "sec-fetch-mode": "cors",
      "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1",
      ...headers,
    },
    body: typeof body === "string" || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  });

/** Issues one certificate and returns its receipt. */
export const issue = async (
  change: Partial<ConsentBody> = {},
  business: DemoBusiness = world.acme,
): Promise<{ cert_id: string; fingerprint: string; [key: string]: unknown }> => {
  const answer = await consent({ ...submission(business), ...change });
  if (answer.status !== 201) throw new Error(`not issued: ${answer.text}`);
  return answer.body.data;
};

/** Every table with its rows as text, to show that a refused request changed nothing. */
export const databaseContents = async (db: D1Database = env.DB): Promise<Record<string, string>> => {
  const { results } = await db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite_%'")
    .all<{ name: string }>();
  const contents: Record<string, string> = {};
  for (const { name } of results) contents[name] = JSON.stringify((await db.prepare(`SELECT * FROM ${name}`).all()).results);
  return contents;
};
