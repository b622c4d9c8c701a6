// A Worker that runs beside the service and stands for everything that happens to a business's records: it commits events as a
// change does (a batch in the database, then a notice after the answer) and registers endpoints as management does. For the
// benchmark and for the tests that kill the service; no deployment holds it.

interface EventSequenceStub {
  readonly drain: () => Promise<void>;
  readonly addEndpoint: (endpoint: object) => Promise<boolean>;
  readonly listDeliveries: (endpointId: string, limit: number, before: string | null) => Promise<unknown>;
  readonly listEvents: (cursor: number, limit: number, types: null) => Promise<unknown>;
}

interface ProducerEnv {
  readonly DB: D1Database;
  readonly EVENT_SEQUENCE: { readonly getByName: (name: string) => EventSequenceStub };
}

/** What is asked for, as the members of one JSON object. */
interface ProducerRequest {
  readonly business: string;
  readonly commit?: number;
  /** False: as if the process had died right after the commit. */
  readonly notify?: boolean;
  /** Answer only when the events are placed and handed on. */
  readonly wait?: boolean;
  readonly register?: object;
  readonly page?: { readonly cursor: number; readonly limit: number };
  readonly deliveries?: { readonly endpoint: string; readonly limit: number; readonly before: string | null };
  /** Five loops of bare POSTs, for the floor of a delivery. */
  readonly bare?: { readonly url: string; readonly count: number; readonly body: string };
}

const commit = async (db: D1Database, business: string, count: number): Promise<readonly string[]> => {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  const insert = db.prepare(
    `INSERT INTO event_outbox (event_id, business_id, type, share_id, cert_id, data_sealed, created_at)
     VALUES (?, ?, 'certificate.revoked', NULL, 'cc_00k3v9d2m4q8x1c7b5n0t6w2h9', NULL, ?)`,
  );
  if (count > 0) await db.batch(ids.map((id) => insert.bind(id, business, Date.now())));
  return ids;
};

const bareLoops = async ({ url, count, body }: NonNullable<ProducerRequest["bare"]>): Promise<number> => {
  const began = Date.now();
  let left = count;
  const loop = async (): Promise<void> => {
    while (left-- > 0) await (await fetch(url, { method: "POST", body })).body?.cancel();
  };
  await Promise.all(Array.from({ length: 5 }, loop));
  return Date.now() - began;
};

export default {
  async fetch(request: Request, env: ProducerEnv, context: ExecutionContext): Promise<Response> {
    const asked = await request.json<ProducerRequest>();
    const log = env.EVENT_SEQUENCE.getByName(asked.business);
    if (asked.register !== undefined) return Response.json(await log.addEndpoint(asked.register));
    if (asked.page !== undefined) return Response.json(await log.listEvents(asked.page.cursor, asked.page.limit, null));
    if (asked.bare !== undefined) return Response.json(await bareLoops(asked.bare));
    if (asked.deliveries !== undefined) {
      const { endpoint, limit, before } = asked.deliveries;
      return Response.json(await log.listDeliveries(endpoint, limit, before));
    }
    const ids = await commit(env.DB, asked.business, asked.commit ?? 0);
    if (asked.wait === true) await log.drain();
    else if (asked.notify !== false) context.waitUntil(log.drain());
    return Response.json(ids);
  },
} satisfies ExportedHandler<ProducerEnv>;
