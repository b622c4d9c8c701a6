// A Worker that runs beside the service and produces events for benchmarks and kill tests. It registers endpoints, and commits events in
// the same way as the service: in a database batch, followed by a notification after the response. It is never deployed.

interface EventSequenceStub {
  readonly drain: () => Promise<boolean>;
  readonly addEndpoint: (endpoint: object) => Promise<string>;
  readonly listDeliveries: (endpointId: string, limit: number, before: string | null) => Promise<unknown>;
  readonly listEvents: (cursor: number, limit: number, types: null) => Promise<unknown>;
}

interface ProducerEnv {
  readonly DB: D1Database;
  readonly EVENT_SEQUENCE: { readonly getByName: (name: string) => EventSequenceStub };
}

interface ProducerRequest {
  readonly business: string;
  readonly commit?: number;
  /** If false, simulates a process that dies right after the commit. */
  readonly notify?: boolean;
  /** If true, responds only after the events are sequenced and passed to the delivery queues. */
  readonly wait?: boolean;
  readonly register?: object;
  readonly page?: { readonly cursor: number; readonly limit: number };
  readonly deliveries?: { readonly endpoint: string; readonly limit: number; readonly before: string | null };
  /** The baseline for deliveries: sends `count` POST requests to `url` in five loops, without the service. */
  readonly bare?: { readonly url: string; readonly count: number; readonly body: string };
}

const commit = async (db: D1Database, business: string, count: number): Promise<readonly string[]> => {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  const insert = db.prepare(
    `INSERT INTO changes (id, sequence, type, entity_type, entity_id, at)
     VALUES (?, ?, 'certificate.revoked', 'certificate', 'cc_00k3v9d2m4q8x1c7b5n0t6w2h9', ?)`,
  );
  if (count > 0) await db.batch(ids.map((id) => insert.bind(id, business, Date.now())));
  return ids;
};

const bareLoops = async ({ url, count, body }: NonNullable<ProducerRequest["bare"]>): Promise<number> => {
  const startedAt = Date.now();
  let left = count;
  const loop = async (): Promise<void> => {
    while (left-- > 0) await (await fetch(url, { method: "POST", body })).body?.cancel();
  };
  await Promise.all(Array.from({ length: 5 }, loop));
  return Date.now() - startedAt;
};

export default {
  async fetch(request: Request, env: ProducerEnv, context: ExecutionContext): Promise<Response> {
    const command = await request.json<ProducerRequest>();
    const log = env.EVENT_SEQUENCE.getByName(command.business);
    if (command.register !== undefined) return Response.json(await log.addEndpoint(command.register));
    if (command.page !== undefined) return Response.json(await log.listEvents(command.page.cursor, command.page.limit, null));
    if (command.bare !== undefined) return Response.json(await bareLoops(command.bare));
    if (command.deliveries !== undefined) {
      const { endpoint, limit, before } = command.deliveries;
      return Response.json(await log.listDeliveries(endpoint, limit, before));
    }
    const ids = await commit(env.DB, command.business, command.commit ?? 0);
    if (command.wait === true) await log.drain();
    else if (command.notify !== false) context.waitUntil(log.drain());
    return Response.json(ids);
  },
} satisfies ExportedHandler<ProducerEnv>;
