// Client for producer-worker.ts: creates events and endpoints in a running service over HTTP.
import { Agent, request } from "node:http";
import { firstShard, generateId } from "../../core/ids.ts";
import { secretLength, formatSecretHint, formatWebhookSecret } from "../../core/webhooks/signature.ts";
import { sealWebhookSecret } from "../../storage/webhook-secrets.ts";
import { openVaultFromVars } from "../demo-world.ts";
import { workerScript } from "./measured-service.ts";

const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

/** The script for the `sidecarScript` option of `startRuntime`. */
export const loadProducerScript = (): string => workerScript("producer-worker");

export interface ProducerTarget {
  readonly url: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly business: string;
}

export interface PlacedEvent {
  readonly id: string;
  readonly seq: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/** Uses `request` because Node's fetch cannot set the Host header. Rejects if the service dies during the request. */
const callProducer = <T>(origin: string, body: object): Promise<T> =>
  new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const { hostname, port } = new URL(origin);
    const sent = request(
      { agent, hostname, port, method: "POST", path: "/", headers: { host: "beside.test", "content-length": Buffer.byteLength(text) } },
      (response) => {
        let answer = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          answer += part;
        });
        response.on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) resolve(JSON.parse(answer) as T);
          else reject(new Error(`producer: ${response.statusCode} ${answer.slice(0, 200)}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(text);
  });

/** Commits `count` events in one batch and returns their IDs once they are durable. */
export const commitEvents = (
  { url, business }: ProducerTarget,
  count: number,
  options: { readonly notify?: boolean; readonly wait?: boolean } = {},
): Promise<readonly string[]> => callProducer(url, { business, commit: count, ...options });

export const registerEndpoint = async (
  { url, vars, business }: ProducerTarget,
  target: string,
): Promise<{ readonly id: string; readonly secret: string }> => {
  const id = generateId("whk_", firstShard, random);
  const secret = formatWebhookSecret(random(secretLength));
  const secretSealed = await sealWebhookSecret(await openVaultFromVars(vars), { endpointId: id, businessId: business }, secret);
  const register = {
    id,
    url: target,
    events: null,
    description: null,
    secretSealed,
    secretHint: formatSecretHint(secret),
    createdAt: Date.now(),
  };
  if (!(await callProducer<boolean>(url, { business, register }))) throw new Error("producer: not registered");
  return { id, secret };
};

export const listEvents = (
  { url, business }: ProducerTarget,
  cursor: number,
  limit: number,
): Promise<{ readonly events: readonly PlacedEvent[]; readonly readThrough: number; readonly head: number }> =>
  callProducer(url, { business, page: { cursor, limit } });

/** Returns how many milliseconds it takes to send `count` POST requests directly to `target`, as a baseline for deliveries. */
export const measureBarePosts = ({ url, business }: ProducerTarget, target: string, count: number): Promise<number> =>
  callProducer(url, { business, bare: { url: target, count, body: "x".repeat(240) } });

export const listDeliveries = (
  { url, business }: ProducerTarget,
  endpoint: string,
  before: string | null,
): Promise<{
  readonly deliveries: readonly { readonly id: string; readonly status: string; readonly attempt: number }[];
  readonly hasMore: boolean;
}> => callProducer(url, { business, deliveries: { endpoint, limit: 1_000, before } });
