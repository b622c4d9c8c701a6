// The baseline for sharing: a Worker that does only the database work.
// - POST /grant inserts the rows of a grant in one D1 batch (storage/share-changes.ts, storage/commit.ts)
// - POST /redeem/<code> runs an UPDATE and then a SELECT
// - GET /current/<id> runs a SELECT and inserts an audit entry
// - GET /list/<business> reads one page of a list
// - GET /read/<id> reads one row
import { random } from "./floor-worker.ts";

interface FloorEnv {
  readonly DB: D1Database;
}

interface FloorRequest {
  readonly business: string;
  readonly client: string;
  readonly consumer: string;
  readonly code: string;
}

const yearMs = 365 * 86_400_000;

const insertEntries = (
  db: D1Database,
  entityId: string,
  type: string,
  now: number,
  count: number,
  sequence: string | null = null,
): D1PreparedStatement[] => {
  const id = random(36);
  const entry = () => ({ id, chain: random(32), hash: random(64), sealed: "x".repeat(446) });
  return [
    db
      .prepare("INSERT INTO changes (id, type, entity_type, entity_id, at, sequence) VALUES (?, ?, 'share', ?, ?, ?)")
      .bind(id, type, entityId, now, sequence),
    db
      .prepare(
        `INSERT INTO audit_entries (ord, chain, id, audit_log, type, entity_type, entity_id, at, payload_hash, payload_sealed)
         SELECT (SELECT MAX(ord) FROM changes), value ->> 'chain', value ->> 'id', '00', ?2, 'share', ?3, ?4, value ->> 'hash',
           value ->> 'sealed' FROM json_each(?1)`,
      )
      .bind(JSON.stringify(Array.from({ length: count }, entry)), type, entityId, now),
  ];
};

const grant = async (db: D1Database, { business, client, consumer, code }: FloorRequest): Promise<Response> => {
  const id = `shr_00${random(24)}`;
  const now = Date.now();
  const disclosure = "d".repeat(64);
  await db.batch([
    db.prepare("INSERT INTO consumer_shards (consumer_id, shard) VALUES (?, '00') ON CONFLICT DO NOTHING").bind(consumer),
    db
      .prepare("INSERT INTO disclosures (hash, text) VALUES (?, 'I agree that Acme Solar LLC keeps these details.') ON CONFLICT DO NOTHING")
      .bind(disclosure),
    db
      .prepare(
        `INSERT INTO shares (id, business_id, business_name, client_id, environment, consumer_id, consumer_chain, scope, origin, request_evidence, purpose,
           disclosure_hash, duration_days, created_at, stored_at, expires_at, next_due_at, fields_revision, fingerprint, subject_hash, subject_sealed, signature,
           signature_kid, key_sealed, email_index, phone_index, changed_by)
         VALUES (?1, (SELECT id FROM businesses WHERE id = ?2), 'Acme Solar LLC', ?3, 'live', ?4, ?5, 3, 'https://www.example.com', 'api', 'Send you a solar estimate',
           ?6, 365, ?7, ?7, ?8, ?8, 1, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`,
      )
      .bind(
        id,
        business,
        client,
        consumer,
        random(32),
        disclosure,
        now,
        now + yearMs,
        random(64),
        random(64),
        "x".repeat(520),
        random(88),
        random(64),
        random(56),
        random(32),
        random(32),
        random(36),
      ),
    db.prepare("INSERT INTO share_values (share_id, values_sealed, revision) VALUES (?, ?, 1)").bind(id, "x".repeat(250)),
    db
      .prepare(
        `INSERT INTO share_codes (share_id, code_hash, request_hash, client_id, business_id, origin, challenge, require_origin, created_at, expires_at)
         VALUES (?, ?, ?, ?, ?, 'https://www.example.com', ?, 0, ?, ?)`,
      )
      .bind(id, code, random(64), client, business, random(43), now, now + yearMs),
    db
      .prepare(
        "INSERT INTO mail_outbox (id, template, message_sealed, next_at, give_up_at, created_at, consumer_id) VALUES (?, 'share_receipt', ?, ?, ?, ?, ?)",
      )
      .bind(random(36), "x".repeat(1_200), now + yearMs, now + yearMs, now, consumer),
    ...insertEntries(db, id, "share.created", now, 2, business),
    db
      .prepare(
        "INSERT INTO anchors (ord, ledger_id, kind, entity_id, event, statement, next_at, created_at) VALUES ((SELECT MAX(ord) FROM changes), 'tlog:floor', 'event', ?, 'share.created', ?, ?, ?)",
      )
      .bind(id, random(250), now, now),
  ]);
  return Response.json({ id, code }, { status: 201 });
};

const redeem = async (db: D1Database, code: string): Promise<Response> => {
  const { meta } = await db
    .prepare("UPDATE share_codes SET used_at = ?, used_by = ? WHERE code_hash = ? AND used_at IS NULL")
    .bind(Date.now(), random(36), code)
    .run();
  if (meta.changes === 0) return new Response(null, { status: 409 });
  const row = await db
    .prepare(
      "SELECT a.*, s.scope, s.fingerprint, s.purpose, s.key_sealed, v.values_sealed FROM share_codes a JOIN shares s ON s.id = a.share_id JOIN businesses b ON b.id = a.business_id LEFT JOIN share_values v ON v.share_id = s.id WHERE a.code_hash = ?",
    )
    .bind(code)
    .first();
  return Response.json(row);
};

const getCurrentValues = async (db: D1Database, id: string): Promise<Response> => {
  const [read] = await db.batch([
    db.prepare("SELECT s.*, v.values_sealed FROM shares s LEFT JOIN share_values v ON v.share_id = s.id WHERE s.id = ?").bind(id),
    ...insertEntries(db, id, "consumer.current_read", Date.now(), 1),
  ]);
  return Response.json(read?.results[0]);
};

export default {
  async fetch(request: Request, { DB: db }: FloorEnv): Promise<Response> {
    const [, word, id = ""] = new URL(request.url).pathname.split("/");
    if (word === "grant") return grant(db, await request.json<FloorRequest>());
    if (word === "redeem") return redeem(db, id);
    if (word === "current") return getCurrentValues(db, id);
    if (word === "list") {
      const list = db.prepare("SELECT * FROM shares WHERE business_id = ? AND environment = 'live' ORDER BY ord DESC LIMIT 51").bind(id);
      return Response.json((await list.all()).results);
    }
    return Response.json(await db.prepare("SELECT * FROM shares WHERE id = ?").bind(id).first());
  },
};
